"""Texts on which a careless expression takes quadratic time, as an engine in a loop writes them: four times the text
takes about four times the time."""

from time import process_time

import numpy as np
import pytest

from ohr.chunkers.tokens import Tokens
from ohr.contracts import Page
from ohr.markup.artifacts import artifacts
from ohr.markup.page import Markup, tidy
from ohr.markup.regions import regions
from ohr.markup.strip import strip_markup
from ohr.metrics.commands import formatting_commands
from ohr.metrics.realism import see
from ohr.noise.formatting import Formatting
from ohr.noise.table_format import TableFormat
from ohr.ocr.formats.page_borders import pages_of
from ohr.text.words import words


def perturbed(noise):
    return lambda text: noise.perturb(text, [(0, len(text))], np.random.default_rng(1))


def tidied(text):
    return tidy(text, Markup(tables="latex"))


STEPS = {
    "tidy": tidied,
    "strip": strip_markup,
    "regions": regions,
    "words": words,
    "artifacts": artifacts,
    "page borders": pages_of,
    "commands": formatting_commands,
    "see": lambda text: see(Page("d", 0, text), Page("d", 0, f"{text} x"), (), {}),
    "formatting": perturbed(Formatting(rate=0.5)),
    "to HTML": perturbed(TableFormat(to="html")),
    "to LaTeX": perturbed(TableFormat(to="latex")),
    "tokens": lambda text: Tokens(size=16).split([Page("d", 0, text)]),
}
TEXTS = {
    "spaces": " ",
    "line breaks": "\n",
    "one letter": "a",
    "one Chinese character": "约",
    "dollars": "$",
    "dollars around words": "$$a ",
    "formulas": "$$x$$\n\n",
    "opened formulas": "\\[",
    "opened equations": "\\begin{equation}",
    "opened tabulars": "\\begin{tabular}{",
    "opened comments": "<!--",
    "cells": "<table><tr><td>",
    "rows": "<tr><td>a</td></tr>",
    "commands": "\\cite{",
    "escapes": "\\&",
    "quotations": "> ",
    "hyphens": "-",
    "bars": "|",
    "stars": "*",
    "form feeds": "<<< \f",
    "opened fences": "```markdown\n",
    "opened front matter": "---\na: b\n",
    "opened pictures": "![](data:image/png;base64,",
    "opened positions": '<|det|>"bbox": [1, ',
    "page marks": "--- page 1 ---\n",
    "two words": "a b ",
}
WRAPPED = {
    "one word between dollars": ("$", "a", "$"),
    "comments in a cell": ("<table><tr><td>", "<!--", "</td></tr></table>"),
    "spaces behind a command": ("\\begin{tabular}{l}\\makecell", " ", "x\\end{tabular}"),
    "escapes in a cell": ("\\begin{tabular}{l}", "\\&", "\\end{tabular}"),
    "cells of a row": ("\\begin{tabular}{l}", "a & ", "\\end{tabular}"),
    "rows of a tabular": ("\\begin{tabular}{l}", "a & b \\\\\n", "\\end{tabular}"),
}
CASES = {name: ("", part, "") for name, part in TEXTS.items()} | WRAPPED
LENGTH = 5_000
FLOOR = 0.03  # seconds: below this, measuring says nothing


def seconds(step, text):
    began = process_time()
    step(text)
    return process_time() - began


@pytest.mark.timeout(60)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("text", CASES)
def test_four_times_the_text_takes_less_than_eight_times_the_time(step, text):
    before, part, after = CASES[text]
    STEPS[step]("The lease 约定 began.")  # what is loaded once
    for attempt in range(3):  # the machine may be busy with something else
        long, short = (f"{attempt}\n{before}{part * (n * LENGTH // len(part))}{after}" for n in (4, 1))
        taken = seconds(STEPS[step], long)
        if taken < 8 * FLOOR or taken < 8 * (least := seconds(STEPS[step], short)):
            return
    pytest.fail(f"{LENGTH} characters took {least:.3f} s, {4 * LENGTH} {taken:.3f} s")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("step", "text"),
    [
        (tidied, "![" * 500_000),
        (tidied, "![](" * 250_000),
        (tidied, "![][" * 250_000),
        (tidied, f"|\n{' ' * 1_000_000}x"),
        (tidied, f"|\n{'-' * 1_000_000}x"),
        (strip_markup, "<!--" * 250_000 + "-->"),
        (artifacts, f"<img src=data:image/png;base64,{'A' * 1_000_000}"),
        (pages_of, "```\n\\newpage\n" * 70_000),
    ],
)
def test_a_million_characters_take_less_than_a_second(step, text):
    assert min(seconds(step, text) for _ in range(2)) < 1


@pytest.mark.timeout(20)
def test_a_row_of_hyphens_and_a_word_is_no_ruling():
    """It once took a time exponential in the number of hyphens."""
    made = perturbed(TableFormat(to="html"))(f"|{'-' * 60}Total|\n| 12 |\n")
    assert made.text.startswith("<table>")
