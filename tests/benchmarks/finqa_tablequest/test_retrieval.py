from math import isnan

import pytest

from ohr.benchmarks.finqa_tablequest.question_files import FinqaQuestion
from ohr.benchmarks.finqa_tablequest.retrieval import measures, misplaced, queries


def question(number, text, page):
    return FinqaQuestion(f"easy-{number}", "easy", "A_2023_10K", page, "", text, "5", "", "", "10K", "")


ASKED = [question(1, "a", 1), question(2, "b", 2), question(3, "a", 3), question(4, "c", 4)]


def test_clean_has_one_query_for_each_question():
    found = queries(ASKED)
    assert [one.questions for one in found] == [("easy-1",), ("easy-2",), ("easy-3",), ("easy-4",)]
    assert found[2].pages == {"A_2023_10K_p3"}


def test_reference_merges_questions_with_equal_texts():
    found = queries(ASKED, "reference")
    assert [one.questions for one in found] == [("easy-1", "easy-3"), ("easy-2",), ("easy-4",)]
    assert found[0].pages == {"A_2023_10K_p1", "A_2023_10K_p3"}


def test_the_published_code_reads_pages_of_other_queries_after_a_merge():
    assert misplaced(ASKED) == ["easy-3", "easy-4"]
    assert misplaced(ASKED[:2]) == []


def test_measures_of_a_ranking_that_ir_measures_has_measured():
    """Values of ir_measures 0.4.3 for the ranking c, b, a with a and b relevant."""
    found = measures(["c", "b", "a"], frozenset("ab"))
    assert found["nDCG@1"] == found["P@1"] == found["R@1"] == 0
    assert found["nDCG@3"] == pytest.approx(0.6934264036172708)
    assert (found["P@3"], found["R@3"], found["RR"], found["Rprec"]) == (pytest.approx(2 / 3), 1, 0.5, 0.5)


def test_precision_divides_by_the_cut_off_even_where_the_ranking_is_shorter():
    assert measures(["a"], frozenset("a"))["P@10"] == 0.1


def test_a_query_without_pages_has_no_measures():
    assert all(map(isnan, measures(["a"], frozenset()).values()))
