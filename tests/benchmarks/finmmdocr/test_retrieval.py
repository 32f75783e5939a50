"""Retrieval of pages, by hand-made rankings."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr.retrieval import golden_k, last_rank, recall, reciprocal_rank, retrieval_at, unranked


def question(pages, gold):
    return {
        "question_id": "q",
        "retrieved_results": [{"page": page, "score": -place} for place, page in enumerate(pages)],
        "evidence_pages": gold,
    }


def test_recall_is_a_share_of_the_distinct_gold_pages():
    assert recall([7, 3, 9, 1], [3, 3, 9], 10) == 1
    assert recall([7, 3, 9, 1], [3, 3, 9], 2) == 0.5
    assert recall([7, 3, 9, 1], [2], 10) == 0


def test_the_reciprocal_rank_is_cut_at_k():
    assert reciprocal_rank([7, 3, 9], [9, 3], 10) == 0.5
    assert reciprocal_rank([7, 3, 9], [9], 3) == pytest.approx(1 / 3)
    assert reciprocal_rank([7, 3, 9], [9], 2) == 0


@pytest.mark.parametrize("measure", [recall, reciprocal_rank])
def test_a_question_without_gold_pages_counts_0_as_published_and_is_left_out_in_the_clean_protocol(measure):
    assert measure([1, 2], [], 10) == 0
    assert isnan(measure([1, 2], [], 10, "clean"))


def test_a_page_that_is_ranked_twice_counts_twice_only_as_published():
    assert recall([3, 3, 4], [3], 10) == 2
    assert recall([3, 3, 4], [3], 10, "clean") == 1
    assert recall([1, 1, 3], [3], 2) == 0
    assert recall([1, 1, 3], [3], 2, "clean") == 1


def test_means_over_questions():
    asked = [question([7, 3, 9, 1], [3, 3, 9]), question([5, 6], [1]), question([2, 4], [])]
    assert retrieval_at(asked) == pytest.approx({"MRR@10": 1 / 6, "Recall@10": 1 / 3})
    assert retrieval_at(asked, 1) == {"MRR@1": 0, "Recall@1": 0}
    assert retrieval_at(asked, 10, "clean") == pytest.approx({"MRR@10": 1 / 4, "Recall@10": 1 / 2})


def test_the_order_of_the_results_counts_not_their_scores():
    asked = {"retrieved_results": [{"page": 1, "score": 0}, {"page": 2, "score": 9}], "evidence_pages": [2]}
    assert retrieval_at([asked])["MRR@10"] == 0.5


def test_no_question_gives_no_mean():
    assert all(map(isnan, retrieval_at([]).values()))
    assert all(map(isnan, retrieval_at([question([1], [])], 10, "clean").values()))
    assert isnan(golden_k([])["mean"])


def test_golden_k_is_the_rank_of_the_last_gold_page():
    asked = [
        {"ranking": [7, 3, 9, 1], "gold": [3, 9]},
        {"ranking": [2, 1, 3], "gold": [2]},
        {"ranking": [4, 5, 6, 1, 2], "gold": [1, 2, 2]},
    ]
    assert golden_k(asked) == {"per_question": [3, 1, 5], "mean": 3.0}
    assert unranked(asked) == 0


def test_a_gold_page_that_is_not_ranked_comes_behind_the_ranking_or_last_in_the_document():
    assert last_rank([7, 3], [3, 8]) == 3
    assert last_rank([7, 3], [3, 8], 35) == 35
    assert last_rank([], [8]) == 1
    assert last_rank([8, 3, 8], [8]) == 1
    asked = [{"ranking": [7, 3], "gold": [3, 8], "pages_num": 35}, {"ranking": [1], "gold": [1]}]
    assert golden_k(asked) == {"per_question": [35, 1], "mean": 18.0}
    assert unranked(asked) == 1


def test_questions_without_gold_pages_have_no_golden_k():
    assert golden_k([{"ranking": [1], "gold": []}, {"ranking": [2, 1], "gold": [1]}]) == {
        "per_question": [None, 2],
        "mean": 2.0,
    }


@given(st.permutations(range(1, 13)), st.sets(st.integers(1, 12), min_size=1))
def test_the_first_golden_k_pages_have_a_recall_of_1_and_fewer_do_not(pages, gold):
    k = last_rank(pages, gold)
    assert recall(pages, gold, k) == 1
    assert k == 1 or recall(pages, gold, k - 1) < 1
    assert reciprocal_rank(pages, gold, 12) >= 1 / k
