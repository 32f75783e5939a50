"""Whether noise looks like that of real engines: distances and formatting commands of pages, beside the dose.

Source: OHRBench (arXiv:2412.02592), Fig. S2 (distribution of edit distances), Tables S2 and S3 (formatting commands).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ohr.contracts import SOURCES, Page
from ohr.metrics.blocks import block_errors
from ohr.metrics.commands import formatting_commands, redundant_commands
from ohr.metrics.dose import PAGE_PARTS, Dose, Floats, PageDose, QuestionDose, dose, page_dose

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
    """Measurements of one level of noise, its replicates together.

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
    blocks: Mapping[str, int]


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
    columns = {name: np.array([getattr(page.dose, name) for page in pages], dtype=float) for name in PAGE_PARTS}
    commands: Counter[str] = sum((Counter(page.commands) for page in pages), Counter())
    edits: Counter[str] = sum((Counter(page.edits) for page in pages), Counter())
    return stats(kb, doses, columns, commands, sum(page.redundant for page in pages), edits)


def stats(
    kb: str,
    doses: Mapping[str, Dose],
    pages: Mapping[str, Floats],
    commands: Mapping[str, int],
    redundant: int,
    edits: Mapping[str, int],
) -> Stats:
    """Combine the counts of a level.

    Args:
        kb: its name.
        doses: by evidence source, `all` first.
        pages: the columns PAGE_PARTS, one value per page.
        commands: formatting commands of all pages, by kind.
        redundant: those beyond the ground truth's, on all pages.
        edits: of text noise on all pages, by rule.
    """
    count = len(pages["edit_distance"])
    return Stats(
        kb,
        count,
        doses,
        _distances(pages["edit_distance"]),
        _distances(pages["edit_distance_content"]),
        {kind: commands[kind] / max(count, 1) for kind in sorted(commands) if commands[kind]},
        redundant / max(count, 1),
        {rule: edits[rule] / max(count, 1) for rule in sorted(edits) if edits[rule]},
    )


def _distances(found: Floats) -> Distances:
    if not found.size:
        return Distances(float("nan"), (float("nan"),) * len(QUANTILES), (0.0,) * BINS)
    counts, _ = np.histogram(found, bins=BINS, range=(0.0, 1.0))
    return Distances(
        float(found.mean()), tuple(map(float, np.quantile(found, QUANTILES))), tuple(map(float, counts / len(found)))
    )
