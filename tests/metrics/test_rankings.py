from math import isnan, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Ranking
from ohr.metrics.rankings import Ndcg, Success
from ohr.statistics.ranking import hit_at_k, ndcg_at_k, recall_at_k, reciprocal_rank

A, B, C, D = (("d", index) for index in range(4))
PAGES = st.integers(0, 5).map(lambda index: ("d", index))


@pytest.mark.parametrize(
    ("ranked", "relevant", "k", "expected"),
    [
        ([A, B], [A], 10, 1),
        ([B, A], [A], 10, 1 / log2(3)),  # trec_eval ndcg_cut_10: 0.6309
        ([B, C, A], [A], 10, 0.5),
        ([B, C, A], [A], 2, 0),
        ([A, C, B], [A, B], 3, (1 + 0.5) / (1 + 1 / log2(3))),  # 0.9197
        ([C, A, D, B], [A, B], 4, (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))),  # 0.6509
        ([A], [A, B, C], 1, 1),  # no ranking of one page could do better
        ([A], [A, B], 2, 1 / (1 + 1 / log2(3))),  # 0.6131
        ([], [A], 5, 0),
    ],
)
def test_ndcg_of_cases_by_hand(ranked, relevant, k, expected):
    assert ndcg_at_k([(page,) for page in ranked], relevant, k) == pytest.approx(expected, abs=1e-12)


def test_without_evidence_both_are_undefined():
    assert isnan(ndcg_at_k([(A,)], [], 3))
    assert isnan(hit_at_k([(A,)], [], 3))


@given(st.lists(PAGES, unique=True), st.sets(PAGES, min_size=1), st.integers(1, 8))
def test_ndcg_is_1_for_the_best_order_and_falls_when_a_page_sinks(ranked, relevant, k):
    best = sorted(ranked, key=lambda page: page not in relevant)
    value, highest, ideal = (
        ndcg_at_k([(page,) for page in pages], relevant, k) for pages in (ranked, best, sorted(relevant))
    )
    assert 0 <= value <= highest <= 1
    assert ideal == pytest.approx(1)


def hits(*pages):
    return Ranking("?", pages, ("",) * len(pages), frozenset({A}), ("it",))


def test_all_scores_of_one_ranking_count_hits_not_pages():
    ranking = hits((B,), (B,), (B, C), (A,))
    for k, is_found in ((3, 0), (4, 1)):
        assert Success(k=k).score_ranking(ranking) == hit_at_k(ranking.hits, ranking.pages, k) == is_found
        assert recall_at_k(ranking.hits, ranking.pages, k) == is_found
        assert Ndcg(k=k).score_ranking(ranking) == pytest.approx(is_found / log2(5))
    assert reciprocal_rank(ranking.hits, ranking.pages) == 1 / 4


def test_a_chunk_across_two_pages_is_one_hit():
    ranking = hits((B, C), (A, D))
    assert (Success(k=2).score_ranking(ranking), hit_at_k(ranking.hits, ranking.pages, 2)) == (1, 1)
    assert Ndcg(k=2).score_ranking(ranking) == pytest.approx(1 / log2(3))
    assert ndcg_at_k([(A, B)], [A, B], 2) == 1  # no ranking could do better, and a score is at most 1


def test_a_page_that_is_found_again_gains_nothing():
    assert ndcg_at_k([(A,), (A,), (B,)], [A, B], 3) == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
