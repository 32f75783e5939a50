"""The benchmark's number, and which texts and tests it is of."""

import math

import numpy as np
import pytest

from ohr.parse_scores.olmocr import read_test
from ohr.parse_scores.olmocr.summary import interval, passes, score, texts_of, with_baselines


def present(id, pdf="a/b.pdf", page=1, **keys):
    return read_test({"pdf": pdf, "page": page, "id": id, "type": "present", "text": "x", **keys})


def test_each_pdf_without_a_baseline_test_gets_one():
    blank = read_test({"pdf": "c.pdf", "page": 1, "id": "blank", "type": "baseline", "max_length": 3})
    tests = with_baselines({"x.jsonl": [present("1")], "y.jsonl": [blank]}, ["a/b.pdf", "c.pdf"])
    assert {file: [test.id for test in of_file] for file, of_file in tests.items()} == {
        "x.jsonl": ["1"],
        "y.jsonl": ["blank"],
        "baseline": ["a/b.pdf_baseline"],
    }
    assert list(with_baselines({"y.jsonl": [blank]}, ["c.pdf"])) == ["y.jsonl"]


def test_two_tests_of_one_id_in_a_file_are_refused():
    with pytest.raises(ValueError, match=r"x.jsonl: id: '1' is that of 2 tests"):
        with_baselines({"x.jsonl": [present("1"), present("1")]}, [])


def test_texts_of_a_page():
    names = [
        "a/b_pg1_repeat2.md",
        "a/b_pg1_repeat1.md",
        "a/b_pg11_repeat1.md",
        "b_pg1_repeat1.md",
        "a/b_pg1.md",
        "a/bb_pg1_repeat1.md",
    ]
    assert texts_of(present("1"), names) == ["a/b_pg1_repeat1.md", "a/b_pg1_repeat2.md"]
    assert texts_of(present("1", page=11), names) == ["a/b_pg11_repeat1.md"]


def test_a_test_passes_in_more_than_half_of_the_repeats():
    assert [passes(repeats) for repeats in ([True], [True, False], [True, True, False], [])] == [
        True,
        False,
        True,
        False,
    ]


def test_score_is_the_mean_of_files():
    assert score({"x": [True, False], "y": [True], "z": []}) == 0.75
    assert math.isnan(score({}))


def test_interval_holds_the_score_and_is_that_of_drawing_tests():
    rng = np.random.default_rng(0)
    passed = {"x": [True] * 30 + [False] * 10, "y": [True] * 20 + [False] * 20}
    low, high = interval(passed, rng, samples=20_000)
    spread = 1.96 * math.sqrt(0.75 * 0.25 / 40 + 0.25 / 40) / 2
    assert (low, high) == pytest.approx((0.625 - spread, 0.625 + spread), abs=0.01)
    assert all(map(math.isnan, interval({"x": []}, rng)))
