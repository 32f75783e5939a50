"""Tables as OmniDocBench compares them."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from ohr.parse_scores.tables import (
    markdown_tables_to_html,
    normalized_html,
    scores_after_conversion,
    scores_as_written,
)

PATH = Path(os.environ.get("OHRBENCH_VECTORS", ""), "ocr", "teds.json")
VECTORS = json.loads(PATH.read_text())["vectors"] if PATH.is_file() else []
TRUTH = "<table><tr><td>year</td><td>cost</td></tr><tr><td>2024</td><td>7</td></tr></table>"
MARKDOWN = "| year | cost |\n|---|---|\n| 2024 | 7 |\n"


@pytest.mark.parametrize(
    ("html", "content"),
    [
        ("<table><tr><th>a</th></tr></table>", "<tr><td>a</td></tr>"),
        ("<table><thead><tr><td>a</td></tr></thead><tbody><tr></tr></tbody></table>", "<tr><td>a</td></tr><tr></tr>"),
        (
            '<table class="x"><tr style="y"><td align="left" colspan="2">a</td></tr></table>',
            '<tr><td colspan="2">a</td></tr>',
        ),
        ("<table><td>a\n b  c<sup>2</sup> <span>d</span></td></table>", "<td>a b c2 d</td>"),
        ("<table><td>Ⅷ&nbsp;ﬁ &amp; １</td></table>", "<td>VIII fi & 1</td>"),
        ('<table><td><math alttext="x^2"><mi>x</mi></math></td></table>', "<td>$x^2$</td>"),
        ("<table><colgroup><col></colgroup><td>a</td></table>", "<td>a</td>"),
        ("<table><td>&lt;1</td></table>", "<td><1</td>"),
        ("<table></table> and <table></table>", "</table> and <table>"),
    ],
)
def test_normalization_of_html(html, content):
    assert normalized_html(html, "1.5") == f'<html><body><table border="1" >{content}</table></body></html>'


@pytest.mark.parametrize("text", ["", "text", MARKDOWN, "<table", "<![x[<table></table>"])
def test_what_is_no_table_has_no_normal_form(text):
    assert "<td" not in normalized_html(text, "1.0")


def test_other_versions_are_refused():
    with pytest.raises(ValueError, match=r"OmniDocBench has no version '2' here: there are 1.0 and 1.5"):
        normalized_html("<table></table>", "2")


@pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with ocr/teds.json")
@pytest.mark.parametrize("side", ["prediction", "truth"])
def test_normal_forms_of_the_published_code(side):
    found = [normalized_html(case[side], "1.0") for case in VECTORS]
    assert found == [case[f"omnidocbench_norm_{side}"] for case in VECTORS]


@pytest.mark.parametrize(
    ("markdown", "rows"),
    [
        (MARKDOWN, [["year", "cost"], ["2024", "7"]]),
        ("text\n\n| a | b |\n| --- | --- |\n|c|d|", [["a", "b"], ["c", "d"]]),
        pytest.param("| a: b | c |\n", [["c"]], id="a cell with a colon is lost"),
        pytest.param("| a: b |\n| c |\n", [["c"]], id="and a row of nothing else"),
        pytest.param("| a\nb | c |\n", [], id="a row with a line break has no cell"),
        pytest.param("no pipes", None, id="no table"),
    ],
)
def test_reading_of_markdown_tables(markdown, rows):
    html = markdown_tables_to_html(markdown, "1.0")
    found = [re.findall(r'<td colspan="1" rowspan="1">(.*?)</td>', row) for row in html.split("</tr>")[:-1]]
    assert found == (rows or [])
    assert html.count('<table border="1" >') == (rows is not None)


@pytest.mark.parametrize(
    "page", ["|   " * 3000 + " " * 20_000 + "x", "| a |\n" * 20_000, "<!--\n<table>" * 5000, "|" * 20_000]
)
def test_odd_pages_take_no_time(page):
    start = time.process_time()
    markdown_tables_to_html(page, "1.0")
    assert time.process_time() - start < 2


def test_markdown_scores_only_after_conversion():
    assert scores_as_written(MARKDOWN, TRUTH, "1.0") == (0, 0)
    assert scores_after_conversion(MARKDOWN, TRUTH, "1.0") == (1, 1)
    assert scores_after_conversion(TRUTH, TRUTH, "1.5") == scores_as_written(TRUTH, TRUTH, "1.5") == (1, 1)


def test_headings_cost_nothing_after_normalization():
    assert scores_as_written(TRUTH.replace("td>", "th>", 4), TRUTH, "1.0") == (1, 1)


def test_two_empty_tables_are_undefined_in_1_0_and_score_0_in_1_5():
    empty = "<table></table>"
    assert scores_as_written(empty, empty, "1.0") == pytest.approx((float("nan"),) * 2, nan_ok=True)
    assert scores_as_written(empty, empty, "1.5") == (0, 0)
