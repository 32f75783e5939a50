from collections import defaultdict

import numpy as np
import pytest

from ohr.errors import PluginError
from ohr.files.indexes import reopened
from ohr.retrievers.vector.maxsim import PageVectors
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


# --- late interaction is exact MaxSim, where published code sums votes of a few nearest vectors -----------


def at(*degrees):
    """Unit vectors in the plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


QUERY = at(0, 90)
PAGES = {"A": at(2, -60), "B": at(88, 150), "C": at(20, 70)}


def votes(k):
    """Score pages as M3DocRAG's script does: of each query vector's k nearest vectors, the best of each page counts."""
    owners = [name for name, vectors in PAGES.items() for _ in vectors]
    scores = defaultdict(float)
    for row in QUERY @ np.concatenate(list(PAGES.values())).T:
        best = {}
        for place in np.argsort(-row, kind="stable")[:k]:
            best[owners[place]] = max(best.get(owners[place], -np.inf), float(row[place]))
        for name, score in best.items():
            scores[name] += score
    return dict(scores)


def search(k):
    return PageVectors.gather(PAGES.values(), "cpu", "test").search([QUERY], k)[0]


def test_a_page_that_answers_both_words_is_before_pages_that_answer_one_perfectly():
    hits = search(3)
    assert list(PAGES)[hits[0].place] == "C"
    assert [hit.score for hit in hits] == pytest.approx([1.8794, 1.0343, 1.0343], abs=1e-4)


def test_the_published_votes_would_pass_it_over():
    assert votes(1) == pytest.approx({"A": 0.9994, "B": 0.9994}, abs=1e-4)
    assert max(votes(2), key=votes(2).get) == "C"


def test_no_page_is_found_twice_where_more_are_wanted_than_there_are():
    assert sorted(hit.place for hit in search(9)) == [0, 1, 2]
