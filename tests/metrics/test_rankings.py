from math import log2

import pytest

from ohr.contracts import Ranking
from ohr.metrics.rankings import Ndcg, Success
from ohr.statistics.ranking import hit_at_k, ndcg_at_k, recall_at_k, reciprocal_rank

A, B, C, D = (("d", index) for index in range(4))


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
