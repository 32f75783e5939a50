from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest

from ohr.contracts import Page, Question
from ohr.metrics.answers import F1
from ohr.metrics.floors import OtherPages, constant_answers, read_floor


def question(number="q", document="law/lease", pages=(0,), answers=("yes",), evidence=("rent is due",)):
    return Question(number, "?", answers, document, pages, evidence, "text", document.split("/")[0])


def book(**texts):
    names = {"lease": "law/lease", "deed": "law/deed", "fair": "news/fair", "empty": "law/empty"}
    return {
        names[key]: [Page(names[key], index, text) for index, text in enumerate(value)] for key, value in texts.items()
    }


def floor(one, pages, length=9, seed=0):
    return read_floor(one, OtherPages(pages), length, np.random.default_rng(seed))


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
    drawn = {round(floor(question(), pages, length=2, seed=seed), 3) for seed in range(40)}
    assert drawn == {0.333, 0.667}  # "rent rent", "rent is", "nothing rent"


def test_a_short_page_is_filled_up_with_those_that_follow():
    pages = book(deed=["rent", "is due"])
    drawn = {round(floor(question(), pages, length=3, seed=seed), 3) for seed in range(40)}
    assert drawn == {1.0, 0.667}  # "rent is due", and "is due rent"


def test_evidence_without_a_word_has_no_floor():
    assert isnan(floor(question(evidence=("...",)), book(deed=["rent"])))


def test_the_draw_depends_on_the_generator_alone():
    pages = book(deed=["rent", "rent is", "nothing"])
    reversed_pages = dict(reversed(book(fair=["x"], deed=["rent", "rent is", "nothing"]).items()))
    assert [floor(question(), pages, seed=seed) for seed in range(9)] == [
        floor(question(), reversed_pages, seed=seed) for seed in range(9)
    ]


def score(answer, asked):
    return max((value for accepted in asked.answers if not isnan(value := F1().score(answer, accepted))), default=nan)


def asked(*answers):
    return [question(str(number), answers=(answer,)) for number, answer in enumerate(answers)]


def test_the_constant_is_chosen_once_for_all_questions():
    assert constant_answers(asked("no", "No.", "May", "yes"), score) == ["no"] * 4
    assert constant_answers(asked("no", "yes"), score) == ["yes"] * 2  # the first of equals


def test_the_constant_is_in_the_language_of_the_question():
    chinese = replace(question(answers=("否",)), text="是否到期？")
    assert constant_answers([*asked("no"), chinese], score) == ["no", "否"]
