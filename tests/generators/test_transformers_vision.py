from importlib.util import find_spec

import numpy as np
import pytest

from ohr.contracts import Prompt
from ohr.errors import PluginError
from ohr.generators.transformers import TransformersVision
from ohr.keys import identity

PAGES = [np.full((300, 200, 3), shade, dtype=np.uint8) for shade in (0, 90, 255)]


class Unreadable(list):
    def __iter__(self):
        raise OSError("no such page")


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


def test_prompts_of_one_batch_answer_as_alone(answer):
    prompts = [prompt(), prompt(PAGES[0]), prompt(*PAGES), prompt(PAGES[1], user="lease " * 9)]
    together = [given.text for given in answer(*prompts, batch_size=4)]
    assert together == [given.text for given in answer(*prompts, batch_size=1)]


def test_pages_that_do_not_fit_are_left_out_and_reported(answer):
    (given,) = answer(prompt(*PAGES * 15))
    assert given.truncated
    assert given.tokens_in <= 512 - 6


def test_a_page_without_an_image_fails_alone(answer):
    good = prompt(PAGES[0])
    bad = Prompt("", (), "", "When?", images=Unreadable())
    first, second = answer(good, bad, batch_size=2)
    assert (first.error, second.error) == (None, "no page image: OSError: no such page")


def test_the_pixels_are_in_the_key_and_the_batch_size_is_not(tiny_vision_model):
    def known(**how):
        return identity(TransformersVision(model=str(tiny_vision_model), **how))

    assert known(batch_size=3) == known()
    assert known(max_pixels=2000) != known()


def test_a_qwen2_vl_reads_page_images_in_batches_as_alone(tiny_qwen2_vl):
    prompts = [prompt(), prompt(PAGES[0]), prompt(*PAGES), prompt(PAGES[1], user="lease " * 9)]

    def given(**how):
        return list(TransformersVision(model=str(tiny_qwen2_vl), max_tokens=6, **how).answer(prompts))

    alone, together = given(), given(batch_size=4)
    assert [one.error for one in alone] == [None] * 4
    none, one, three = (one.tokens_in for one in alone[:3])
    assert three - none == 3 * (one - none) > 0
    assert [one.text for one in together] == [one.text for one in alone]
    assert given(max_pixels=14_000)[1].tokens_in < one


@pytest.mark.skipif(find_spec("torchvision") is not None, reason="what is missing is there")
def test_a_processor_that_needs_torchvision_says_so(tmp_path):
    from tests.tiny_models import qwen2_vl_without_videos

    with pytest.raises(PluginError, match=r"cannot load '.*': it needs torchvision, of the version that fits"):
        list(TransformersVision(model=str(qwen2_vl_without_videos(tmp_path))).answer([prompt()]))


def test_a_model_that_reads_no_images_is_reported(tiny_model):
    with pytest.raises(PluginError, match=r"^generator transformers_vision: cannot load '"):
        list(TransformersVision(model=str(tiny_model)).answer([prompt()]))
