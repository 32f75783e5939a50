from math import isnan, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Ranking
from ohr.metrics.rankings import Ndcg, Success, ndcg_at_k, ranked_pages, success_at_k

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
    assert ndcg_at_k(ranked, relevant, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("ranked", "k", "expected"), [([B, A], 2, 1), ([B, A], 1, 0), ([], 3, 0)])
def test_success_of_cases_by_hand(ranked, k, expected):
    assert success_at_k(ranked, [A], k) == expected


def test_without_evidence_both_are_undefined():
    assert isnan(ndcg_at_k([A], [], 3))
    assert isnan(success_at_k([A], [], 3))


@given(st.lists(PAGES, unique=True), st.sets(PAGES, min_size=1), st.integers(1, 8))
def test_ndcg_is_1_for_the_best_order_and_falls_when_a_page_sinks(ranked, relevant, k):
    best = sorted(ranked, key=lambda page: page not in relevant)
    value = ndcg_at_k(ranked, relevant, k)
    assert 0 <= value <= ndcg_at_k(best, relevant, k) <= 1 + 1e-12
    assert ndcg_at_k(sorted(relevant), relevant, k) == pytest.approx(1)


def test_passages_of_one_page_take_one_rank():
    hits = ((B,), (B,), (B, C), (A,))
    ranking = Ranking("?", hits, ("",) * 4, frozenset({A}), ("it",))
    assert ranked_pages(ranking) == [B, C, A]
    assert Ndcg(k=3).score_ranking(ranking) == 0.5
    assert (Success(k=2).score_ranking(ranking), Success(k=3).score_ranking(ranking)) == (0, 1)
