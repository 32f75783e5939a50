"""Formatting noise on the real benchmark: the published doses, and the shapes of its markup."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from ohr import seeds
from ohr.benchmarks.ohrbench import OhrBench
from ohr.contracts import Page
from ohr.edits import undo
from ohr.metrics.dose import by_page, dose, question_dose
from ohr.noise.formatting import Formatting
from ohr.noise.table_format import TableFormat, convert

pytestmark = [pytest.mark.ohrbench, pytest.mark.slow]
TEXT = {"bold": 1, "italic": 1, "underline": 1, "title": 1, "paragraph": 1}


@pytest.fixture(scope="module")
def bench():
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    return OhrBench(root=Path(os.environ["OHRBENCH_DATA"]), protocol="reference")


@pytest.fixture(scope="module")
def pages(bench):
    return [page for document in bench.documents() for page in bench.pages(document)]


def r_noise(bench, pages, **how):
    """Measure the share of damaged questions, as doses.csv does."""
    noise, questions = Formatting(**how), bench.questions()
    asked = {(question.document, index) for question in questions for index in question.pages}
    noisy = {}
    for page in (page for page in pages if (page.document, page.index) in asked):
        rng = seeds.generator(0, noise.kind, page.document, page.index, 0)
        made = noise.perturb(page.text, [(0, len(page.text))], rng)
        noisy[page.document, page.index] = Page(page.document, page.index, made.text)
    truth = by_page(pages)
    return dose([question_dose(one, truth, noisy, segment_chinese=False) for one in questions], []).r_noise


@pytest.mark.parametrize(("rate", "published"), [(0.1, 0.15), (0.3, 0.35), (0.6, 0.62)])
def test_styles_of_both_notations_damage_as_published(bench, pages, rate, published):
    assert r_noise(bench, pages, rate=rate, rules=TEXT) == pytest.approx(published, abs=0.03)


def test_markdown_alone_stays_at_the_baseline(bench, pages):
    baseline = r_noise(bench, pages, rate=0)
    assert r_noise(bench, pages, rate=0.6, rules=TEXT, markdown=1) == pytest.approx(baseline, abs=0.005)


def test_latex_alone_damages_most_evidence(bench, pages):
    assert r_noise(bench, pages, rate=0.6, rules=TEXT, markdown=0) == pytest.approx(0.84, abs=0.03)


@pytest.mark.parametrize("noise", [Formatting(rate=0.3), TableFormat(to="html"), TableFormat(to="markdown")], ids=repr)
def test_undoing_gives_real_pages_back(pages, noise):
    for place, page in enumerate(pages):
        made = noise.perturb(page.text, [(0, len(page.text))], np.random.default_rng(place))
        assert undo(made.text, made.edits) == page.text


def test_lower_levels_are_in_higher_ones_on_real_pages(pages):
    for place, page in enumerate(pages[::4]):
        low, high = (
            Formatting(rate=rate, rules={"bold": 1, "title": 0.5, "cell_content": 0.3})
            .perturb(page.text, [(0, len(page.text))], np.random.default_rng(place))
            .edits
            for rate in (0.3, 0.6)
        )
        assert set(low) <= set(high)


def test_real_latex_that_parsed_still_parses(pages):
    from .test_formatting import parses

    def latex(text):  # in Mathpix-Markdown a bare percent sign begins no comment
        return re.sub(r"(?<!\\)%", r"\\%", text)

    some = [page.text for page in pages[::9] if parses(latex(page.text))]
    made = [Formatting(rate=0.6).perturb(t, [(0, len(t))], np.random.default_rng(i)).text for i, t in enumerate(some)]
    assert len(some) > 200
    assert sum(not parses(latex(text)) for text in made) <= len(some) / 200  # formulas within broken formulas


def test_nearly_all_real_tables_are_converted(pages):
    made = [
        convert(e.removed, "html")
        for p in pages
        for e in TableFormat().perturb(p.text, [(0, len(p.text))], np.random.default_rng(0)).edits
    ]
    assert len(made) > 700
    assert sum(not one.losses for one in made) / len(made) > 0.9
