"""The contract of every installed text noise, on texts that hypothesis makes and on pages of ground truth."""

import random
from bisect import bisect

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ohr.benchmarks.mini import Mini
from ohr.contracts import Page
from ohr.markup.regions import regions
from ohr.markup.tabular import tabulars
from ohr.noise.formatting import Formatting, Rules
from ohr.noise.formatting.units import cells
from ohr.noise.table_format import TableFormat
from ohr.registry import Registry
from ohr.steps.documents.treat import TreatedPages, treat
from ohr.testing import check_text_noise
from ohr.text.edits import undo

from .texts import anything, pieces, real_pages

KINDS = Registry().names("text_noise")
TRUTH = [page.text for document in Mini().documents() for page in Mini().pages(document)] + real_pages()[::40]
"""Ground truth of mini, and of the real benchmark where it is at hand."""

truth = st.sampled_from(TRUTH)
texts = pieces | anything | truth


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(text=texts)
def test_a_noise_keeps_its_contract_on_any_text(kind, text):
    """Nothing at rate 0, the same for one seed, less is part of more, all can be undone, and only what is eligible."""
    check_text_noise(Registry().load("text_noise", kind)(), texts=(text,))


@pytest.mark.parametrize("kind", KINDS)
@given(made=st.lists(texts, min_size=1, max_size=5), seed=st.integers(0, 2**32), order=st.randoms())
@settings(max_examples=12)
def test_pages_may_come_in_any_order(kind, made, seed, order):
    noise = Registry().load("text_noise", kind)(rate=0.4)
    pages = [Page("law/lease", place, text) for place, text in enumerate(made)]
    shuffled = random.Random(order.random()).sample(pages, len(pages))
    one, other = (treat(TreatedPages.of(given), [noise], [], seed) for given in (pages, shuffled))
    assert {page.index: page.text for page in one.pages} == {page.index: page.text for page in other.pages}


# --- the share of units that is touched -------------------------------------------------------------------


def touched(noise, text, seed):
    """Count the units that a noise touches; a unit of some rules is edited at several places."""
    made = noise.perturb(text, [(0, len(text))] if text else [], np.random.default_rng(seed)).edits
    if noise.kind == "table_format":
        return len(made)
    (rule,) = (name for name, weight in noise.rules.model_dump().items() if weight)
    if rule in ("bold", "italic", "underline", "title", "formula_conversion"):
        return len(made) // 2
    found = regions(text)
    begins = [region.start for region in found]
    if rule == "cell_content":
        tables = [region for region in found if region.kind == "table"]
        spans = [cells(text, one, list(tabulars(text, one.start, one.end))) for one in tables]
        begins = [start for span in spans for start, _ in span]
    return (
        len({bisect(begins, e.start) for e in made}) if rule in ("extraneous_elements", "cell_content") else len(made)
    )


NOISES = [(Formatting, {"rules": {rule: 1}}) for rule in Rules.model_fields] + [(TableFormat, {"to": "html"})]


@pytest.mark.parametrize(("noise", "how"), NOISES, ids=[*Rules.model_fields, "table_format"])
@given(text=pieces | truth, rate=st.sampled_from([0.05, 0.1, 0.3, 0.6, 0.9]), seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_a_rate_touches_that_share_of_the_units(noise, how, text, rate, seed):
    many = text * (1 + 2000 // max(len(text), 1)) if len(text) < 2000 else text
    some, every = (touched(noise(rate=level, **how), many, seed) for level in (rate, 1.0))
    assert not every or scipy.stats.binomtest(some, every, rate).pvalue > 1e-7, (some, every)


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
OF_NOTATION = [
    Formatting(rate=0.6),
    Formatting(rate=1.0, markdown=0),
    TableFormat(to="html"),
    TableFormat(to="markdown"),
    TableFormat(to="latex"),
]


def check(noise, text):
    noisy = noise.perturb(text, [(0, len(text))] if text else [], np.random.default_rng(3))
    assert undo(noisy.text, noisy.edits) == text
    return noisy


@pytest.mark.parametrize("noise", OF_NOTATION, ids=lambda noise: noise.kind)
@pytest.mark.parametrize("page", PAGES)
def test_odd_pages_are_taken(noise, page):
    check(noise, PAGES[page])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [OF_NOTATION[0], OF_NOTATION[2]], ids=lambda noise: noise.kind)
@pytest.mark.parametrize("page", BIG)
def test_big_pages_are_taken(noise, page):
    check(noise, BIG[page])


def test_white_space_is_not_touched():
    assert check(Formatting(rate=1.0), PAGES["white space"]).edits == ()


def test_a_table_with_too_many_places_is_left_alone():
    assert check(TableFormat(to="html"), "\\begin{tabular}{l}" + "a & " * 2000 + "\\end{tabular}").edits == ()
