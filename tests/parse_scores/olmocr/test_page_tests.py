"""olmOCR-bench's tests: what passes, what is refused, and the outcomes of the published code."""

import json
import os
import time
from pathlib import Path

import pytest

from ohr.parse_scores.olmocr import read_test, run

PATH = Path(os.environ.get("OHRBENCH_VECTORS", ""), "ocr", "olmocr_tests.json")
VECTORS = json.loads(PATH.read_text())["vectors"] if PATH.is_file() else []
BASE = {"pdf": "a.pdf", "page": 1, "id": "a_1"}
PAGE = """# Report *of* the year

The **board** met on the 3rd of May—“in full”.<br>It said naïve things[^1] and y² too.

| item | 2023 | 2024 |
|---|---|---|
| cost | 7 | (8) |
| profit | 12 | 13.5 |

[^1]: A note.
"""
HTML = """<table><thead><tr><td rowspan=2>item</td><td colspan=2>year</td></tr>
<tr><td>2023</td><td>2024</td></tr></thead>
<tr><th>cost</th><td>7</td><td>(8)</td></tr><tr><td>profit</td><td>12</td><td>13.5</td></tr></table>"""


def case(kind, passed, page=PAGE, **keys):
    return pytest.param({**BASE, "type": kind, **keys}, page, passed, id=f"{kind} {keys}"[:80])


CASES = [
    case("present", True, text='The board met on the 3rd of May-"in full". It said nai\u0308ve'),
    case("present", False, text="the board"),
    case("present", True, text="the board", case_sensitive=False),
    case("present", False, text="The bored met"),
    case("present", True, text="The bored met", max_diffs=2),
    case("present", True, text="Report of the year", first_n=30),
    case("present", False, text="A note", first_n=30),
    case("present", True, text="A note", last_n=30),
    case("present", True, text="Report", first_n=30, last_n=30),
    case("absent", False, text="The board"),
    case("absent", True, text="The director"),
    case("absent", True, text="The board", last_n=30),
    case("order", True, before="The board", after="naïve"),
    case("order", False, before="naïve", after="The board"),
    case("order", True, before="The boards", after="naive", max_diffs=1),
    case("order", False, before="The boards", after="naive"),
    case("order", True, before="the", after="the"),  # there are two of it
    case("table", True, cell="13.5", up="(8)", left="12", left_heading="profit", top_heading="2024"),
    case("table", False, cell="13.5", up="7"),
    case("table", False, cell="13.5", down="7"),
    case("table", False, cell="13.5", ignore_markdown_tables=True),
    case("table", True, cell="13.4", max_diffs=1),
    case("table", False, page="no table", cell="a"),
    case("table", True, page=HTML, cell="13.5", up="(8)", top_heading="2024", left_heading="profit"),
    case("table", True, page=HTML, cell="13.5", top_heading="year"),  # all headings above
    case("table", True, page=HTML, cell="year", down="2024", left="item"),
    case("table", True, page=HTML, cell="2023", left="item"),  # by the cell's second row
    case("table", False, page=HTML, cell="2023", left="year"),
    case("table", True, page=HTML, cell="(8)", left_heading="cost", top_heading="2024"),
    case("table", False, page="<table><tr><td>b</td><td rowspan=3>a</td></tr><tr><td colspan=2>", cell="b"),
    case("table", False, page="<table><tr><td rowspan=3 colspan=2>a<tr><td>b<td>c<td>d", cell="e"),
    case("table", True, page="<table><tr><td rowspan=999999999>a</td></tr></table>\n| b |\n| c |", cell="b", down="c"),
    case("table", False, page="<![x[ <table><tr><td>a", cell="a"),
    case("baseline", True),
    case("baseline", False, page=" . \n"),
    case("baseline", False, page="a 中文"),
    case("baseline", False, page="fine \U0001f600"),
    case("baseline", True, page="a 中文", check_disallowed_characters=False),
    case("baseline", False, page="text" + " ab" * 31),
    case("baseline", True, page="text" + " ab" * 30),
    case("baseline", False, page="text abab", max_repeats=1),
    case("baseline", True, page="p. 12", max_length=3),
    case("baseline", False, page="page 12", max_length=3),
    case("baseline", False, page="![a picture](x.png)", max_length=3),
    case("baseline", True, page="![a picture](x.png)", max_length=3, max_length_skips_image_alt_tags=True),
    case("format", True, text="Report of the year", format="heading"),
    case("format", True, text="board", format="bold"),
    case("format", False, text="board", format="italic"),
    case("format", True, text="OF", format="italic", case_sensitive=False),
    case("footnote", True, marker="1"),
    case("footnote", True, marker="2"),
    case("footnote", False, marker="3"),
    case("footnote", True, page="see<sup>a</sup>", marker="a"),
    case("footnote", False, page="[^1]: a note", marker="1"),
    case("footnote", True, marker="1", appears_before_marker="naïve things", appears_after_marker="and y"),
    case("footnote", False, marker="1", appears_before_marker="the whole board", appears_after_marker="and y"),
    case("footnote", False, marker="1", appears_after_marker="..."),
    case("math", True, page=r"so \(a \le b^{2}\)", math="a \\leq b^2"),
    case("math", False, page="so $a < b$", math="a \\leq b"),
    case("math", False, page="so $a$", math="a", ignore_dollar_delimited=True),
]


@pytest.mark.parametrize(("record", "page", "passed"), CASES)
def test_outcomes(record, page, passed):
    outcome = run(read_test(record), page)
    assert outcome.passed is passed
    assert bool(outcome.explanation) is not passed
    assert outcome.scorer == ("math: normalized" if record["type"] == "math" else "olmocr")


@pytest.mark.parametrize(
    ("keys", "refusal"),
    [
        (
            {"type": "nope"},
            "type: 'nope' is no type of test; there are present, absent, order, format, table, baseline",
        ),
        ({"type": None}, "type: None is no type of test"),
        ({"type": []}, "type: [] is no type of test"),
        ({"type": "present"}, "text: Field required"),
        ({"type": "present", "text": " ** ** "}, "text: is empty, not ' ** ** '"),
        ({"type": "present", "text": 3}, "text: Input should be a valid string, not 3"),
        ({"type": "present", "text": "a", "pdf": ""}, "pdf: String should have at least 1 character, not ''"),
        ({"type": "present", "text": "a", "id": ""}, "id: String should have at least 1 character, not ''"),
        ({"type": "present", "text": "a", "page": "1"}, "page: Input should be a valid integer, not '1'"),
        (
            {"type": "present", "text": "a", "max_diffs": -1},
            "max_diffs: Input should be greater than or equal to 0, not -1",
        ),
        (
            {"type": "present", "text": "a", "first_n": -3},
            "first_n: Input should be greater than or equal to 0, not -3",
        ),
        ({"type": "baseline", "max_repeats": 0}, "max_repeats: Input should be greater than or equal to 1, not 0"),
        ({"type": "present", "text": "a", "max_diffs": 1.5}, "max_diffs: Input should be a valid integer"),
        ({"type": "present", "text": "a", "cell": "b"}, "cell: Extra inputs are not permitted, not 'b'"),
        (
            {"type": "order", "before": "abcd", "after": "abcdef", "max_diffs": 3},
            "max_diffs: 3 is more than half of a text",
        ),
        ({"type": "format", "text": "a", "format": "big"}, "format: Input should be 'heading', 'bold' or 'italic'"),
        ({"type": "footnote", "marker": "1 2"}, "marker: String should match pattern"),
        ({"type": "footnote", "marker": ""}, "marker: String should have at least 1 character"),
        ({"type": "math", "math": " "}, "math: is empty, not ' '"),
        ({"type": "baseline", "checked": "maybe"}, "checked: Input should be 'verified' or 'rejected', not 'maybe'"),
    ],
)
def test_bad_records_are_refused_in_one_sentence(keys, refusal):
    with pytest.raises(ValueError) as error:
        read_test({**BASE, **keys})
    assert str(error.value).startswith(refusal)
    assert "\n" not in str(error.value)


@pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with ocr/olmocr_tests.json")
def test_outcomes_of_the_published_code():
    assert [found(case) for case in VECTORS] == [None if case["refused"] else case["passed"] for case in VECTORS]


def found(case):
    try:
        return run(read_test(case["test"]), case["content"]).passed
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("text", "page", "max_diffs"),
    [("a" * 200, "a" * 5000, 8), ("ab" * 20, "abc" * 2000, 19)],
    ids=["a page of one letter", "differences in half of a short text"],
)
def test_a_search_that_the_published_code_does_not_end_takes_no_time(text, page, max_diffs):
    test = read_test({**BASE, "type": "order", "before": text, "after": text, "max_diffs": max_diffs})
    start = time.process_time()
    assert run(test, page).passed
    assert time.process_time() - start < 1
