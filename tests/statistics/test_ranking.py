"""Scores of rankings, against ir-measures (trec_eval) where that has an answer, and by hand where hits span pages."""

from math import isnan

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, Rprec, Success, nDCG

from ohr.statistics.ranking import hit_at_k, ndcg_at_k, precision_at_k, recall_at_k, reciprocal_rank

A, B, C = ("law/lease", 0), ("law/lease", 1), ("news/fair", 0)
page = st.tuples(st.sampled_from(["d", "e"]), st.integers(0, 3))
pages = st.sets(page, min_size=1)
hit = st.sets(page, min_size=1, max_size=3)
ranking = st.lists(hit, max_size=8)


NAMES = st.integers(0, 9).map("page{}".format)


@given(st.lists(NAMES, unique=True, min_size=1), st.sets(NAMES, min_size=1), st.integers(1, 12))
def test_all_scores_of_single_pages_are_those_of_ir_measures(ranked, relevant, k):
    hits = [[name] for name in ranked]
    ours = {
        Success @ k: hit_at_k(hits, relevant, k),
        P @ k: precision_at_k(hits, relevant, k),
        R @ k: recall_at_k(hits, relevant, k),
        nDCG @ k: ndcg_at_k(hits, relevant, k),
        RR: reciprocal_rank(hits, relevant),
        Rprec: recall_at_k(hits, relevant, len(relevant)),
    }
    run = {"q": {name: float(-rank) for rank, name in enumerate(ranked)}}
    theirs = ir_measures.calc_aggregate(list(ours), {"q": dict.fromkeys(relevant, 1)}, run)
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(
    st.lists(NAMES, unique=True, min_size=1), st.dictionaries(NAMES, st.integers(1, 3), min_size=1), st.integers(1, 12)
)
def test_ndcg_with_grades_is_that_of_ir_measures(ranked, grades, k):
    run = {"q": {name: float(-rank) for rank, name in enumerate(ranked)}}
    theirs = ir_measures.calc_aggregate([nDCG @ k], {"q": grades}, run)[nDCG @ k]
    assert ndcg_at_k([[name] for name in ranked], grades, k) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("found", "k", "hit", "recall"),
    [
        ([[C], [A], [B]], 1, 0, 0),
        ([[C], [A], [B]], 2, 1, 0.5),
        ([[C], [A], [B]], 3, 1, 1),
        ([[A], [A], [B]], 2, 1, 0.5),  # a page found twice takes two places
        ([[C, A], [B]], 1, 1, 0.5),  # a hit that spans two pages takes one place
        ([[C, A], [B]], 2, 1, 1),
        ([[A]], 9, 1, 0.5),
        ([], 1, 0, 0),
    ],
)
def test_hits_and_recall_of_worked_cases(found, k, hit, recall):
    assert hit_at_k(found, [A, B], k) == hit
    assert recall_at_k(found, [A, B], k) == recall


@pytest.mark.parametrize(
    ("found", "score"),
    [([[A], [C]], 1), ([[C], [C], [B]], 1 / 3), ([[C, ("law/lease", 7)], [B]], 1 / 2), ([[C]], 0), ([], 0)],
)
def test_reciprocal_rank_is_that_of_the_first_hit_on_an_evidence_page(found, score):
    assert reciprocal_rank(found, [A, B]) == pytest.approx(score)


def test_no_evidence_is_undefined():
    assert isnan(hit_at_k([[A]], [], 1))
    assert isnan(recall_at_k([[A]], [], 1))
    assert isnan(reciprocal_rank([[A]], []))
    assert isnan(ndcg_at_k([[A]], [], 3))
    assert isnan(precision_at_k([[A]], [], 3))


@pytest.mark.parametrize("score", [hit_at_k, recall_at_k, precision_at_k, ndcg_at_k])
def test_a_cut_off_below_one_is_refused(score):
    with pytest.raises(ValueError, match=r"^k must be at least 1, not 0$"):
        score([[A]], [A], 0)


@given(ranking, pages, st.integers(1, 8))
def test_scores_are_shares_that_grow_with_k(found, evidence, k):
    assert 0 <= recall_at_k(found, evidence, k) <= recall_at_k(found, evidence, k + 1) <= 1
    assert recall_at_k(found, evidence, k) <= hit_at_k(found, evidence, k) <= hit_at_k(found, evidence, k + 1)


@given(pages, ranking)
def test_evidence_first_is_the_best_order(evidence, rest):
    found = [*({page} for page in sorted(evidence)), *rest]
    assert recall_at_k(found, evidence, len(evidence)) == 1
    assert precision_at_k(found, evidence, len(evidence)) == 1
    assert ndcg_at_k(found, evidence, 8) == pytest.approx(1)
    assert reciprocal_rank(found, evidence) == 1


@given(ranking, pages)
def test_reciprocal_rank_agrees_with_hit_at_k(found, evidence):
    first = [k for k in range(1, len(found) + 1) if hit_at_k(found, evidence, k)]
    assert reciprocal_rank(found, evidence) == (1 / first[0] if first else 0)
