"""Pairs of scores: which questions are compared, and whether too many of them failed for a verdict."""

from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from ohr.metrics.references import CEILINGS, CONSTANT, FLOORS
from ohr.results.run import Run
from ohr.results.score_arrays import Flags, Floats, Place, ScoreTable, over_draws
from ohr.results.tables.groups import ALL, STAGES
from ohr.results.tables.read_table import plain
from ohr.results.tables.schema import CELL_NAME
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import Comparison
from ohr.statistics.intervals import clustered_means

MOST_FAILED = 0.1
"""Share of the pairs that may have failed on a side: beyond it, a difference measures the failures."""
FEWEST_ANSWERED = 0.5
"""Share of the clean side's questions that must have an answer: below it, noise finds nothing to take away."""
FAILED = "failed"
"""The verdict on a comparison of which too much failed."""
FLOOR = "floor"
"""The verdict on a comparison of scores that hardly leave their floor: they have nothing to lose."""
LOW = 5
"""Margins above its floor below which a score is low: where it is also not shown to be one margin above it, what a
comparison leaves open, or calls the same, says nothing of noise. A judgment, that of `repair` with a bound added."""


class ScoredRun:
    """A run with its scores as arrays: what the rows of derived tables are made of."""

    def __init__(self, run: Run) -> None:
        self.run, self.choices = run, run.choices

    @cached_property
    def scores(self) -> ScoreTable:
        """Its table of scores."""
        return ScoreTable.of(self.run)

    @cached_property
    def silent(self) -> Set[tuple[Any, ...]]:
        """Its cells without answers."""
        return silent_cells(self.run)

    def headlines(self) -> Iterator[tuple[Place, str]]:
        """Yield the cells of the stages that a spec evaluates, each with the stage's headline metric."""
        for place in self.scores.places:
            if place.stage in STAGES:
                yield place, self.choices.headline[place.stage]


def paired(*sides: Floats) -> Floats:
    """Return (sides, ..., questions) scores, undefined on all sides where one is; `Questions.part` has the rest."""
    stacked = np.stack(sides)
    return np.where(np.isnan(stacked).any(axis=0), nan, stacked)


def verdict(found: Comparison, failed: int, *, answered: bool = True, low: bool = False) -> str:
    """Return the verdict on a comparison; `failed` or `floor` where there can be none.

    Args:
        found: the comparison.
        failed: pairs of which a side failed, and scored 0.
        answered: the first side is none of `silent_cells`.
        low: the first side is near its floor (`near_floor`).
    """
    if failed > MOST_FAILED * found.difference.n or not answered:
        return FAILED
    return FLOOR if low and found.verdict in ("open", "same") else found.verdict


def too_much_failed(scores: ScoreTable, place: Place, metric: str) -> bool:
    """Report whether too many questions of a cell, or of what it is compared with, failed for a verdict."""
    part = scores.questions.part("evidence_source", ALL)
    cells = [scores.read(at).only([metric]).failed[0][part.places] for at in (place, scores.reference(place)) if at]
    return any(failed.mean() > MOST_FAILED for failed in cells)


def near_floor(scores: Floats, floors: Floats, clusters: Clusters, margin: float) -> Flags:
    """Report which (rows, n) scores are too near their floors for a verdict; nan is no floor, which counts as 0.

    Args:
        scores: of the first side; nan is left out.
        floors: of the same cells.
        clusters: of the n questions.
        margin: difference of a score that matters.
    """
    above = clustered_means(scores - np.nan_to_num(floors), clusters)
    return np.array([one.mean < LOW * margin and not one.low > margin for one in above])


def silent_cells(run: Run) -> Set[tuple[Any, ...]]:
    """Return the cells of a run, as `cell_of` names them, that have fewer answers than FEWEST_ANSWERED.

    An answer that failed counts as a failure, not here.
    """
    import pyarrow.compute as pc

    if not run.has("answers"):
        return frozenset()
    answers = plain(run.table("answers", [*CELL_NAME, "answer", "error"]))
    if not len(answers):  # then none of what groups rows is imported
        return frozenset()
    has_text = pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(answers["answer"])), 0)
    answered = pc.fill_null(pc.or_(pc.is_valid(answers["error"]), has_text), False)
    shares = answers.append_column("answered", answered).group_by(list(CELL_NAME)).aggregate([("answered", "mean")])
    return {tuple(row[n] for n in CELL_NAME) for row in shares.to_pylist() if row["answered_mean"] < FEWEST_ANSWERED}


def cell_of(place: Place | None) -> tuple[Any, ...]:
    """Return the name of a cell: its stage, condition, chunker, retriever and generator."""
    return tuple(place.named.values()) if place else ()


def floors_and_ceilings(scores: ScoreTable, place: Place, metrics: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the scores whose means are the floors and the ceilings of a cell, (metrics, questions) each.

    The floor of a retrieval is a metric of its own, and its ceiling what the clean text gives. The floor of answers is
    the best of those without a document: chosen once for all questions, as the best of each group would fit noise, and
    be above what anyone could score.

    Args:
        scores: of the run.
        place: the cell.
        metrics: of which to return them.

    Edge cases: nan where there is none.
    """
    undefined = np.full((len(metrics), len(scores.questions.ids)), nan)
    if place.stage == "retrieval":
        clean = scores.clean(place)
        ceiling = undefined if clean is None else scores.read(clean).only(metrics).values
        return scores.read(place).only([f"{metric}_floor" for metric in metrics]).values, ceiling
    if place.stage not in STAGES:
        return undefined, undefined
    asked = [other for g in (place.generator, None) for other in scores.pipelines.get(("reference", None, None, g), ())]
    known = {other.condition: scores.read(other).only(metrics).values for other in asked}
    floors = [known[name] for name in (*FLOORS, CONSTANT) if name in known]
    floor = _best(floors, scores.questions.counted, undefined)
    return floor, next((known[name] for name in CEILINGS if name in known), undefined)


def _best(floors: Sequence[Floats], counted: Flags, undefined: Floats) -> Floats:
    """Return, for each metric, the floor that is best over all questions."""
    if not floors:
        return undefined
    means = np.stack([over_draws(floor[:, counted].T) for floor in floors])
    chosen = np.where(np.isnan(means), -np.inf, means).argmax(axis=0)
    return np.stack([floors[floor][row] for row, floor in enumerate(chosen)])
