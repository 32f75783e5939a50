"""Numbers of answers and golds: tolerance, results of programs, and numbers in words."""

from decimal import Decimal
from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr.answer_numbers import (
    cot_accuracy,
    is_gold,
    normalized,
    number_of,
    numbers_in,
    pot_accuracy,
    read_from,
    within_tolerance,
)

HUGE = 10**400


@pytest.mark.parametrize(
    ("pred", "gt", "right"),
    [
        (438.2, 438.2, True),
        (438.2 * 1.0019, 438.2, True),
        (438.2 * 1.0021, 438.2, False),
        (1002.0, 1000, True),
        (998.0, 1000, True),
        (1002.01, 1000, False),
        (-5.01, -5.0, True),
        (-4.99, -5.0, True),
        (-5.011, -5.0, False),
        (5.0, -5.0, False),
        (0, 0, True),
        (0.0, 0.0, True),
        (1e-300, 0, False),
        (0.585, 0.58, False),
        (100 * 0.58, 0.58, False),
        (nan, 1.0, False),
        (1.0, nan, False),
        (inf, 1.0, False),
        (inf, inf, False),
        (-inf, 1.0, False),
        (HUGE, 1.0, False),
        (1.0, HUGE, False),
        (HUGE, HUGE, False),
        (True, 1, True),
    ],
)
def test_the_tolerance_is_a_closed_interval_of_two_parts_in_a_thousand(pred, gt, right):
    assert within_tolerance(pred, gt) is right


@given(st.floats(-1e12, 1e12), st.floats(-0.0019, 0.0019))
def test_whatever_differs_less_is_right(gold, share):
    assert within_tolerance(gold + share * abs(gold), gold)


@given(st.floats(1e-6, 1e12), st.floats(0.0021, 10), st.sampled_from([-1, 1]))
def test_whatever_differs_more_is_wrong(gold, share, sign):
    assert not within_tolerance(gold + sign * share * gold, gold)


@pytest.mark.parametrize(
    ("number", "gold", "score"),
    [
        (438.2, 438.2, 1), (439.0, 438.2, 1), (440.0, 438.2, 0), (None, 438.2, 0), (nan, 438.2, 0), (inf, 438.2, 0),
        (1.0, True, 1), (1.001, True, 0), (0.0, False, 1), (None, True, 0), (1.0, HUGE, 0),
    ],
)  # fmt: skip
def test_the_number_of_a_program_agrees_or_not_and_truth_values_are_exact(number, gold, score):
    assert pot_accuracy(number, gold) == pot_accuracy(number, gold, "clean") == score


@pytest.mark.parametrize("gold", ["438.2", None, [438.2], nan, inf, np.int64(438)])
def test_a_gold_that_is_no_number_scores_0_as_published_and_nothing_in_the_clean_protocol(gold):
    assert pot_accuracy(438.2, gold) == 0
    assert isnan(pot_accuracy(438.2, gold, "clean"))
    assert cot_accuracy("438.2", gold) == 0
    assert isnan(cot_accuracy("438.2", gold, "clean"))


def test_golds_are_finite_numbers_and_truth_values():
    assert all(map(is_gold, (1, 1.5, True, 0, -3, HUGE, np.float64(2))))
    assert not any(map(is_gold, ("1", None, nan, inf, -inf, [1], 1j)))


@pytest.mark.parametrize("protocol", ["reference", "clean"])
@pytest.mark.parametrize(
    ("extracted", "gold"),
    [
        ("438.2", 438.2),
        (" 438.2. ", 438.2),
        ("1,234", 1234),
        ("1,234.5", 1234.5),
        ("1,234%", 1234),
        ("12.5%", 12.5),
        ("$1,234", 1234),
        ("-$5", -5),
        ("$-5", -5),
        ("£5", 5),
        ("¥5", 5),
        ("€ 5", 5),
        ("5 million", 5),
        ("438.2 days", 438.2),
        ("438.2 USD", 438.2),
        ("USD 438.2", 438.2),
        ("RMB 5", 5),
        ("about 5", 5),
        ("approximately 5", 5),
        ("5kg", 5),
        ("`5`", 5),
        ("90°", 90),
        ("x = 3 + 4", 7),
        ("a = b = 7", 7),
        ("≈ 0.0611", 0.0611),
        ("= ≈ 0.0611", 0.0611),
        ("1.2 x 10^3", 1200),
        ("1.2 × 10^-3", 0.0012),
        ("10^3", 1000),
        ("1.2e3", 1200),
        ("5 or 6", 5),
        ("yes", 1),
        ("True", 1),
        ("no", 0),
        ("false", 0),
        ("The answer is True", 1),
        ("(5)", 5),
        ("-5", -5),
        ("+5", 5),
        ("round(4.999)", 5),
    ],
)
def test_numbers_in_words_are_read(extracted, gold, protocol):
    assert cot_accuracy(extracted, gold, protocol) == 1
    assert cot_accuracy(extracted, gold * 2 + 1, protocol) == 0


@pytest.mark.parametrize(
    "extracted", ["", "   ", "not stated", "nan", "NaN", "inf", "5 0", "three", "1.2.3", "#", "x" * 5000]
)
def test_what_cannot_be_read_is_0_as_published_and_wrong_in_the_clean_protocol(extracted):
    assert cot_accuracy(extracted, 0) == 1
    assert cot_accuracy(extracted, 0.0) == 1
    assert cot_accuracy(extracted, 1) == 0
    assert cot_accuracy(extracted, 0, "clean") == 0


@pytest.mark.parametrize(
    "extracted", ["None", "1, 2", "12,34", "[0]", "(a)", '"0"', "1e999", "9**9**9", "0x" + "f" * 900]
)
def test_what_is_read_but_is_no_such_number_is_wrong_for_any_gold(extracted):
    assert cot_accuracy(extracted, 0) == 0
    assert cot_accuracy(extracted, 0, "clean") == 0
    assert cot_accuracy(extracted, 12.34) == 0


@pytest.mark.parametrize(
    ("extracted", "gold", "reference", "clean"),
    [
        ("\u22125", -5, 0, 1),
        ("\u22125", 5, 1, 0),
        (".5", 5, 1, 0),
        (".5", 0.5, 0, 1),
        ("$ .5", 0.5, 0, 1),
        ("-.5", -0.5, 1, 1),
        ("2^3", 1, 1, 0),  # exclusive or
        ("2^3", 8, 0, 1),
        ("5 million dollars", 5, 0, 1),
        ("yes", True, 1, 1),
        ("no", True, 0, 0),
        ("no", False, 1, 1),
        ("0+3j", 0, 1, 1),  # a complex number counts with its real part
        ("5+3j", 5, 1, 1),
    ],
)
def test_the_clean_protocol_repairs_what_is_read(extracted, gold, reference, clean):
    assert (cot_accuracy(extracted, gold), cot_accuracy(extracted, gold, "clean")) == (reference, clean)


def test_an_expression_is_written_as_python_reads_it():
    assert normalized("1.2 x 10^3") == "1.2*math.pow(10, 3)"
    assert normalized("profit = $1,234 million.") == "1234"
    assert (normalized(""), normalized("", "clean")) == ("0", "")


@given(st.text(max_size=30), st.sampled_from([0, 1, 2.5, -3, True]), st.sampled_from(["reference", "clean"]))
def test_any_text_is_scored(extracted, gold, protocol):
    assert cot_accuracy(extracted, gold, protocol) in (0, 1)
    assert all(number >= 0 for number in numbers_in(extracted))


@given(st.floats(-1e9, 1e9).filter(lambda number: number == 0 or abs(number) > 1e-3))
def test_a_number_that_is_written_out_is_right(number):
    for text in (repr(number), f"${number!r}", f"x = {number!r}"):
        assert cot_accuracy(text, number) == 1


# --- numbers of texts and programs ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,204.50 and 7", ["1204.5", "7"]),
        ("124,375 146,000", ["124375", "146000"]),
        ("(1,275) -3 +4 $5 6%", ["1275", "3", "4", "5", "6"]),
        ("2021,2022", ["2021", "2022"]),
        ("1.2.3", []),
        ("1,2.5.7", ["1"]),
        ("ends with 12. Next", ["12"]),
        ("３．５", ["3.5"]),
        ("²", ["2"]),  # NFKC: a superscript is its digit
        ("", []),
    ],
)
def test_numbers_of_a_text(text, numbers):
    assert numbers_in(text) == {Decimal(number) for number in numbers}


@pytest.mark.parametrize(
    ("text", "number"), [("-$1,204", "1204"), (" 5 % ", "5"), ("(7)", "7"), ("5 of 7", None), ("x", None)]
)
def test_a_text_that_is_a_number(text, number):
    assert number_of(text) == (None if number is None else Decimal(number))


@given(st.integers(0, 10**15))
def test_a_number_is_found_with_separators_and_without(value):
    assert numbers_in(f"x {value:,} y") == numbers_in(f"x{value}y") == {Decimal(value)}


def test_numbers_of_a_program_are_those_that_the_pages_have():
    body = "a = 84312  # of 99999\n    b = 7_500\n    return round(a / b * 100 + 0.5 - .25 + 1e3, 2)"
    program = f"def solution():\n    {body}\n"
    texts = ["84,312 and 99,999", "7,500 of 100 in 2 steps at 0.5 and 0.25"]
    assert read_from(program, texts) == ("84312", "7500", "0.5", "0.25")
    assert read_from(program, []) == ()


@pytest.mark.parametrize("program", ["def solution(:\n 12345 '", "\x00 12345", "'''12345", "", "12345 = "])
def test_a_program_that_is_no_python_gives_what_can_be_read(program):
    assert set(read_from(program, ["12345"])) <= {"12345"}
