"""Formatting noise on the real benchmark: the published doses, and the shapes of its markup."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from ohr import seeds
from ohr.benchmarks.ohrbench import OhrBench
from ohr.contracts import Page
from ohr.markup.convert import convert
from ohr.metrics.dose import by_page, dose, question_dose
from ohr.noise.formatting import Formatting, Rules
from ohr.noise.table_format import TableFormat
from ohr.text.edits import undo

from ..texts import parses, real_pages

pytestmark = [pytest.mark.ohrbench, pytest.mark.acceptance]

TEXT = Rules(bold=1, italic=1, underline=1, title=1, paragraph=1)


class Study:
    """The pages that questions need, clean and with noise."""

    def __init__(self, root: Path) -> None:
        bench = OhrBench(root=root, protocol="reference")
        self.questions = bench.questions()
        asked = {(question.document, index) for question in self.questions for index in question.pages}
        pages = [page for document in bench.documents() for page in bench.pages(document)]
        self.pages = [page for page in pages if (page.document, page.index) in asked]
        self.truth = by_page(pages)

    def dose(self, noise: Formatting) -> tuple[float, float]:
        """Return r_noise and r_content, as doses.csv does."""
        noisy = {}
        for page in self.pages:
            rng = seeds.generator(0, noise.kind, page.document, page.index, 0)
            made = noise.perturb(page.text, [(0, len(page.text))], rng)
            noisy[page.document, page.index] = Page(page.document, page.index, made.text)
        found = dose([question_dose(q, self.truth, noisy, segment_chinese=False) for q in self.questions], [])
        return found.r_noise, found.r_content


@pytest.fixture(scope="module")
def root():
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    return Path(os.environ["OHRBENCH_DATA"])


@pytest.fixture(scope="module")
def study(root):
    """Every question: a sixth of them was .04 off."""
    return Study(root)


@pytest.fixture(scope="module")
def pages(root):
    return [page for page in real_pages(root) if page.strip()]


@pytest.mark.parametrize(("rate", "published"), [(0.1, 0.15), (0.3, 0.35), (0.6, 0.62)])
def test_styles_of_both_notations_damage_as_published(study, rate, published):
    assert study.dose(Formatting(rate=rate, rules=TEXT))[0] == pytest.approx(published, abs=0.05)


def test_markdown_alone_stays_at_the_baseline(study):
    baseline = study.dose(Formatting(rate=0))[0]
    assert study.dose(Formatting(rate=0.6, rules=TEXT, markdown=1))[0] == pytest.approx(baseline, abs=0.005)


def test_latex_alone_damages_most_evidence(study):
    assert study.dose(Formatting(rate=0.6, rules=TEXT, markdown=0))[0] == pytest.approx(0.84, abs=0.05)


@pytest.mark.parametrize("noise", [Formatting(rate=0.3), TableFormat(to="html"), TableFormat(to="markdown")], ids=repr)
def test_undoing_gives_real_pages_back(pages, noise):
    for place, text in enumerate(pages):
        made = noise.perturb(text, [(0, len(text))], np.random.default_rng(place))
        assert undo(made.text, made.edits) == text


def test_lower_levels_are_in_higher_ones_on_real_pages(pages):
    for place, text in enumerate(pages[::4]):
        low, high = (
            Formatting(rate=rate, rules={"bold": 1, "title": 0.5, "cell_content": 0.3})
            .perturb(text, [(0, len(text))], np.random.default_rng(place))
            .edits
            for rate in (0.3, 0.6)
        )
        assert set(low) <= set(high)


def test_real_latex_that_parsed_still_parses(pages):
    bare = [place for place, text in enumerate(pages) if re.search(r"(?<!\\)%", text)]
    tried = [place for place in sorted({*bare, *range(0, len(pages), 18)}) if parses(pages[place])]
    assert len(tried) > 200
    for place in tried:
        text = pages[place]
        made = Formatting(rate=0.6).perturb(text, [(0, len(text))], np.random.default_rng(place)).text
        assert parses(made), place


def test_nearly_all_real_tables_are_converted(pages):
    made = [
        convert(e.removed, "html")
        for text in pages
        for e in TableFormat().perturb(text, [(0, len(text))], np.random.default_rng(0)).edits
    ]
    assert len(made) > 700
    assert sum(not one.losses for one in made) / len(made) > 0.9
