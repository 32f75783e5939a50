"""Retrieval of pages, by hand-made rankings."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr.retrieval import last_rank, recall, reciprocal_rank


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


def test_golden_k_is_the_rank_of_the_last_gold_page():
    assert last_rank([7, 3, 9, 1], [3, 9]) == 3
    assert last_rank([2, 1, 3], [2]) == 1
    assert last_rank([4, 5, 6, 1, 2], [1, 2, 2]) == 5
    assert last_rank([1], []) is None


def test_a_gold_page_that_is_not_ranked_comes_behind_the_ranking_or_last_in_the_document():
    assert last_rank([7, 3], [3, 8]) == 3
    assert last_rank([7, 3], [3, 8], 35) == 35
    assert last_rank([], [8]) == 1
    assert last_rank([8, 3, 8], [8]) == 1


@given(st.permutations(range(1, 13)), st.sets(st.integers(1, 12), min_size=1))
def test_the_first_golden_k_pages_have_a_recall_of_1_and_fewer_do_not(pages, gold):
    k = last_rank(pages, gold)
    assert recall(pages, gold, k) == 1
    assert k == 1 or recall(pages, gold, k - 1) < 1
    assert reciprocal_rank(pages, gold, 12) >= 1 / k
