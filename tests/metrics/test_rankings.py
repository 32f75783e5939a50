from math import log2

import pytest

from ohr.contracts import Chunk, Question, Ranking, Relevant
from ohr.metrics.cases import ranking_of
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


def chunk(number, document, *pages):
    return Chunk(str(number), document, pages, 0, 1, f"text {number}")


GRADED = Question(
    "q",
    "?",
    (),
    "d",
    (0,),
    ("it",),
    "text",
    "law",
    relevant=(Relevant("d", 0, 2), Relevant("e", 1, 1), Relevant("e", 2, 0)),
)


def test_pages_of_several_documents_count_by_their_grades():
    seen = ranking_of(GRADED, [chunk(0, "e", 1), chunk(1, "e", 2), chunk(2, "d", 0)])
    assert (seen.pages, seen.grades) == ({("d", 0), ("e", 1)}, {("d", 0): 2, ("e", 1): 1})
    assert Ndcg(k=3).score_ranking(seen) == pytest.approx((1 + 2 / log2(4)) / (2 + 1 / log2(3)))
    assert reciprocal_rank(seen.hits, seen.pages) == 1
    assert recall_at_k(seen.hits, seen.pages, 2) == 0.5


def test_where_a_protocol_ranks_pages_each_page_has_its_best_rank():
    found = [chunk(0, "e", 2), chunk(1, "e", 2), chunk(2, "d", 0, 1), chunk(3, "e", 2), chunk(4, "e", 1)]
    assert ranking_of(GRADED, found, by_page=True).hits == ((("e", 2),), (("d", 0),), (("d", 1),), (("e", 1),))
    assert len(ranking_of(GRADED, found).hits) == 5


def test_of_copies_the_highest_grade_counts():
    copies = {("e", 1): ("d", 0), ("d", 0): ("d", 0)}
    seen = ranking_of(GRADED, [chunk(0, "e", 1)], copies=copies)
    assert (seen.hits, seen.grades) == (((("d", 0),),), {("d", 0): 2})
