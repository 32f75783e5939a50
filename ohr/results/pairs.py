"""Pairs of scores: which questions are compared, and whether too many of them failed for a verdict."""

from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from ohr.results.reading import plain, read_columns
from ohr.results.scores import Floats, Place
from ohr.statistics.comparison import Comparison

MOST_FAILED = 0.1
"""Share of the pairs that may have failed on a side: beyond it, a difference measures the failures."""
FEWEST_ANSWERED = 0.5
"""Share of the clean side's questions that must have an answer: below it, noise finds nothing to take away."""
FAILED = "failed"
"""The verdict on a comparison of which too much failed."""

_CELL = ("stage", "condition", "chunker", "retriever", "generator")


def paired(*sides: Floats) -> Floats:
    """Return (sides, ..., questions) scores, undefined on all sides where one is; `Questions.part` has the rest."""
    stacked = np.stack(sides)
    return np.where(np.isnan(stacked).any(axis=0), nan, stacked)


def verdict(found: Comparison, failed: int, *, answered: bool = True) -> str:
    """Return the verdict on a comparison; `failed` where there can be none.

    Args:
        found: the comparison.
        failed: pairs of which a side failed, and scored 0.
        answered: the first side has answers enough, as `unanswered` says.
    """
    return FAILED if failed > MOST_FAILED * found.difference.n or not answered else found.verdict


class Answered:
    """Reports which cells of a run have answers.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._shares = _shares(folder / "answers.parquet")

    def enough(self, place: Place | None) -> bool:
        """Report whether a cell has an answer to at least FEWEST_ANSWERED of its questions; true without answers."""
        cell = tuple(getattr(place, name) for name in _CELL) if place else ()
        return self._shares.get(cell, 1.0) >= FEWEST_ANSWERED


def _shares(path: Path) -> Mapping[tuple[Any, ...], float]:
    """Return the share of a cell's answers that have a text; an answer that failed counts as a failure, not here."""
    import pyarrow.compute as pc

    if not path.is_file():
        return {}
    answers = plain(read_columns(path, [*_CELL, "answer", "error"]))
    there = pc.or_(
        pc.is_valid(answers["error"]), pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(answers["answer"])), 0)
    )
    whole = answers.append_column("there", pc.fill_null(there, False))
    shares = whole.group_by(list(_CELL)).aggregate([("there", "mean")]).to_pylist()
    return {tuple(row[name] for name in _CELL): row["there_mean"] for row in shares}
