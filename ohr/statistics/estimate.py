"""Estimates: values with their intervals, and how means of scores are bounded."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from ohr.statistics.clusters import Clusters, Floats, LeftOut

NO_INTERVAL = 5
"""With fewer documents than this there is no interval."""
FEW = 10
"""With fewer effective documents than this an interval is marked."""
CHANGED = 8
"""A difference with fewer changed documents than this has an interval made from its losses and gains."""
CARRYING = 4
"""Where fewer effective documents than this, and than half of all, carry a mean, its error cannot be seen in them.

Means of .01, .02 and .98 of U-shaped scores were covered 82% at 10 documents without this, and are 97% with it; with 3
it is 89% at 60 documents, with 5 means of .05 get wider intervals that they do not need.
"""
SAME = 1e-9
"""Scores that differ by less than this are equal: a mean over draws differs from the scores by rounding."""

POINTS_ONLY, FEW_DOCUMENTS, FEW_CHANGED = "points only", "few documents", "few documents changed"
"""Notes of an estimate."""

STILL = 1e-18
"""A variance below this is that of rounding."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions, or a quantity made of such means, with its interval.

    Args:
        low: lower end of the interval; nan, like `high`, `se` and `df`, where there is none.
        n: questions in the mean.
        failed: how many of them failed and are in it as 0.
        documents: G, documents that these questions are about.
        effective_documents: G* = G / (1 + CV^2), with CV that of the questions per document.
        note: `points only`, `few documents`, `few documents changed` or empty.
        undefined: values that were nan and are not in the mean.
        interval: how the interval was made: `logit`, `near edge`, `edge`, `t`, `rare`, or empty where there is none.
        changed: of a difference, the documents in which some question differs; -1 of anything else.
        p: of a difference, the two-sided p value of no difference; nan of anything else, and where nothing differs.
        wide_low: of a difference, the lower end of the interval that holds together with those of a family; nan, as is
            `wide_high`, of anything else.
    """

    mean: float
    low: float
    high: float
    se: float
    n: int
    failed: int
    documents: int
    effective_documents: float
    df: float
    note: str
    undefined: int = 0
    interval: str = ""
    changed: int = -1
    p: float = nan
    wide_low: float = nan
    wide_high: float = nan


def quantile(probability: float, df: Any) -> Any:
    """Quantile of Student's t; df may be an array."""
    from scipy.special import stdtrit

    return stdtrit(df, probability)


NOTHING = Estimate(nan, nan, nan, nan, 0, 0, 0, 0.0, nan, POINTS_ONLY)
"""The estimate of no scores: nan throughout."""


def by_pattern(
    values: Floats, clusters: Clusters, estimate: Callable[[Floats, Clusters], list[Estimate]]
) -> list[Estimate]:
    """Estimate rows; those that are undefined for the same questions make one table."""
    undefined = np.isnan(values)
    found: dict[int, Estimate] = {}
    rows: dict[bytes, list[int]] = defaultdict(list)
    for row, pattern in enumerate(undefined):
        rows[pattern.tobytes()].append(row)  # many times as fast as `np.unique` of rows
    for same in rows.values():
        pattern, table, mine = undefined[same[0]], values[same], clusters
        if pattern.any():
            kept = np.flatnonzero(~pattern)
            table = np.take(table, kept, axis=1)
            mine = clusters.among(kept)
        made = estimate(table, mine) if table.shape[1] else [NOTHING] * len(same)
        if missing := int(pattern.sum()):
            made = [replace(one, undefined=missing) for one in made]
        found |= dict(zip(same, made, strict=True))
    return [found[place] for place in range(len(values))]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Means of scores with their errors and the ends of their intervals, (rows,) each."""

    mean: Floats
    variance: Floats
    df: Floats
    low: Floats
    high: Floats
    how: list[str]


def bounds(left: LeftOut, means: Floats, without: Floats, level: float) -> Bounds:
    """Bound means of scores in [0, 1]: on the logit scale, and where nothing varies at an end by a binomial bound."""
    variance, df = left.error(without)
    return bounded(means, variance, df, left.clusters.independent, level)


def bounded(means: Floats, variance: Floats, df: Floats, worth: float, level: float) -> Bounds:
    """Bound means whose errors are known; `worth` is how many independent questions are behind them."""
    from scipy.special import expit, logit

    inside = (means > 0) & (means < 1) & (variance > STILL)
    safe = np.where(inside, means, 0.5)
    reach = quantile(0.5 + level / 2, df) * np.sqrt(variance) / (safe * (1 - safe))
    edge = ((1 - level) / 2) ** (1 / worth)
    low = np.where(inside, expit(logit(safe) - reach), np.where(means >= 1, edge, means))
    high = np.where(inside, expit(logit(safe) + reach), np.where(means <= 0, 1 - edge, means))
    how = np.where(inside, "logit", np.where((means <= 0) | (means >= 1), "edge", ""))
    return Bounds(means, variance, df, low, high, how.tolist())


def rescaled(mean: float, ends: tuple[float, float], df: float, how: str, critical: float) -> tuple[float, float]:
    """Return a 95% interval with another critical value in place of the quantile of t, on the scale it was made on.

    With the critical value of `ohr.statistics.summaries.simultaneous`, the intervals of a curve hold together.

    Args:
        mean: of scores.
        ends: of its interval.
        df: its degrees of freedom.
        how: `logit`, `near edge`, `edge` or `t`, as in `Estimate`.
        critical: standard errors from the mean to either end.

    Edge cases: nan where there is no interval, or no critical value; never narrower than the interval is.
    """
    from scipy.special import expit, logit, stdtr

    low, high = ends
    ratio = max(1.0, critical / float(quantile(0.975, df)))
    if np.isnan([mean, low, high, critical, df]).any() or not how:
        return nan, nan
    if how in ("logit", "near edge"):
        center = logit(mean)
        return float(expit(center - ratio * (center - logit(low)))), float(
            expit(center + ratio * (logit(high) - center))
        )
    if how == "edge":  # a binomial bound: the probability beyond it is that beyond the critical value
        power = max(1.0, float(np.log(stdtr(df, -critical)) / np.log(0.025)))
        return (low**power, high) if mean >= 1 else (low, 1 - (1 - high) ** power)
    half = ratio * max(mean - low, high - mean)  # the ends are cut at -1 and 1, at most one of them
    return max(mean - half, -1.0), min(mean + half, 1.0)


def points(table: Floats, clusters: Clusters) -> list[Estimate]:
    """Average (rows, n) values without intervals."""
    n, size, effective = table.shape[1], len(clusters.counts), clusters.effective
    return [
        Estimate(float(mean), nan, nan, nan, n, 0, size, effective, nan, POINTS_ONLY) for mean in table.mean(axis=1)
    ]


def estimates(found: Bounds, n: int, clusters: Clusters) -> list[Estimate]:
    """Return bounded means of n questions as estimates."""
    size, effective = len(clusters.counts), clusters.effective
    note = FEW_DOCUMENTS if effective < FEW else ""
    columns = (found.mean, found.low, found.high, np.sqrt(found.variance), found.df)
    return [
        Estimate(mean, low, high, se, n, 0, size, effective, df, note, 0, how)
        for mean, low, high, se, df, how in zip(*(column.tolist() for column in columns), found.how, strict=True)
    ]
