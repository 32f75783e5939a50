"""The table of doses: how noisy each knowledge base of a run is."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ohr.metrics.dose import PAGE_PARTS, QUESTION_PARTS, Dose, Floats, aggregated, mean_dose
from ohr.results.score_arrays import CellScores, Part, ScoreTable
from ohr.results.tables.read_table import read_columns
from ohr.results.tables.schema import STATISTICS


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts from the making of a knowledge base.

    Args:
        edits: edits of its text noise.
        edits_aimed: how many were to be made.
        failed_pages: pages that failed.
    """

    edits: int = 0
    edits_aimed: int = 0
    failed_pages: int = 0


def level_dose(cell: CellScores, part: Part) -> Dose:
    """Return the dose of a level for some of the questions: the mean over its replicates, without that of its pages."""
    draws, pages = cell.only(QUESTION_PARTS).draws.transpose(1, 0, 2), dict.fromkeys(PAGE_PARTS, np.empty(0))
    return mean_dose(
        [aggregated(dict(zip(QUESTION_PARTS, draw[:, part.places], strict=True)), pages) for draw in draws]
    )


def dose_rows(scores: ScoreTable, pages: Path, counts: Mapping[str, Counts]) -> Iterator[dict[str, Any]]:
    """Yield the dose of every knowledge base, in the order of the scores.

    Args:
        scores: with those of stage `page`.
        pages: the table of the knowledge bases' pages.
        counts: by the name of the knowledge base.
    """
    for place in scores.of_stage("page"):
        draws = scores.read(place).only(QUESTION_PARTS).draws.transpose(1, 0, 2)
        for draw, (base, replicate) in zip(draws, scores.bases(place), strict=True):
            seen = _pages(pages, base)
            words, counted = int(np.nansum(seen.pop("words"))), counts.get(base, Counts())
            draw = np.where(scores.questions.counted, draw, np.nan)  # as in every mean
            made = asdict(aggregated(dict(zip(QUESTION_PARTS, draw, strict=True)), seen))
            made |= {"edits_per_100_words": 100 * counted.edits / words if words else 0.0, **asdict(counted)}
            about = {name: getattr(place, name) for name in ("condition", "noise", "knob", "knob_value")}
            yield {"kb": base, "replicate": replicate, **about, **made}


def _pages(pages: Path, kb: str) -> dict[str, Floats]:
    """Return a knowledge base's columns of pages; their distances are undefined where nobody asked for them."""
    held = read_columns(pages, ["empty", "words"], kb=kb)
    columns = {name: np.array(held[name].to_pylist(), dtype=float) for name in held.column_names}
    measured = pages.with_name(f"{STATISTICS}.parquet")
    distances = [name for name in PAGE_PARTS if name not in columns]
    if measured.is_file() and pages.name == "pages.parquet":
        table = read_columns(measured, distances, kb=kb)
        return columns | {name: np.array(table[name].to_pylist(), dtype=float) for name in distances}
    return columns | {name: np.full(len(held), np.nan) for name in distances}
