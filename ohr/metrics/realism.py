"""Whether noise looks like that of real engines: distances and formatting commands of pages, beside the dose.

Source: OHRBench (arXiv:2412.02592), Fig. S2 (distribution of edit distances), Tables S2 and S3 (formatting commands).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ohr.contracts import SOURCES, Page
from ohr.metrics.blocks import block_errors
from ohr.metrics.commands import formatting_commands, redundant_commands
from ohr.metrics.dose import Dose, PageDose, QuestionDose, dose, page_dose

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 10
"""Bins of the histogram of edit distances, over [0, 1]."""


@dataclass(frozen=True, slots=True)
class Distances:
    """A distribution of edit distances over pages.

    Args:
        quantiles: at QUANTILES.
        histogram: share of the pages in each of BINS equal bins.
    """

    mean: float
    quantiles: tuple[float, ...]
    histogram: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """What is known of one level of noise, its replicates together.

    Args:
        kb: name of the level or knowledge base.
        doses: by evidence source, `all` first.
        distances, content: edit distances of pages, and those of their content.
        commands: formatting commands per page, by kind.
        redundant: those per page beyond the ground truth's.
        edits: edits of text noise per page, by rule.
    """

    kb: str
    pages: int
    doses: Mapping[str, Dose]
    distances: Distances
    content: Distances
    commands: Mapping[str, float]
    redundant: float
    edits: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SeenPage:
    """One page of a level: its distances, commands and edits, and the evidence sources of the questions about it.

    Args:
        blocks: matching blocks and their errors, as `ohr.metrics.blocks.block_errors` counts them.
    """

    dose: PageDose
    sources: frozenset[str]
    commands: Mapping[str, int]
    redundant: int
    edits: Mapping[str, int]
    blocks: Mapping[str, int] = field(default_factory=dict)


def see(truth: Page, kb: Page | None, sources: Iterable[str], edits: Mapping[str, int]) -> SeenPage:
    """Look at one page; a missing or failed one is empty text."""
    text = kb.text if kb is not None and kb.error is None else ""
    commands = formatting_commands(text)
    redundant = redundant_commands(commands, formatting_commands(truth.text)) if text != truth.text else 0
    blocks = block_errors(text, truth.text)
    return SeenPage(page_dose(truth, kb), frozenset(sources), commands, redundant, edits, blocks)


def gather(kb: str, questions: Sequence[tuple[str, QuestionDose]], pages: Sequence[SeenPage]) -> Stats:
    """Put a level's questions (each with its evidence source) and pages together."""
    doses = {"all": dose([question for _, question in questions], [page.dose for page in pages])}
    for source in SOURCES:
        mine = [question for about, question in questions if about == source]
        if mine:
            doses[source] = dose(mine, [page.dose for page in pages if source in page.sources])
    commands: Counter[str] = sum((Counter(page.commands) for page in pages), Counter())
    edits: Counter[str] = sum((Counter(page.edits) for page in pages), Counter())
    count = max(len(pages), 1)
    return Stats(
        kb,
        len(pages),
        doses,
        _distances([page.dose.edit_distance for page in pages]),
        _distances([page.dose.edit_distance_content for page in pages]),
        {kind: commands[kind] / count for kind in sorted(commands)},
        sum(page.redundant for page in pages) / count,
        {rule: edits[rule] / count for rule in sorted(edits)},
    )


def _distances(values: Sequence[float]) -> Distances:
    if not values:
        return Distances(float("nan"), (float("nan"),) * len(QUANTILES), (0.0,) * BINS)
    found = np.asarray(values, dtype=float)
    counts, _ = np.histogram(found, bins=BINS, range=(0.0, 1.0))
    return Distances(
        float(found.mean()), tuple(map(float, np.quantile(found, QUANTILES))), tuple(map(float, counts / len(found)))
    )
