from importlib.util import find_spec

import numpy as np
import pytest

from ohr.contracts import Prompt
from ohr.errors import PluginError
from ohr.generators.transformers import TransformersVision

PAGES = [np.full((300, 200, 3), shade, dtype=np.uint8) for shade in (0, 90, 255)]


def prompt(*images, user="When did the lease begin?"):
    return Prompt(user, (), "Be brief.", user, images=images)


@pytest.fixture
def answer(tiny_vision_model):
    def given(*prompts, **how):
        how = {"model": str(tiny_vision_model), "max_tokens": 6, **how}
        return list(TransformersVision(**how).answer(prompts))

    return given


def test_a_page_image_is_read(answer):
    none, one, two = answer(prompt(), prompt(PAGES[0]), prompt(*PAGES[:2]))
    assert (none.error, one.error, two.error) == (None, None, None)
    assert one.tokens_in - none.tokens_in == two.tokens_in - one.tokens_in == 16


def test_different_pages_are_reported_apart_and_one_page_gets_one_answer(answer):
    texts = [given.text for given in answer(*(prompt(page, user="lease") for page in (*PAGES, *PAGES)))]
    assert texts[:3] == texts[3:]
    assert len(set(texts)) > 1


def test_pages_that_do_not_fit_are_left_out_and_reported(answer):
    (given,) = answer(prompt(*PAGES * 15))
    assert given.truncated
    assert given.tokens_in <= 512 - 6


@pytest.mark.skipif(find_spec("torchvision") is not None, reason="what is missing is there")
def test_a_processor_that_needs_torchvision_says_so(tmp_path):
    from tests.tiny_models import qwen2_vl_without_videos

    with pytest.raises(PluginError, match=r"cannot load '.*': it needs torchvision, of the version that fits"):
        list(TransformersVision(model=str(qwen2_vl_without_videos(tmp_path))).answer([prompt()]))


def test_a_model_that_reads_no_images_is_reported(tiny_model):
    with pytest.raises(PluginError, match=r"^generator transformers_vision: cannot load '"):
        list(TransformersVision(model=str(tiny_model)).answer([prompt()]))
