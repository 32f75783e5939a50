import pytest

from ohr.contracts import Chunk
from ohr.errors import PluginError
from ohr.keys import identity
from ohr.retrievers.rerank import Rerank, reader
from ohr.testing import indexed

TEXTS = ["rain fell on the wall", "the lease of the berth", "rent and rain", "a dog", "rain " * 900]


@pytest.fixture(scope="module")
def rerank(tiny_reranker):
    return Rerank(retriever={"kind": "bm25"}, model=str(tiny_reranker), depth=4, batch_size=2)


@pytest.fixture(scope="module")
def index(rerank):
    return indexed(rerank, [Chunk(str(n), "d/a", (0,), 0, len(text), text) for n, text in enumerate(TEXTS)])


def test_scores_are_the_cross_encoder_s_own_and_only_of_what_was_found(rerank, index):
    (hits,) = index.search(["rain"], 9)
    assert {hit.place for hit in hits} == {0, 2, 4}  # what bm25 found
    for hit in hits:
        (alone,) = reader(rerank).predict([("rain", TEXTS[hit.place])], show_progress_bar=False)
        assert hit.score == pytest.approx(float(alone), abs=1e-5)


def test_more_hits_than_the_depth_can_be_asked_for(index):
    assert len(index.search(["rain"], 3)[0]) == 3
    assert [len(hits) for hits in index.search(["rain", "absent"], 1)] == [1, 0]


def test_a_chunk_longer_than_the_model_is_reported(index):
    assert index.notes == ("1 of 5 different chunks longer than the 512 tokens of the cross-encoder",)


def test_the_model_and_the_part_are_in_the_identity(rerank, tiny_reranker):
    assert identity(rerank) != identity(rerank.model_copy(update={"depth": 5}))
    assert identity(rerank) == identity(rerank.model_copy(update={"batch_size": 7}))


def test_a_model_that_gives_vectors_is_no_reranker(tiny_reranker, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    AutoTokenizer.from_pretrained(tiny_reranker).save_pretrained(tmp_path)
    loaded = AutoModelForSequenceClassification.from_pretrained(
        tiny_reranker, num_labels=3, ignore_mismatched_sizes=True
    )
    loaded.save_pretrained(tmp_path)
    wrong = Rerank(retriever={"kind": "bm25"}, model=str(tmp_path))
    with pytest.raises(PluginError, match="gives 3 numbers a pair"):
        indexed(wrong, [Chunk("0", "d/a", (0,), 0, 4, "rain")]).search(["rain"], 1)
