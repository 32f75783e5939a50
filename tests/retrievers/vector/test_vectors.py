import numpy as np
import pytest

from ohr.errors import PluginError
from ohr.files.indexes import reopened
from ohr.retrievers.vector.vectors import index_vectors, search_vectors


def drawn(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("kind", ["ivf", "hnsw", "pq", "ivf_pq"])
def test_an_approximate_index_reports_its_recall_and_is_stored(kind):
    index = reopened(index_vectors(drawn(300, 32), kind, "test"))
    (note,) = index.notes
    assert note.startswith(f"`{kind}` is approximate: recall@10 ")
    assert 0.2 < float(note.rpartition("recall@10 ")[2].split()[0]) <= 1.0
    assert [len(hits) for hits in search_vectors(index, drawn(5, 32), 5)] == [5] * 5


def test_an_exact_search_in_blocks_finds_what_a_sort_of_all_scores_finds(monkeypatch):
    vectors, queries = drawn(230, 16)[:200], drawn(230, 16)[200:]
    vectors[150] = vectors[3]  # a tie, which the order of the chunks decides
    monkeypatch.setattr("ohr.retrievers.vector.vectors._BLOCK", 1000)
    found = search_vectors(index_vectors(vectors, "exact", "test"), queries, 10)
    expected = np.argsort(-(queries[:, None] * vectors).sum(2), axis=1, kind="stable")[:, :10]
    assert [[hit.place for hit in hits] for hits in found] == expected.tolist()


@pytest.mark.parametrize("size", [100, 1001])
def test_equal_vectors_are_in_the_order_of_the_chunks_however_many_questions_are_asked(size):
    vectors = drawn(size + 64, 384)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors, queries = vectors[:size], vectors[size:]
    equal = [0, 5, 9, 21, 70]
    vectors[equal] = vectors[5]
    index = index_vectors(vectors, "exact", "test")
    for query, hits in zip(queries, search_vectors(index, queries, size), strict=True):
        places = [hit.place for hit in hits]
        at = places.index(0)
        assert places[at : at + len(equal)] == equal
        assert search_vectors(index, query[None], 10)[0] == hits[:10]


@pytest.mark.parametrize("k", [3, 30])
def test_a_question_whose_vector_is_not_finite_fails(k):
    queries = drawn(2, 8)
    queries[1, 3] = np.nan
    with pytest.raises(PluginError, match="NaN or infinity for a question"):
        search_vectors(index_vectors(drawn(40, 8), "exact", "test"), queries, k)
