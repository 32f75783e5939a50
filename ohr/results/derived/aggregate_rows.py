"""The table `aggregates`: numbers of a benchmark's protocol that are more than the mean of one metric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isnan, nan
from typing import Any

import numpy as np

from ohr.contracts import Aggregate
from ohr.results.derived.pairs import ScoredRun
from ohr.results.score_arrays import Flags, Floats, Questions
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import NOTHING, Estimate
from ohr.statistics.intervals import clustered_means


def aggregate_rows(
    run: ScoredRun, aggregates: Sequence[Aggregate], faults: dict[str, None]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `aggregates`: those of each cell that has their metrics, also relative to the clean cell.

    Args:
        run: whose scores they are made of.
        aggregates: of its benchmark.
        faults: is given sentences about those that could not be computed, which are undefined.
    """
    scores = run.scores
    for place in (place for place in scores.places if place.stage != "reference"):
        cell, clean = scores.read(place), scores.baseline(place)
        mine = [one for one in aggregates if all(part.metric in cell.metrics for part in one.parts)]
        other = scores.read(clean) if mine and clean not in (None, place) else None
        values = dict(zip(cell.metrics, cell.values, strict=True))
        failed = dict(zip(cell.metrics, cell.failed, strict=True))
        before = dict(zip(other.metrics, other.values, strict=True)) if other else {}
        of = clean.condition if clean and other else None
        exact = place.stage == "page" and place.noise_type == "none"  # by construction, as in the summary
        for one in mine:
            try:
                row = _row(one, values, failed, before, scores.questions)
            except (Exception, SystemExit) as error:  # a plugin's formula may raise anything: its number is undefined
                faults[f"{one.name}: {type(error).__name__}: {error}"] = None
                undefined = replace(one, combine=lambda means, _: np.full(np.shape(means)[1:], nan), ratio=False)
                row = _row(undefined, values, failed, {}, scores.questions)
            if exact and row["interval"] == "edge":
                row |= {"low": nan, "high": nan, "interval": ""}
            yield {**place._asdict(), **row, "ratio_of": of}


def aggregated(
    aggregate: Aggregate, values: Mapping[str, Floats], failed: Mapping[str, Flags], questions: Questions
) -> Estimate:
    """Compute an aggregate on one cell, with its interval over documents.

    Args:
        aggregate: what to compute.
        values: (n,) scores of all questions by metric; nan where undefined.
        failed: (n,) where they failed.
        questions: the n questions.

    Edge cases: a value that lacks a part without one of the documents has no interval.
    """
    members = [_members(part.where, questions) & ~np.isnan(values[part.metric]) for part in aggregate.parts]
    lost = sum(int(failed[part.metric][one].sum()) for part, one in zip(aggregate.parts, members, strict=True))
    if _is_mean(aggregate):  # then its interval is that of the mean, as everywhere
        part = questions.among(np.flatnonzero(members[0]))
        return clustered_means(values[aggregate.parts[0].metric][None, part.places], part.clusters, [lost])[0]
    found = _estimated(aggregate, [values], members, questions, lambda each: each[0])
    most = 1.0 if aggregate.unit == "share" else inf
    return _within(replace(found, failed=lost), 0.0 if aggregate.unit == "share" else -inf, most)


def _relative(
    aggregate: Aggregate, values: Mapping[str, Floats], clean: Mapping[str, Floats], questions: Questions
) -> Estimate:
    """Divide an aggregate by its value on the clean cell, over the questions that both define; nan where that is 0."""
    return _within(_of_both(aggregate, values, clean, questions, _ratio), 0.0, inf)


def difference(
    aggregate: Aggregate, first: Mapping[str, Floats], second: Mapping[str, Floats], questions: Questions
) -> Estimate:
    """Take an aggregate on one cell from that on another, over the questions that both define.

    Args: as in `aggregated`; `first` and `second` are the scores of the two cells.
    """
    return _of_both(aggregate, first, second, questions, lambda each: each[0] - each[1])


def _of_both(
    aggregate: Aggregate, first: Mapping[str, Floats], second: Mapping[str, Floats], questions: Questions, function: Any
) -> Estimate:
    members = [
        _members(part.where, questions) & ~np.isnan(first[part.metric]) & ~np.isnan(second[part.metric])
        for part in aggregate.parts
    ]
    return _estimated(aggregate, [first, second], members, questions, function)


def _is_mean(aggregate: Aggregate) -> bool:
    if len(aggregate.parts) != 1:
        return False
    with np.errstate(all="ignore"):
        tried = [float(_combined(aggregate, np.array([mean]), np.array([2]))) for mean in (0.25, 0.75)]
    return tried == [0.25, 0.75]


def _within(found: Estimate, least: float, most: float) -> Estimate:
    """Cut an interval at the ends of its range: a jackknife's t interval knows of none."""
    return replace(found, low=max(found.low, least), high=min(found.high, most)) if found.low == found.low else found


def _row(
    aggregate: Aggregate,
    values: Mapping[str, Floats],
    failed: Mapping[str, Flags],
    clean: Mapping[str, Floats],
    questions: Questions,
) -> dict[str, Any]:
    found = aggregated(aggregate, values, failed, questions)
    names = ("low", "high", "se", "df", "interval", "n", "failed", "documents", "note")
    row = {"name": aggregate.name, "unit": aggregate.unit, "value": found.mean, "source": aggregate.source}
    row |= {name: getattr(found, name) for name in names}
    share = _relative(aggregate, values, clean, questions) if aggregate.ratio and clean else NOTHING
    return {**row, "ratio": share.mean, "ratio_low": share.low, "ratio_high": share.high, "ratio_n": share.n}


def _estimated(
    aggregate: Aggregate,
    cells: Sequence[Mapping[str, Floats]],
    members: Sequence[Flags],
    questions: Questions,
    function: Any,
) -> Estimate:
    """Estimate a function of an aggregate's values on some cells; each part is a ratio of two means over documents."""
    counts = np.array([int(one.sum()) for one in members])
    places = np.flatnonzero(np.logical_or.reduce(members)) if members else np.array([], dtype=int)
    if not places.size:
        return NOTHING
    shares = [one[places].astype(float) for one in members]
    sums = [
        np.where(one[places], cell[part.metric][places], 0.0)
        for cell in cells
        for part, one in zip(aggregate.parts, members, strict=True)
    ]

    def value(means: Floats) -> Any:
        size, held = len(shares), means[: len(shares)]
        parts = [
            np.divide(means[start : start + size], held, out=np.full_like(held, np.nan), where=held > 0)
            for start in range(size, len(means), size)
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            return function([_combined(aggregate, part, counts) for part in parts])

    columns = np.stack([*shares, *sums])
    found = of_means(columns, questions.among(places).clusters, {"": value})[""]
    if isnan(found.mean):  # undefined without one of the documents: the value stays, without an interval
        found = replace(found, mean=float(value(columns.mean(axis=1))), interval="")
    return found


def _combined(aggregate: Aggregate, parts: Floats, counts: Any) -> Floats:
    """Return what an aggregate makes of its parts; anything but numbers of the right shape is a plugin's mistake."""
    value = np.asarray(aggregate.combine(parts, counts), dtype=float)
    if value.shape != parts.shape[1:]:
        raise ValueError(f"`combine` returned an array of shape {value.shape} for {parts.shape[1:]}")
    return np.where(np.isfinite(value), value, nan)


def _ratio(each: Sequence[Any]) -> Any:
    noisy, clean = each
    return np.where(np.asarray(clean) == 0, np.nan, noisy / np.where(np.asarray(clean) == 0, 1, clean))


def _members(where: Mapping[str, str], questions: Questions) -> Flags:
    """Return which questions have all of some values; a trait that the questions do not have is nobody's."""
    chosen = questions.counted.copy()
    for name, wanted in where.items():
        held = questions.traits.get(name)
        chosen &= np.zeros_like(chosen) if held is None else held == wanted
    return chosen
