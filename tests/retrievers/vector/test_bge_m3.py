import shutil

import pytest
from pydantic import ValidationError

from ohr.contracts import Chunk
from ohr.retrievers.vector.bge_m3 import BgeM3, _model
from ohr.testing import indexed

TEXTS = ["the observatory was founded in 1923", "a lazy dog", "rain fell on the old harbour wall", "a lazy dog"]
QUERY = "when was the observatory founded"


def found(folder, **weights):
    chunks = [Chunk(str(n), "d/a", (0,), 0, len(text), text) for n, text in enumerate(TEXTS)]
    (hits,) = indexed(BgeM3(model=str(folder), **weights), chunks).search([QUERY], 9)
    return {hit.place: hit.score for hit in hits}


@pytest.fixture
def theirs(tiny_bge_m3):
    pairs = [(QUERY, text) for text in TEXTS]
    return _model(str(tiny_bge_m3), "cpu").compute_score(pairs, weights_for_different_modes=[0.4, 0.2, 0.4])


@pytest.mark.parametrize(
    ("weights", "name"),
    [
        ({"sparse": 0, "multi_vector": 0}, "dense"),
        ({"dense": 0, "multi_vector": 0}, "sparse"),
        ({"dense": 0, "sparse": 0}, "colbert"),
        ({}, "colbert+sparse+dense"),
    ],
)
def test_scores_are_flagembedding_s_own(tiny_bge_m3, theirs, weights, name):
    assert found(tiny_bge_m3, **weights) == pytest.approx(dict(enumerate(theirs[name])), abs=1e-4)


def test_no_weight_is_refused():
    with pytest.raises(ValidationError, match="must be more than 0"):
        BgeM3(dense=0, sparse=0, multi_vector=0)


def test_prompts_that_the_model_s_files_state_are_reported(tiny_bge_m3, tmp_path):
    folder = shutil.copytree(tiny_bge_m3, tmp_path / "model")
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "ask: ", "document": ""}}')
    assert indexed(BgeM3(model=str(folder)), [Chunk("0", "d/a", (0,), 0, 4, "rain")]).notes == (
        f"{folder} has prompts of its own that are put before nothing: query",
    )


def test_sparse_scores_alone_find_no_chunk_without_a_common_word(tiny_bge_m3):
    index = indexed(BgeM3(model=str(tiny_bge_m3), dense=0, multi_vector=0), [Chunk("0", "d/a", (0,), 0, 4, "zzz")])
    assert index.search(["observatory"], 1) == [[]]
