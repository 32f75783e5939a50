from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.metrics.answers import F1, Em, F1Numeric, em, f1, f1_numeric

text = st.lists(st.sampled_from(["red", "blue", "yes", "no", "the", "3.5", "-2", "1,000"]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("prediction", "reference", "score"),
    [
        ("1234", "1,234 million", 2 / 3),
        ("An apple a day", "apple day", 1),
        ("be to to", "to be to", 1),
        ("3.14", "314", 1),
        ("yes.", "Yes", 1),
        ("yes", "Yes, it does", 0),
        ("No answer", "noanswer", 0),
        ("maybe yes", "yes", 0),
        ("", "word", 0),
        ("北京上海", "北京", 2 / 3),
        ("alpha beta gamma delta", "beta delta epsilon", 4 / 7),
    ],
)
def test_f1_of_worked_cases(prediction, reference, score):
    assert f1(prediction, reference) == pytest.approx(score)


@pytest.mark.parametrize("score", [f1, f1_numeric, em])
@pytest.mark.parametrize("answer", ["word", "", "the"])
def test_a_reference_without_a_token_is_undefined(score, answer):
    assert isnan(score(answer, "The"))


def test_the_published_exact_match_takes_two_texts_without_a_token_for_equal():
    assert Em(as_published=True).score("", "[***]") == 1
    assert Em(as_published=True).score("word", "[***]") == 0


@pytest.mark.parametrize("score", [f1, f1_numeric, em])
@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        *(("it doesn’t", "it doesn't"), ("a–b", "a-b"), ("hal-\nyard", "halyard"), ("¿Granada?", "Granada")),
        *(("东京。", "东京"), ("القاهرة،", "القاهرة"), ("दिल्ली।", "दिल्ली"), ("cafe\u0301", "café"), ("Yes。", "yes")),
        *(("１，９６４", "1964"), ("٢٠٢١", "2021")),
    ],
)
def test_signs_of_print_do_not_matter_except_in_the_published_protocol(score, printed, typed):
    assert score(printed, typed) == score(typed, printed) == 1
    assert Em(as_published=True).score(printed, typed) == 0


@pytest.mark.parametrize(
    ("prediction", "reference", "score"),
    [("The cat.", "cat", 1), ("3.14", "314", 1), ("cats", "cat", 0), ("red blue", "blue red", 0)],
)
def test_em_of_worked_cases(prediction, reference, score):
    assert em(prediction, reference) == score


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [
        ("1,234.50", "1234.5"),
        ("5.0", "5"),
        ("007", "7"),
        (".5", "0.5"),
        ("-0", "0"),
        ("12.5 %", "12.5%"),
        ("$1,234", "€1234"),
        ("−5", "-5"),
        ("-$5", "-5"),
        ("$-5$", "-5"),
        (r"\$5", "5"),
        ("(5)", "-5"),
        ("($1,234.0)", "-1234"),
        ("10-20", "10 - 20"),
        ("5kg", "5 kg"),
        ("2021年", "2021 年"),
        ("FY-21", "FY 21"),
        ("It was 5.", "it was 5"),
        ("Yes.", "yes"),
        ("1,234,567", "1234567"),
        ("100", "100.00"),
        ("１，９６４．５", "1964.5"),
        ("－５", "-5"),
        ("٣٤", "34"),
    ],
)
def test_equal_numbers_are_equal_however_written(prediction, reference):
    assert f1_numeric(prediction, reference) == 1


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [("3.14", "314"), ("-5", "5"), ("100", "1"), ("10", "1"), ("1.50", "15"), ("Q3", "3"), ("yes", "no"), ("5", "0.5")],
)
def test_different_numbers_share_nothing(prediction, reference):
    assert f1_numeric(prediction, reference) == 0


def test_words_beside_numbers_count_as_in_f1():
    assert f1_numeric("rose by 3.5 percent", "3.5 percent growth") == pytest.approx(4 / 7)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=3))
def test_a_number_with_thousands_separators_is_the_same_number(number):
    assert f1_numeric(f"{number:,f}", f"{number:f}") == 1


@pytest.mark.parametrize("score", [f1, em, f1_numeric])
@given(prediction=text, reference=text)
def test_answer_scores_are_symmetric_shares(score, prediction, reference):
    there, back = score(prediction, reference), score(reference, prediction)
    assert isnan(there) or 0 <= there <= 1
    assert isnan(there) or isnan(back) or there == back


@pytest.mark.parametrize("score", [f1, em, f1_numeric])
@given(answer=text.filter(lambda answer: answer.replace("the", "").strip()))
def test_the_answer_itself_scores_one(score, answer):
    assert score(answer, answer) == 1


@pytest.mark.parametrize(("metric", "score"), [(F1(), 1.0), (Em(), 1.0), (F1Numeric(), 0.0)])
def test_the_plugins_score_prediction_against_reference(metric, score):
    assert metric.score("3.14", "314") == score
