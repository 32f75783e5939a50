"""The table of repeats: conditions that were run twice, and draws of one noise, compared with each other."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from ohr.results.score_arrays import Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES
from ohr.results.tables.table_files import Tables
from ohr.statistics.comparison import aa_share


def write_repeats(scores: ScoreTable, headline: Mapping[str, str], repeats: Mapping[str, str], tables: Tables) -> None:
    """Append the rows of `repeats`: differences that must be nothing, or nothing but the chance of a draw.

    Args:
        scores: of the run.
        headline: stage to metric.
        repeats: condition to the condition that it repeats.
        tables: to append to.
    """
    rows = [*_copies(scores, headline, repeats), *_draws(scores, headline)]
    tables.append_rows("repeats", rows)


def _copies(scores: ScoreTable, headline: Mapping[str, str], repeats: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Compare each copy with its original: every score must be equal, or a stage is not deterministic."""
    for place in scores.places:
        if place.stage not in STAGES or place.condition not in repeats:
            continue
        original = next(o for o in scores.pipelines[place.pipeline] if o.condition == repeats[place.condition])
        metric = headline[place.stage]
        first, second = (scores.read(one).only([metric]).values[0] for one in (original, place))
        apart = np.abs(np.where(np.isnan(first) & np.isnan(second), 0.0, first - second))
        apart = np.where(np.isnan(apart), 1.0, apart)  # defined on one side only
        yield _row(original, metric, "twice", 1, float((apart > 0).any()), float(apart.max()), int((apart > 0).sum()))


def _draws(scores: ScoreTable, headline: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Compare the draws of each noise: of their intervals about one in twenty misses 0."""
    part = scores.questions.part("evidence_source", ALL)
    for place in scores.places:
        if place.stage not in STAGES:
            continue
        metric = headline[place.stage]
        draws = scores.read(place).only([metric]).draws[0][:, part.places]
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
    about = {name: getattr(place, name) for name in ("stage", "condition", "chunker", "retriever", "generator")}
    found = {"pairs": pairs, "missed": missed, "largest": largest, "scores_that_differ": differ}
    return {**about, "metric": metric, "kind": kind, **found}
