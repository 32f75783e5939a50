import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.markup.convert import convert, notation_of
from ohr.markup.regions import regions
from ohr.noise.table_format import TableFormat
from ohr.text.edits import undo

from .texts import anything, pieces

NOTATIONS = ("latex", "markdown", "html")
MERGED = r"""\begin{table}[h]
\centering
\begin{tabular}{|l|c|c|}
\hline \multicolumn{2}{|c|}{\multirow{2}{*}{\textbf{Oak} 50\% \& more}} & z \\
\multicolumn{2}{|c|}{} & \$5 \\ \cline{1-2}
a\_b & \makecell{c \\ d} & $\begin{array}{l} 1 & 2 \\ 3 \end{array}$ \\ \hline
\end{tabular}
\caption{My $x$ table}
\end{table}"""


def words(text):
    """Return a text's words, whatever notation they are in."""
    return set(re.findall(r"[a-z0-9]+", re.sub(r"\\[A-Za-z]+|<[^<>]*>", " ", text.lower())))


def convert_page(text, to, rate=1.0, eligible=None):
    spans = [(0, len(text))] if eligible is None else eligible
    return TableFormat(to=to, rate=rate).perturb(text, spans, np.random.default_rng(0))


def test_a_merged_cell_and_a_caption_in_html():
    made = convert(MERGED, "html")
    assert made.text.split("\n")[1:4] == [
        "<caption>My $x$ table</caption>",
        '<tr><td rowspan="2" colspan="2"><b>Oak</b> 50% &amp; more</td><td>z</td></tr>',
        "<tr><td>\\$5</td></tr>",
    ]
    assert "<td>c<br>d</td>" in made.text
    assert made.losses == ()


def test_a_merged_cell_and_a_caption_in_markdown():
    made = convert(MERGED, "markdown")
    assert made.text.startswith("My $x$ table\n\n| **Oak** 50% & more | **Oak** 50% & more | z |\n|---|---|---|\n")
    assert "| a\\_b | c<br>d | $\\begin{array}{l} 1 & 2 \\\\ 3 \\end{array}$ |" in made.text
    assert made.losses == (
        "a merged cell of 2 x 2 is repeated at each place: 'Oak 50% & more'",
        "Markdown needs a header: the first row becomes it",
        "Markdown has no captions: it becomes a line above the table",
    )


@pytest.mark.parametrize(
    ("markup", "to", "part", "loss"),
    [
        ("| a \\| y |\n|---|\n| $x$ |", "latex", "a | y \\\\\n$x$ \\\\", "no header cells"),
        (r"\begin{tabular}{l} $|x| \| y$ \\ b \end{tabular}", "markdown", r"$\vert x\vert  \Vert  y$", "bar"),
        (
            r"\begin{tabular}{l} \checkmark{} b \\ c \end{tabular}",
            "html",
            r"\checkmark",
            "no counterpart of \\checkmark",
        ),
        ("<table><tr><th>a</th></tr><tr><td>b</td></tr></table>", "latex", "a \\\\\nb", "no header cells"),
        ("<table><tr><td>a<table><tr><td>b</td></tr></table></td></tr></table>", "latex", "a", "within a cell"),
        (r"\begin{tabular}{ll} a & b \\ \multirow{-2}{*}{c} & d \end{tabular}", "html", "<td>c", None),
        (r"\begin{tabular}{ll} & b \\ \multirow{-2}{*}{c} & d \end{tabular}", "html", 'rowspan="2">c', None),
        (r"\begin{tabular}{l} \multirow{2}{*}{a} \\ b \end{tabular}", "html", "<td>a", "overlaps another"),
        (r"\begin{tabular}{ll} a \\ b & c & d \\ \end{tabular}", "html", "<td>a</td><td></td><td></td>", None),
        (
            r"\begin{table} \begin{tabular}{l} a \\ \end{tabular} Source: us. \end{table}",
            "html",
            "us.",
            "follows as text",
        ),
    ],
)
def test_losses_of_a_notation_are_reported(markup, to, part, loss):
    made = convert(markup, to)
    assert part in made.text
    assert any(loss in reported for reported in made.losses) if loss else not made.losses or to == "markdown"


@pytest.mark.parametrize(
    "markup",
    [
        "",
        "\\begin{tabular}{l}\\end{tabular}",
        "<table></table>",
        "\\begin{tabular}{l} a \\begin{tabular}",
        "\\begin{array}{l} x \\end{array}",
    ],
)
def test_what_is_no_table_is_left_alone(markup):
    assert convert(markup, "html" if notation_of(markup) != "html" else "latex") is None


@given(pieces, st.sampled_from(NOTATIONS))
def test_converted_tables_keep_their_words(text, to):
    for region in regions(text):
        markup = text[region.start : region.end]
        if region.kind == "table" and (made := convert(markup, to)) and not made.losses:
            assert words(made.text) >= words(re.sub(r"\{[|lrc*\d]+\}", " ", markup)) - {"tabular", "table"}


# --- the plugin -------------------------------------------------------------------------------------------


@given(pieces | anything, st.sampled_from(NOTATIONS), st.sampled_from([0.3, 1.0]))
def test_undoing_gives_the_text_back(text, to, rate):
    made = convert_page(text, to, rate)
    assert undo(made.text, made.edits) == text


@given(pieces, st.sampled_from(NOTATIONS))
def test_a_page_of_one_notation_stays_as_it_is(text, to):
    once = convert_page(text, to).text
    tables = [once[region.start : region.end] for region in regions(once) if region.kind == "table"]
    assert all(notation_of(table) == to or convert(table, to) is None for table in tables)
    assert convert_page(once, to).edits == ()


def test_only_eligible_tables_are_converted():
    text = "| a |\n|---|\n\nthen\n\n| b |\n|---|\n"
    made = convert_page(text, "html", eligible=[(10, len(text))])
    assert made.text.startswith("| a |\n|---|\n\nthen\n\n<table>")


def test_the_rate_is_the_share_of_tables():
    text = "| a |\n|---|\n\nthen\n\n" * 1000
    assert len(convert_page(text, "html", 0.3).edits) == pytest.approx(300, abs=50)
    assert len(convert_page(text, "html").edits) == 1000


def test_tables_of_charts_are_converted_too():
    made = convert_page("<chart>\n| year | sales |\n|---|---|\n| 2021 | 3 |\n</chart>\n", "latex")
    assert made.text.startswith(
        "<chart>\n\\begin{tabular}{|l|l|}\nyear & sales \\\\\n2021 & 3 \\\\\n\\end{tabular}\n</chart>"
    )


def test_a_markdown_table_has_lines_of_its_own():
    made = convert_page(r"Before \begin{tabular}{l} a \\ b \\ \end{tabular} after", "markdown")
    assert made.text == "Before \n\n| a |\n|---|\n| b |\n\n after"
