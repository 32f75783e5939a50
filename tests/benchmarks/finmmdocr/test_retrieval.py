"""golden_k, by hand-made rankings."""

from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr.metrics import last_rank


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
def test_the_first_golden_k_pages_have_all_gold_pages_and_fewer_have_not(pages, gold):
    k = last_rank(pages, gold)
    assert gold <= set(pages[:k])
    assert not gold <= set(pages[: k - 1])
