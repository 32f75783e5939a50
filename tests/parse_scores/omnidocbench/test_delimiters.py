"""Spans between delimiters are those of lazy regular expressions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.parse_scores.omnidocbench.delimiters import blanked, formulas, spans, unwrapped, without
from ohr.parse_scores.omnidocbench.edit_windows import has_similar_part, most_edits
from ohr.parse_scores.omnidocbench.table_spans import html_tables, latex_tables

Distance = pytest.importorskip("rapidfuzz.distance").Levenshtein.distance


def soup(*pieces):
    return st.lists(st.sampled_from([*pieces, "a", " ", "\n"]), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("delimiters", "in_line", "pattern"),
    [
        (("![", "](", ")"), True, r"!\[.*?\]\(.*?\)"),
        (("|", "|\n"), False, r"\|\s*.*?\s*\|\n"),
        (("<table", "</table>"), False, r"<table.*?</table>"),
        ((r"\tag{", "}"), True, r"\\tag\{.*?\}"),
    ],
)
@given(data=st.data())
def test_spans_are_lazy_matches(delimiters, in_line, pattern, data):
    text = data.draw(soup(*delimiters, *(delimiter[:1] for delimiter in delimiters)))
    expected = [match.span() for match in re.finditer(pattern, text, 0 if in_line else re.DOTALL)]
    assert [(places[0], places[-1]) for places in spans(text, *delimiters, in_line=in_line)] == expected
    assert without(text, *delimiters, in_line=in_line) == re.sub(pattern, "", text, flags=0 if in_line else re.DOTALL)


@given(soup("$", "$$", "\\[", "\\]", "\\(", "\\)"))
def test_formulas_are_lazy_matches(text):
    pattern = r"\$\$(.*?)\$\$|\\\[(.*?)\\\]|\$(.*?)\$|\\\((.*?)\\\)"
    delimiters = (("$$", "$$"), ("\\[", "\\]"), ("$", "$"), ("\\(", "\\)"))
    expected = [
        (*match.span(), "".join(filter(None, match.groups()))) for match in re.finditer(pattern, text, re.DOTALL)
    ]
    assert [(each.start, each.end, each.body) for each in formulas(text, delimiters)] == expected


@given(soup("\\title{", "\\title {", "{", "}", "  "))
def test_an_argument_is_unwrapped_as_by_a_regular_expression(text):
    assert unwrapped(text, r"\\title\{", in_line=True) == re.sub(r"\\title\{(.*?)\}", r"\1", text)
    pattern = re.compile(r"\\title\s*\{\s*(.*?)\s*\}", re.DOTALL)
    assert unwrapped(text, r"\\title\s*\{", in_line=False) == pattern.sub(r"\1", text)


def test_blanks_may_overlap():
    assert blanked("abcdefg", [(0, 4), (1, 3), (5, 6)]) == "    e g"


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("a <table><tr></tr></table> b", ["<table><tr></tr></table>"]),
        (
            "<table><tr><td><table><tr></tr></table></td></table>",
            ["<table><tr><td><table><tr></tr></table></td></table>"],
        ),
        ("<table>without end <table><tr></tr></table>", ["<table><tr></tr></table>"]),
        ("</table><table border=1>", []),
        ("<table></table>", []),  # as published: what follows a begin is looked at from its eighth character on
        ("<TABLE><tr></tr></TABLE>", []),
    ],
)
def test_html_tables_are_the_outermost_ones(text, tables):
    assert [table for _, table in html_tables(text)] == tables


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        (r"\begin{tabular}{l} a \end{tabular}", [r"\begin{tabular}{l} a \end{tabular}"]),
        ("\\begin{tabular} a \\end{tabular}\nb", ["\\begin{tabular} a \\end{tabular}\n"]),
        ("\\begin{table}[h] a \\end{table}\nb", ["\\begin{table}[h] a \\end{table}"]),
        (r"\begin{table*} a \end{table*}", []),
        (r"\end{tabular}\end{tabular}\begin{tabular}", []),
    ],
)
def test_a_latex_table_takes_the_character_after_it(text, tables):
    assert [table for _, table in latex_tables(text)] == tables


@given(st.text("abc", max_size=20), st.text("abc", min_size=1, max_size=8), st.integers(0, 6))
def test_a_similar_part_is_found_where_one_is(text, pattern, most):
    parts = [text[place : place + len(pattern)] for place in range(len(text) - len(pattern) + 1)]
    assert has_similar_part(text, pattern, most) == any(Distance(part, pattern) <= most for part in parts)


def test_tenths_of_a_length_are_as_in_floating_point():
    for length in range(1, 500):
        assert most_edits(length, 6, inclusive=True) == max(n for n in range(length) if n / length <= 0.6)
        assert most_edits(length, 6, inclusive=False) == max(n for n in range(length) if n / length < 0.6)
        assert most_edits(length, 4, inclusive=False) == max(n for n in range(length) if n / length < 0.4)
