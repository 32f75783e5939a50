"""Floors and ceilings of a cell's scores: what needs no reading, and what noise cannot take."""

from collections.abc import Sequence
from math import nan

import numpy as np

from ohr.metrics.floors import CEILINGS, CONSTANT, FLOORS
from ohr.results.score_arrays import Flags, Floats, Place, ScoreTable, over_draws
from ohr.results.tables.groups import STAGES


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
