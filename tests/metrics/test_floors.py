from math import isnan, nan

import numpy as np
import pytest

from ohr.contracts import Page, Question
from ohr.metrics.answers import F1
from ohr.metrics.floors import Floor, OtherPages, best_floor, constant_answer_floor, read_floor


def question(number="q", document="law/lease", pages=(0,), answers=("yes",), evidence=("rent is due",)):
    return Question(number, "?", answers, document, pages, evidence, "text", document.split("/")[0])


def book(**texts):
    names = {"lease": "law/lease", "deed": "law/deed", "fair": "news/fair", "empty": "law/empty"}
    return {
        names[key]: [Page(names[key], index, text) for index, text in enumerate(value)] for key, value in texts.items()
    }


def floor(asked, pages, length=9, seed=0):
    return read_floor(asked, OtherPages(pages), length, np.random.default_rng(seed))


def test_the_other_page_comes_from_the_same_domain_where_there_is_one():
    pages = book(lease=["rent is due"], deed=["rent"], fair=["rent is due"])
    assert {round(floor(question(), pages, seed=seed), 3) for seed in range(20)} == {0.333}


def test_the_other_page_comes_from_another_domain_where_it_must():
    pages = book(lease=["rent is due"], empty=[], fair=["rent is"])
    assert floor(question(), pages) == pytest.approx(2 / 3)


def test_blank_pages_are_passed_over():
    pages = book(deed=["", "rent is due", " \n"], empty=[""])
    assert {floor(question(), pages, seed=seed) for seed in range(20)} == {1}


def test_the_own_document_is_never_drawn():
    assert isnan(floor(question(), book(lease=["rent is due", "rent is due"])))


@pytest.mark.parametrize(("length", "score"), [(0, 0), (1, 1 / 3), (2, 2 / 3), (3, 1), (99, 1)])
def test_the_other_page_is_cut_to_the_noisy_length(length, score):
    assert floor(question(), book(deed=["The rent is due soon"]), length) == pytest.approx(score)


def test_evidence_on_two_pages_is_read_on_two_others():
    assert floor(question(pages=(3, 4)), book(deed=["rent", "is due"])) in (1, pytest.approx(2 / 3))
    assert floor(question(pages=(3, 4, 5)), book(deed=["rent is", "due"])) in (1, pytest.approx(2 / 3))


def test_every_page_of_the_other_document_may_be_drawn():
    pages = book(deed=["rent", "rent is", "nothing"])
    drawn = {round(floor(question(), pages, seed=seed), 3) for seed in range(40)}
    assert drawn == {0.0, 0.333, 0.667}


def test_evidence_without_a_word_has_no_floor():
    assert isnan(floor(question(evidence=("...",)), book(deed=["rent"])))


def test_the_draw_depends_on_the_generator_alone():
    pages = book(deed=["rent", "rent is", "nothing"])
    reversed_pages = dict(reversed(book(fair=["x"], deed=["rent", "rent is", "nothing"]).items()))
    assert [floor(question(), pages, seed=seed) for seed in range(9)] == [
        floor(question(), reversed_pages, seed=seed) for seed in range(9)
    ]


def test_the_constant_is_chosen_once_for_all_questions():
    questions = [question("1", answers=("no",)), question("2", answers=("No.", "yes")), question("3", answers=("May",))]
    assert constant_answer_floor(questions, F1()) == Floor("no", (1.0, 1.0, 0.0))


def test_an_answer_that_defines_no_score_has_no_floor():
    result = constant_answer_floor([question(answers=("the",)), question(answers=("the", "yes"))], F1())
    assert result.name == "yes"
    assert isnan(result.scores[0])
    assert result.scores[1] == 1


def test_the_best_floor_has_the_best_mean_and_the_first_wins_a_tie():
    assert best_floor({"yes": [1, 0, nan], "closed_book": [0, 1, 1], "shuffled": [nan, nan, nan]}).name == "closed_book"
    assert best_floor({"yes": [1, 0], "no": [0, 1]}) == Floor("yes", (1, 0))
