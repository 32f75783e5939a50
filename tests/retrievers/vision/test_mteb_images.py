"""Page images by mteb's own wrapper of CLIP, around a tiny model."""

import numpy as np
import pytest
from PIL import Image

from ohr.errors import PluginError
from ohr.retrievers.mteb import MtebImages


def pages():
    return [np.full((70, 50, 3), level, dtype=np.uint8) for level in (0, 120, 250)]


@pytest.mark.acceptance
def test_scores_are_those_of_the_model(mteb_images_model, tiny_clip):
    import torch
    from transformers import AutoModel, AutoProcessor

    retriever = MtebImages(model=mteb_images_model, batch_size=2)
    retriever.check()
    index = retriever.index_images(pages())
    (hits,) = retriever.search(index, ["the lease"], 3)
    model, processor = AutoModel.from_pretrained(tiny_clip), AutoProcessor.from_pretrained(tiny_clip)
    read = processor(text=["the lease"], images=[Image.fromarray(page) for page in pages()], return_tensors="pt")
    with torch.inference_mode():
        made = model(**read)
    expected = (made.text_embeds @ made.image_embeds.T)[0].tolist()
    assert [hit.place for hit in hits] == sorted(range(3), key=lambda place: -expected[place])
    assert [hit.score for hit in hits] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)


def test_a_model_of_texts_is_refused():
    with pytest.raises(PluginError, match="all-MiniLM-L6-v2 embeds text, and not image"):
        MtebImages(model="sentence-transformers/all-MiniLM-L6-v2").check()


def test_an_instruction_that_clip_does_not_take_is_an_error(mteb_images_model):
    with pytest.raises(PluginError, match="takes no instruction in mteb"):
        MtebImages(model=mteb_images_model, instruction="Find the page.").index_images(pages())
