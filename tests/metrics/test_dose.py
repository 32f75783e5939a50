from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Page, Question
from ohr.metrics.dose import PageDose, QuestionDose, by_page, dose, evidence_text, own_text, page_dose, question_dose

TRUTH = "The lease of the mill ends in May 2031 and the yearly rent is $1,200 for both of its two floors."


def question(**changes):
    fields = {
        "id": "q",
        "text": "When does the lease end?",
        "answers": ("May 2031",),
        "document": "law/lease",
        "pages": (0,),
        "evidence": ("The lease of the mill ends in May 2031",),
        "evidence_source": "text",
        "domain": "law",
    }
    return Question(**(fields | changes))


def kb(*texts, error=None):
    return by_page(Page("law/lease", index, text, error) for index, text in enumerate(texts))


def measured(truth, noisy, **changes):
    return question_dose(question(**changes), kb(*truth), noisy)


def test_the_ground_truth_itself_is_not_damaged():
    result = measured([TRUTH], kb(TRUTH))
    assert result == QuestionDose("q", False, 1, 1, False, 1, 1)


def test_one_word_lost_of_a_short_evidence_is_damage():
    result = measured([TRUTH], kb(TRUTH.replace("mill", "mi11")))
    assert result.lcs_kb == pytest.approx(6 / 7)
    assert result.damaged is True
    assert result.answer_survival == 1


def test_nineteen_of_twenty_words_are_damage_and_twenty_of_twenty_one_are_not():
    many = [f"w{i}" for i in range(21)]
    assert measured(["x"], kb(" ".join(many[:19])), evidence=(" ".join(many[:20]),)).damaged is True
    assert measured(["x"], kb(" ".join(many[:20])), evidence=(" ".join(many),)).damaged is False


@pytest.mark.parametrize("noisy", [{}, kb(""), kb(TRUTH, error="crashed")])
def test_a_missing_or_failed_page_is_damaged(noisy):
    assert measured([TRUTH], noisy) == QuestionDose("q", True, 0, 1, True, 0, 0)


def test_a_page_missing_from_the_ground_truth_excludes_the_question():
    result = measured([TRUTH], kb(TRUTH, TRUTH), pages=(0, 1))
    assert result.damaged is None
    assert result.damaged_content is None
    assert isnan(result.lcs_kb)


def test_evidence_without_a_word_excludes_the_question():
    assert measured([TRUTH], kb(TRUTH), evidence=("...",)).damaged is None


def test_pages_are_joined_in_ascending_order_and_passages_by_line():
    both = question(pages=(1, 0), evidence=("one", "two"))
    assert own_text(both, kb("first", "second")) == "first\n\nsecond"
    assert evidence_text(both) == "one\ntwo"


def test_latex_styles_damage_the_words_but_not_the_content():
    result = measured([TRUTH], kb(TRUTH.replace("lease of", r"\textbf{lease of}").replace("ends", r"\textit{ends}")))
    assert result.damaged is True
    assert result.damaged_content is False


def test_term_survival_counts_different_words_that_the_truth_has():
    changes = {"text": "When does the lease of the mill begin?"}  # lease, of, mill are on the page
    assert measured([TRUTH], kb("lease lease"), **changes).term_survival == pytest.approx(1 / 3)
    assert isnan(measured([TRUTH], kb(TRUTH), text="Who?").term_survival)


@pytest.mark.parametrize(
    ("answers", "noisy", "survival"),
    [
        (("May 2031",), "It ends in may, 2031.", 1),
        (("May 2031",), "It ends in May 20 31", 0),
        (("2031",), "x2031y", 0),  # not inside a word
        (("never", "two floors"), "its two floors", 1),
        (("never",), TRUTH, nan),
        (("yes",), TRUTH, nan),
        (("The",), TRUTH, nan),
    ],
)
def test_answer_survival_asks_for_an_answer_that_the_truth_has(answers, noisy, survival):
    result = measured([TRUTH], kb(noisy), answers=answers)
    assert result.answer_survival == pytest.approx(survival, nan_ok=True)


def test_a_chinese_answer_is_found_inside_a_run():
    assert measured(["租金在北京市支付"], kb("租金在北京市 支付"), answers=("北京",)).answer_survival == 1


def test_page_dose_separates_notation_from_content():
    result = page_dose(Page("d", 0, "a **bold** word"), Page("d", 0, "a bold word"))
    assert result == PageDose("d", 0, pytest.approx(4 / 15), 0, False)


@pytest.mark.parametrize("noisy", [None, Page("d", 0, " \n"), Page("d", 0, "", "crashed")])
def test_a_page_that_lost_its_text_is_empty(noisy):
    result = page_dose(Page("d", 0, "text"), noisy)
    assert result.empty
    assert result.edit_distance == 1


def test_a_page_without_text_in_truth_is_not_lost():
    assert page_dose(Page("d", 0, ""), None) == PageDose("d", 0, 0, 0, False)


def test_the_aggregate_of_worked_questions():
    questions = [
        QuestionDose("kept", False, 1.0, 1.0, False, 1.0, 1.0),
        QuestionDose("lost", True, 0.5, 1.0, False, 0.5, 0.0),
        QuestionDose("never held", True, 0.8, 0.6, None, nan, nan),
        QuestionDose("no truth", None, nan, nan, None, nan, nan),
    ]
    pages = [PageDose("d", 0, 0.2, 0.1, False), PageDose("d", 1, 1.0, 1.0, True)]
    result = dose(questions, pages)
    assert (result.questions, result.excluded) == (3, 1)
    assert result.r_noise == pytest.approx(2 / 3)
    assert result.r_noise_clean == pytest.approx(1 / 2)
    assert result.r_content == 0
    assert result.evidence_loss == pytest.approx(1 - (1 + 0.5 + 0.6) / 2.6)
    assert (result.term_survival, result.answer_survival) == (0.75, 0.5)
    assert result.edit_distance == pytest.approx(0.6)
    assert result.edit_distance_content == pytest.approx(0.55)
    assert result.empty_pages == 0.5


def test_a_dose_of_nothing_is_undefined():
    result = dose([], [])
    assert isnan(result.r_noise)
    assert isnan(result.evidence_loss)
    assert isnan(result.edit_distance)
    assert result.questions == 0


@given(st.lists(st.integers(0, len(TRUTH.split()) - 1), unique=True))
def test_more_lost_words_never_lower_the_dose(lost):
    some, more = (
        " ".join(word for place, word in enumerate(TRUTH.split()) if place not in gone)
        for gone in (lost[: len(lost) // 2], lost)
    )
    doses = [dose([measured([TRUTH], kb(text))], []) for text in (some, more)]
    assert doses[0].evidence_loss <= doses[1].evidence_loss
    assert doses[0].r_noise <= doses[1].r_noise
    assert doses[0].term_survival >= doses[1].term_survival
