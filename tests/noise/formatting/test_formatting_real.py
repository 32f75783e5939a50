"""Formatting noise on the real benchmark: the published doses, and the shapes of its markup."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from ohr.markup.convert import convert
from ohr.noise.formatting import Formatting
from ohr.noise.table_format import TableFormat
from ohr.text.edits import undo
from speed.formatting_dose import TEXT, Study
from speed.latex_parses import parses

from ..texts import real_pages

pytestmark = [pytest.mark.ohrbench, pytest.mark.acceptance]


@pytest.fixture(scope="module")
def root():
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    return Path(os.environ["OHRBENCH_DATA"])


@pytest.fixture(scope="module")
def study(root):
    """Every question: a sixth of them was .04 off."""
    return Study(root, 1)


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
