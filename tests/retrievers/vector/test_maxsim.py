"""Late interaction is exact MaxSim, where published code sums votes of a few nearest vectors."""

from collections import defaultdict

import numpy as np
import pytest

from ohr.retrievers.vector.maxsim import PageVectors


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
