"""Numbers of texts, and numbers that a program has from a text."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr.literals import number_of, numbers_in, read_from


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


@given(st.text())
def test_any_text_has_its_numbers(text):
    assert all(number >= 0 for number in numbers_in(text))


def test_numbers_of_a_program_are_those_that_the_pages_have():
    body = "a = 84312  # of 99999\n    b = 7_500\n    return round(a / b * 100 + 0.5 - .25 + 1e3, 2)"
    program = f"def solution():\n    {body}\n"
    texts = ["84,312 and 99,999", "7,500 of 100 in 2 steps at 0.5 and 0.25"]
    assert read_from(program, texts) == ("84312", "7500", "0.5", "0.25")
    assert read_from(program, []) == ()


@pytest.mark.parametrize("program", ["def solution(:\n 12345 '", "\x00 12345", "'''12345", "", "12345 = "])
def test_a_program_that_is_no_python_gives_what_can_be_read(program):
    assert set(read_from(program, ["12345"])) <= {"12345"}
