"""The table of curves: what a noise does to a pipeline in one number, and noises and pipelines compared."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isinf, isnan, nan
from typing import Any

import numpy as np

from ohr.metrics.dose import DAMAGED
from ohr.results.derived.pairs import ScoredRun, floors_and_ceilings
from ohr.results.score_arrays import CellScores, Floats, Part, Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES
from ohr.statistics.clusters import Clusters
from ohr.statistics.curves import COVERING, levels_around, uncovered
from ohr.statistics.estimate import NO_INTERVAL, Estimate
from ohr.statistics.intervals import clustered_means
from ohr.statistics.summaries import (
    Axis,
    Ranged,
    crossing,
    curve_area,
    curve_difference,
    curve_r50,
    equal_score,
    simultaneous,
    slope,
)

GROUPS = (ALL, "text", "multimodal", "reading_order")
SPAN: Mapping[str, tuple[float, float]] = {"r_noise_clean": (0.10, 0.60), "evidence_loss": (0.0, 0.30)}
"""Doses over which areas are taken, so that those of different runs can be compared.

Both are 0 on the clean text. r_noise is not: a ground truth may itself lack evidence, 11% of OHRBench's, and no curve
then starts where another does.
"""


@dataclass(frozen=True)
class _Curve:
    """One pipeline under the levels of one noise, the clean text first: (levels, questions) each.

    Args:
        places: the clean cell, then those of the levels; an OCR engine without a sweep has two.
    """

    noise: str
    noise_type: str
    places: tuple[Place, ...]
    scores: Floats
    floors: Floats
    axes: Mapping[str, Axis]

    @property
    def is_sweep(self) -> bool:
        """Whether the noise has several levels."""
        return len(self.places) > 2


def curve_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `curves`, of each stage's headline metric."""
    scores, headline = run.scores, run.choices.headline
    damage = {place.condition: scores.read(place).only(_PARTS) for place in scores.of_stage("page")}
    by_stage: dict[str, list[list[_Curve]]] = defaultdict(list)
    for pipeline, places in scores.pipelines.items():
        if pipeline[0] in STAGES:
            stage = str(pipeline[0])
            by_stage[stage].append(list(_curves(scores, places, headline[stage], damage)))
    for stage, pipelines in by_stage.items():
        for group in GROUPS:
            part = scores.questions.part("evidence_source", group)
            if part.places.size:
                mine = [[_among(curve, part) for curve in curves] for curves in pipelines]
                about = {"metric": headline[stage], "group": group}
                yield from ({**about, **row} for row in _rows(mine, part.clusters))


_PARTS = ("damaged", "lcs_kb", "lcs_gt")


def _curves(
    scores: ScoreTable, places: Sequence[Place], metric: str, damage: Mapping[str, CellScores]
) -> Iterator[_Curve]:
    """Yield the curves of a pipeline, each with the clean cell as its first level."""
    clean = scores.clean(places[0])
    if clean is None or clean.condition not in damage or metric not in scores.read(clean).metrics:
        return  # an agent has no headline score of retrieval
    noises: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        if place.noise_type != "none" and place.condition in damage:
            noises[place.noise].append(place)
    for noise, levels in noises.items():
        chosen = (clean, *levels)
        cells = [scores.read(place).only([metric]).values[0] for place in chosen]
        floors = [floors_and_ceilings(scores, place, [metric])[0][0] for place in chosen]
        held = [damage[place.condition] for place in chosen]
        yield _Curve(
            noise,
            levels[0].noise_type,
            chosen,
            np.stack(cells),
            np.stack(floors),
            {"r_noise_clean": _damage(held), "evidence_loss": _loss(held)},
        )


def _damage(cells: Sequence[CellScores]) -> Axis:
    """Return the axis of damage: how much of the evidence that the clean text holds is whole at each level."""
    truth = cells[0].values[2]
    whole = np.where(np.isnan(truth), nan, truth > DAMAGED)
    return Axis(np.stack([whole * (1 - cell.values[0]) for cell in cells]), whole)


def _loss(cells: Sequence[CellScores]) -> Axis:
    """Return the axis of evidence loss: what each draw keeps of the clean text's share, averaged over draws."""
    truth = cells[0].values[2]
    kept = []
    for cell in cells:
        draws = np.minimum(cell.draws[1], cell.draws[2])
        with np.errstate(invalid="ignore"):
            kept.append(draws.mean(axis=0))
    return Axis(np.stack(kept), truth)


def _among(curve: _Curve, part: Part) -> _Curve:
    chosen = part.places
    axes = {
        name: Axis(axis.columns[:, chosen], None if axis.held is None else axis.held[chosen])
        for name, axis in curve.axes.items()
    }
    return _Curve(curve.noise, curve.noise_type, curve.places, curve.scores[:, chosen], curve.floors[:, chosen], axes)


def _rows(pipelines: Sequence[Sequence[_Curve]], clusters: Clusters) -> Iterator[dict[str, Any]]:
    """Yield the summaries of each curve, and of pairs of noises, of systems, and of an engine and a noise."""
    for curve in (curve for curves in pipelines for curve in curves if curve.is_sweep):
        yield _row(curve, "", "critical", _critical(curve, clusters))
    for axis in SPAN:
        for curves in pipelines:
            yield from _of_pipeline(curves, axis, clusters)
        for first, second in combinations(pipelines, 2):
            yield from _crossings(first, second, clusters, axis)


def _of_pipeline(curves: Sequence[_Curve], axis: str, clusters: Clusters) -> Iterator[dict[str, Any]]:
    """Yield the summaries of one pipeline's curves, of pairs of them, and of its engines beside them."""
    sweeps, span = [curve for curve in curves if curve.is_sweep], SPAN[axis]
    with_area = []
    for curve in sweeps:
        x, floors = curve.axes[axis], np.where(np.isnan(curve.floors).all(axis=0), 0.0, curve.floors)
        mean = curve_area(x, curve.scores, floors, clusters, *span)
        yield _row(curve, axis, "area", replace(mean, note=_about_area(mean, curve, axis, clusters)), span)
        yield _row(curve, axis, "slope", slope(x, curve.scores, clusters))
        yield _row(curve, axis, "r50", curve_r50(x, curve.scores, floors, clusters))
        with_area += [] if isnan(mean.mean) else [curve]
    for first, second in combinations(with_area, 2):
        less = curve_difference(first.axes[axis], first.scores, second.axes[axis], second.scores, clusters, *span)
        yield _row(first, axis, "difference", less, span, second.noise)
    for engine in (curve for curve in curves if not curve.is_sweep):
        for curve in sweeps:
            equal = equal_score(curve.axes[axis], curve.scores, engine.scores[1], clusters)
            yield _row(curve, axis, "equal_score", equal, other=engine.places[1].condition)


def _critical(curve: _Curve, clusters: Clusters) -> Estimate:
    """Return how many standard errors wide the bands are that hold together at all levels."""
    defined = np.flatnonzero(~np.isnan(curve.scores).any(axis=0))
    mine = clusters.among(defined) if defined.size else clusters
    found = clustered_means(curve.scores[:1], clusters)[0]
    wide = simultaneous(curve.scores[:, defined], mine) if len(mine.counts) >= NO_INTERVAL and defined.size else nan
    return replace(found, mean=wide, low=nan, high=nan, se=nan, interval="")


def _crossings(one: Sequence[_Curve], two: Sequence[_Curve], clusters: Clusters, axis: str) -> Iterator[dict[str, Any]]:
    others = {curve.noise: curve for curve in two}
    for curve in (curve for curve in one if curve.is_sweep and curve.noise in others):
        other = others[curve.noise]
        if [place.condition for place in curve.places] == [place.condition for place in other.places]:
            names = (other.places[0].chunker, other.places[0].retriever, other.places[0].generator)
            meets = crossing(curve.axes[axis], curve.scores, other.scores, clusters)
            yield _row(curve, axis, "crossing", meets, other=" / ".join(filter(None, names)))


def _about_area(mean: Estimate, curve: _Curve, name: str, clusters: Clusters) -> str:
    """Return why a curve has no area over an axis, or from how few levels it is."""
    axis, span = curve.axes[name], SPAN[name]
    defined = np.flatnonzero(~np.isnan(np.concatenate([axis.rows, curve.scores])).any(axis=0))
    if not defined.size:
        return "no question is scored at every level"
    left = clusters.among(defined).left_out(axis.rows[:, defined])
    whole = axis.doses(left.whole)
    if reason := uncovered(whole, *span):
        return reason
    if not isnan(mean.mean):
        few = f"from {COVERING} levels" if levels_around(whole, *span) == COVERING else ""
        return "; ".join(filter(None, (mean.note, few)))
    for without in left.without.T:
        if reason := uncovered(axis.doses(without), *span):
            return f"without one of the documents: {reason}"
    return "clean text does not always score above its floor"


def _row(
    curve: _Curve,
    axis: str,
    quantity: str,
    value: Estimate | Ranged,
    ends: tuple[float, float] = (nan, nan),
    other: str | None = None,
) -> dict[str, Any]:
    place = curve.places[1]
    found, *range_ = value if isinstance(value, Ranged) else (value, nan, nan)
    return {
        **{
            name: getattr(place, name) for name in ("stage", "noise", "noise_type", "chunker", "retriever", "generator")
        },
        "axis": axis,
        "quantity": quantity,
        "other": other,
        "value": found.mean,
        **{name: getattr(found, name) for name in ("low", "high", "se", "df", "interval", "n", "documents")},
        "range_low": range_[0],
        "range_high": range_[1],
        "from": ends[0],
        "to": ends[1],
        "levels": len(curve.places),
        "note": "beyond the largest dose" if isinf(found.mean) else found.note,
    }
