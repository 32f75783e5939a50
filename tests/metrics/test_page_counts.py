r"""Counts of a page: formatting commands in LaTeX and in Markdown, and blocks with errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.metrics.blocks import block_errors, blocks
from ohr.metrics.commands import KINDS, formatting_commands, redundant_commands
from ohr.noise.formatting import Formatting


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain words, 2 * 3 * 4 and snake_case_names", {}),
        (r"**bold** and \textbf{bold}", {"bold": 2}),
        (r"*italic*, \textit{italic}", {"italic": 2}),
        (r"_under_ \underline{under}", {"underline": 2}),
        ("# One\ntext\n### Three\n\\subsection{x}", {"title": 3}),
        (r"\hline a & b \\ \cline{1-2}", {"line": 2}),
        (r"$a \quad b \; c$", {"space": 2}),
        (r"$\mathbf{x} + \mathcal{L}$", {"symbol": 2}),
        (r"$$x$$ and \[y\] and \(z\)", {"formula": 3}),
        (r"it costs \$5", {}),
    ],
)
def test_commands_are_counted_by_kind(text, found):
    assert dict(formatting_commands(text)) == found


def redundant(text, truth):
    return redundant_commands(formatting_commands(text), formatting_commands(truth))


def test_only_commands_beyond_the_ground_truths_are_redundant():
    assert redundant("# A\n**b** **c**", "# A\n# B") == 2
    assert redundant("", "# A") == 0


@given(st.text())
def test_any_text_is_counted(text):
    assert set(formatting_commands(text)) <= set(KINDS)
    assert redundant(text, text) == 0


def test_formatting_noise_shows_in_the_counts():
    import numpy as np

    text = "The old harbour company leased the ferry berth for ninety years to the council. " * 30
    counts = [
        redundant(
            Formatting.model_validate({"rate": rate, "rules": {"bold": 1}})
            .perturb(text, [(0, len(text))], np.random.default_rng(0))
            .text,
            text,
        )
        for rate in (0.0, 0.1, 0.3, 0.6)
    ]
    assert counts[0] == 0 and counts == sorted(counts) and counts[-1] > 30


TABLE = "\\begin{tabular}{|c|c|}\n\\hline Rent & 1,450 \\\\\n\\hline Term & 12 \\\\\n\\hline\n\\end{tabular}"
FORMULA = "$$\n\\frac{a}{b} = c^{2}\n$$"
PAGE = f"The lease began in 1964.\n\n{TABLE}\n\nIt may be ended early.\n\n{FORMULA}"


def test_a_page_is_cut_into_its_blocks():
    assert [block.kind for block in blocks(PAGE)] == ["text", "table", "text", "formula"]
    tables = "a\n| x | y |\n|---|---|\n| 1 | 2 |\n<table><tr><td>1</td></tr></table>"
    assert [block.kind for block in blocks(tables)] == ["text", "table", "table"]
    assert blocks("\n\n ") == []


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        ("", "", {}),
        ("1964", "1946", {"text_errors_text": 1}),
        ("The lease began", "**The lease** began", {}),  # notation is no semantic error
        ("1,450", "1,480", {"text_errors_table": 1}),
        ("\\hline Term & 12 \\\\\n", "\\hline Term 12 \\\\\n", {"structure_errors_table": 1}),
        ("c^{2}", "c_{2}", {"text_errors_formula": 0, "structure_errors_formula": 1}),
        ("= c", "= d", {"text_errors_formula": 1}),
    ],
)
def test_an_error_is_counted_where_it_is(old, new, errors):
    counts = block_errors(PAGE.replace(old, new, 1) if old else PAGE, PAGE)
    found = {name: count for name, count in counts.items() if "errors" in name and count}
    assert found == {name: count for name, count in errors.items() if count}
    assert sum(counts[f"matched_{kind}"] for kind in ("text", "formula", "table")) == 4


def test_a_block_that_is_gone_is_not_matched():
    counts = block_errors("Something else entirely, of no use.", PAGE)
    assert sum(counts[f"blocks_{kind}"] for kind in ("text", "formula", "table")) == 4
    assert counts["matched_table"] == counts["matched_formula"] == 0


def test_a_table_in_another_notation_has_the_same_structure():
    html = "<table><tr><td>Rent</td><td>1,450</td></tr><tr><td>Term</td><td>12</td></tr></table>"
    markdown = "| Rent | 1,450 |\n|---|---|\n| Term | 12 |\n"
    for other in (html, markdown):
        counts = block_errors(other, TABLE)
        if counts["matched_table"]:  # notation may make them too unlike to match
            assert counts["structure_errors_table"] == counts["text_errors_table"] == 0
        assert block_errors(other, other)["structure_errors_table"] == 0
    assert block_errors(html.replace("</td><td>12", " 12"), html)["structure_errors_table"] == 1
    assert block_errors(markdown.replace("Term |", "Term"), markdown)["structure_errors_table"] == 1
