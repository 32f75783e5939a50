"""The table of repeats: conditions that were run twice, and draws of one noise, compared with each other."""

from collections.abc import Iterator
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from ohr.results.derived.pairs import ScoredRun
from ohr.results.score_arrays import Place
from ohr.results.tables.groups import ALL
from ohr.statistics.comparison import aa_share


def repeat_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `repeats`: differences that must be nothing, or nothing but the chance of a draw."""
    yield from _copies(run)
    yield from _draws(run)


def _copies(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Compare each copy with its original: every score must be equal, or a stage is not deterministic."""
    scores, repeats = run.scores, run.choices.repeats
    for place, metric in run.headlines():
        if place.condition not in repeats:
            continue
        original = next(o for o in scores.pipelines[place.pipeline] if o.condition == repeats[place.condition])
        first, second = (scores.read(one).only([metric]).values[0] for one in (original, place))
        apart = np.abs(np.where(np.isnan(first) & np.isnan(second), 0.0, first - second))
        apart = np.where(np.isnan(apart), 1.0, apart)  # defined on one side only
        yield _row(original, metric, "twice", 1, float((apart > 0).any()), float(apart.max()), int((apart > 0).sum()))


def _draws(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Compare the draws of each noise: of their intervals about one in twenty misses 0."""
    part = run.scores.questions.part("evidence_source", ALL)
    for place, metric in run.headlines():
        draws = run.scores.read(place).only([metric]).draws[0][:, part.places]
        if len(draws) > 1:
            means = [float(np.nanmean(draw)) if not np.isnan(draw).all() else np.nan for draw in draws]
            pairs = list(combinations(range(len(draws)), 2))
            largest = max(abs(means[a] - means[b]) for a, b in pairs)
            missed = aa_share(draws, part.clusters)
            if isnan(missed):  # too few documents for an interval
                continue
            differ = sum(int((np.nan_to_num(draws[a] - draws[b]) != 0).sum()) for a, b in pairs)
            yield _row(place, metric, "draws", len(pairs), missed, largest, differ)


def _row(
    place: Place, metric: str, kind: str, pairs: int, missed: float, largest: float, differ: int
) -> dict[str, Any]:
    found = {"pairs": pairs, "missed": missed, "largest": largest, "scores_that_differ": differ}
    return {**place.named, "metric": metric, "kind": kind, **found}
