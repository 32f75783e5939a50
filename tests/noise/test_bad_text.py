"""Odd and broken pages: every text noise of notation takes them, and undoing gives them back."""

import numpy as np
import pytest

from ohr.noise.formatting import Formatting
from ohr.noise.table_format import TableFormat
from ohr.text.edits import undo

LONG = 300_000
PAGES = {
    "empty": "",
    "white space": " \n\t\r\n\u3000 " * 100,
    "NUL": "one\0two three\0 four five. " * 100,
    "lone surrogates": "one \ud800 two \udfff three $x \udc00 y$ four. " * 100,
    "right to left": "مرحبا بالعالم شكرا جزيلا. \u202eword\u202c " * 100,
    "odd line ends": "one two\r\nthree four\x0bfive six\u2028seven eight\x85nine ten " * 20,
    "unbalanced dollars": "costs $5 and $$x and $y$ and $$$ then $ " * 200,
    "unbalanced braces": "one {two }} three $\\frac{a}{b$ and \\textbf{open four five " * 200,
    "unclosed formulas": "\\( a \\[ b \\) c \\] d " * 200,
    "unclosed tables": "\\begin{tabular}{l} a & b \\\\ \\begin{table} <table><tr><td>one two " * 50,
    "crossed tables": "\\begin{tabular}{l} a \\begin{table} b \\end{tabular} c \\end{table} <chart> | a | </chart>"
    * 50,
    "ends only": "\\end{tabular} </table> </chart> } \\) \\] " * 100,
    "broken spans": "\\begin{tabular}{l} \\multirow{2}{*}{a & \\multicolumn{9999999999}{c}{b} \\\\ "
    "\\multirow{x} \\end{tabular}",
    "a backslash at the end": "one two three four \\",
    "half a command": "\\begin{tabular}{l} one \\\\ \\multicolumn",
    "empty table": "\\begin{tabular}\\end{tabular} | \n|\n <table></table>",
    "marks of emphasis": "| ** a * b ** | \\* *** |\n|---|---|\n| * | ** |\n",
}
BIG = {
    "much prose": "The tenant shall pay the rent $x_1$ on the first day. It ends.\n" * (LONG // 60),
    "one long line": "word " * (LONG // 5),
    "one long word": "x" * LONG,
    "nothing but dollars": "$" * LONG,
    "nothing but braces": "$$" + "{" * (LONG // 2) + "$$",
    "nothing but openings": "\\[" * (LONG // 2),
    "nothing but tabulars": "\\begin{tabular}{l} a & " * (LONG // 22),
    "nested spans": "\\begin{tabular}{l}" + "\\multirow{2}{*}{" * (LONG // 17) + "\\end{tabular}",
    "a table of one row": "\\begin{tabular}{l}" + "a & " * (LONG // 16) + "\\end{tabular}",
    "wide spans": "<table>" + '<tr><td rowspan="200" colspan="200">a' * (LONG // 36) + "</table>",
    "full stops": "." * LONG,
    "bars": "|" * LONG,
    "Chinese": "今年的租金是三百元" * (LONG // 45),
}
NOISES = [
    Formatting(rate=0.6),
    Formatting(rate=1.0, markdown=0),
    TableFormat(to="html"),
    TableFormat(to="markdown"),
    TableFormat(to="latex"),
]


def check(noise, text):
    made = noise.perturb(text, [(0, len(text))] if text else [], np.random.default_rng(3))
    assert undo(made.text, made.edits) == text
    return made


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.kind)
@pytest.mark.parametrize("page", PAGES)
def test_odd_pages_are_taken(noise, page):
    check(noise, PAGES[page])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [NOISES[0], NOISES[2]], ids=lambda noise: noise.kind)
@pytest.mark.parametrize("page", BIG)
def test_big_pages_are_taken(noise, page):
    check(noise, BIG[page])


def test_white_space_is_not_touched():
    assert check(Formatting(rate=1.0), PAGES["white space"]).edits == ()


def test_a_table_with_too_many_places_is_left_alone():
    assert check(TableFormat(to="html"), "\\begin{tabular}{l}" + "a & " * 2000 + "\\end{tabular}").edits == ()
