"""Summaries of curves with their errors: each document left out moves doses, scores and floors together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from ohr.statistics.clusters import Clusters, Floats
from ohr.statistics.curves import area, first_zero, r50, retention
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import NO_INTERVAL, Estimate, quantile

INDEPENDENT = 15
"""With fewer effective documents, correlations are too uncertain for a simultaneous band: Bonferroni's is wider."""

_DRAWS = 20_000  # of the maximum of correlated t's: its .95 quantile then has a standard error of about .01


@dataclass(frozen=True)
class Axis:
    """Each question's part in the doses of some levels; the first level is the clean one.

    Args:
        columns: (levels, n) whether the question's evidence is damaged; or, with `held`, how much of it each level has.
        held: (n,) how much of it the clean text has; a dose is then the share of all evidence that is lost.
    """

    columns: Floats
    held: Floats | None = None

    @property
    def size(self) -> int:
        """Rows of `rows`."""
        return len(self.columns) + (self.held is not None)

    @property
    def rows(self) -> Floats:
        """(size, n) the columns whose means the doses are made of."""
        return self.columns if self.held is None else np.concatenate([self.columns, self.held[None, :]])

    def doses(self, means: Floats) -> Floats:
        """Return the doses, (levels,), from the means of the rows."""
        if self.held is None:
            return means
        return 1 - means[:-1] / means[-1] if means[-1] > 0 else np.full(len(means) - 1, nan)


def curve_area(
    axis: Axis, scores: Floats, floors: Floats, clusters: Clusters, low: float, high: float, level: float = 0.95
) -> Estimate:
    """Area under retention against the dose; each document left out moves doses, scores and floors together.

    Args:
        axis: the doses.
        scores: (levels, n) scores of the questions.
        floors: (levels, n) their floors.
        clusters: of the n questions.
        low: start of the interval of doses.
        high: its end.
        level: of the interval.

    Edge cases: nan where `area` is nan, also without one of the documents.
    """

    def one(x: Floats, m: Floats) -> float:
        s, f = np.split(m, 2)
        return area(x, retention(s, f, s[0], f[0]), low, high)

    return _estimated([axis], [scores, floors], clusters, one, level)


def curve_difference(
    first: Axis,
    scores: Floats,
    second: Axis,
    others: Floats,
    clusters: Clusters,
    low: float,
    high: float,
    level: float = 0.95,
) -> Estimate:
    """Difference of two noises' areas at equal dose, second less first: negative where the second hurts more.

    The curves are scores relative to the clean one; floors are left out, since they move with the retriever.

    Args:
        first: the doses of one noise.
        scores: (levels, n) the scores at its levels.
        second: the doses of the other, at levels of its own.
        others: (levels, n) the scores there.
        clusters: of the n questions.
        low: start of the interval of doses, which both curves must cover.
        high: its end.
        level: of the interval.
    """
    count = len(first.columns)

    def one(a: Floats, b: Floats, m: Floats) -> float:
        return _relative(b, m[count:], low, high) - _relative(a, m[:count], low, high)

    return _estimated([first, second], [scores, others], clusters, one, level)


def slope(axis: Axis, scores: Floats, clusters: Clusters, level: float = 0.95) -> Estimate:
    """Least-squares slope of the score on the dose, through the means of the levels: points lost per unit of dose.

    Args:
        axis: the doses.
        scores: (levels, n) scores of the questions.
        clusters: of the n questions.
        level: of the interval.

    Edge cases: nan where all levels have one dose.
    """

    def one(x: Floats, m: Floats) -> float:
        x, s = x - x.mean(), m - m.mean()
        return float((x * s).sum() / (x**2).sum()) if (x**2).sum() > 0 else nan

    return _estimated([axis], [scores], clusters, one, level)


def curve_r50(axis: Axis, scores: Floats, floors: Floats, clusters: Clusters) -> "Ranged":
    """Amount of noise at which half is lost, with its range when each document is left out.

    It jumps when a document is left out, so the jackknife gives no interval; the range is much narrower than one.

    Args: as in `curve_area`.
    """

    def one(x: Floats, m: Floats) -> float:
        s, f = np.split(m, 2)
        return r50(x, retention(s, f, s[0], f[0]))

    return _ranged(axis, [scores, floors], clusters, one)


def equal_score(axis: Axis, scores: Floats, engine: Floats, clusters: Clusters) -> "Ranged":
    """Amount of a noise at which its curve has an engine's score: the engine's effective dose, by that noise.

    The curve is made to fall (isotonic least squares) and read by linear interpolation.

    Args:
        axis: the doses.
        scores: (levels, n) scores of the questions.
        engine: (n,) the engine's scores of the same questions.
        clusters: of the n questions.

    Edge cases: inf where the engine's score is below that of every level; the least dose where it is above all.
    """
    return _ranged(axis, [scores, engine[None, :]], clusters, lambda x, m: r50(x, m[:-1], float(m[-1])))


def crossing(axis: Axis, scores: Floats, others: Floats, clusters: Clusters) -> "Ranged":
    """Smallest amount of one noise at which two systems' curves cross, with its range.

    Args:
        axis: the noise's doses.
        scores: (levels, n) one system's scores.
        others: (levels, n) the other's, on the same knowledge bases.
        clusters: of the n questions.

    Edge cases: inf where they never cross.
    """
    return _ranged(axis, [scores, others], clusters, lambda x, m: first_zero(x, np.subtract(*np.split(m, 2))))


def simultaneous(columns: Floats, clusters: Clusters, level: float = 0.95, seed: int = 0) -> float:
    """Critical value with which the intervals of all these means hold together.

    The quantile of max |T|, T multivariate t with the jackknife's correlations and the smallest degrees of freedom;
    below INDEPENDENT effective documents Bonferroni's.

    Args:
        columns: (columns, n) scores; nothing undefined.
        clusters: of the n questions.
        level: with which all intervals hold.
        seed: of the draws of T.

    Edge cases: nan where no column varies.
    """
    left = clusters.left_out(columns)
    variance, df = left.error(left.without)
    vary = np.flatnonzero(variance > 0)
    if not vary.size:
        return nan
    freedom = float(df[vary].min())
    if clusters.effective < INDEPENDENT:
        return float(quantile(1 - (1 - level) / 2 / len(vary), freedom))
    return max_t(left.correlation(vary), freedom, level, seed)


def max_t(correlation: Floats, df: float, level: float = 0.95, seed: int = 0) -> float:
    """Quantile of the largest of several |t|, by simulation."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(correlation)
    normal = rng.standard_normal((_DRAWS, len(values))) * np.sqrt(np.maximum(values, 0)) @ vectors.T
    normal /= np.sqrt(rng.chisquare(df, _DRAWS) / df)[:, None]
    return float(np.quantile(np.abs(normal).max(axis=1), level))


def _relative(x: Floats, s: Floats, low: float, high: float) -> float:
    return area(x, s / s[0], low, high) if s[0] > 0 else nan


def _estimated(
    axes: Sequence[Axis], parts: Sequence[Floats], clusters: Clusters, one: Callable[..., float], level: float
) -> Estimate:
    """Estimate a function of the doses of some axes, and of the means of further columns."""
    columns = np.concatenate([*(axis.rows for axis in axes), *parts])
    return of_means(columns, clusters, {"": lambda m: _each(_split(axes, one), m)}, level)[""]


def _split(axes: Sequence[Axis], one: Callable[..., float]) -> Callable[[Floats], float]:
    """Return a function of all means as one of each axis' doses and of the rest."""
    ends = np.cumsum([axis.size for axis in axes])

    def function(means: Floats) -> float:
        *mine, rest = np.split(means, ends)
        return one(*(axis.doses(part) for axis, part in zip(axes, mine, strict=True)), rest)

    return function


def _each(one: Callable[[Floats], float], m: Floats) -> float | Floats:
    """Apply a function of the means to (columns,), or to each column of (columns, documents)."""
    return one(m) if m.ndim == 1 else np.array([one(without) for without in m.T])


class Ranged(NamedTuple):
    """A value without an interval, and how far it moves when each document is left out.

    `low` and `high` are the smallest and the largest value without one of the documents; nan with fewer than 5.
    """

    value: Estimate
    low: float
    high: float


def _ranged(axis: Axis, parts: Sequence[Floats], clusters: Clusters, one: Callable[[Floats, Floats], float]) -> Ranged:
    values: list[float] = []
    whole = _split([axis], one)

    def noted(m: Floats) -> float | Floats:
        each = _each(whole, m)
        values.extend(np.atleast_1d(each))
        return each if m.ndim == 1 else np.zeros(m.shape[1])  # the range is reported, not an error

    estimate = of_means(np.concatenate([axis.rows, *parts]), clusters, {"": noted})[""]
    estimate = replace(estimate, low=nan, high=nan, se=nan, df=nan, interval="")
    ends = [float(value) for value in values[1:] if not isnan(value)]
    if estimate.documents < NO_INTERVAL or not ends:
        return Ranged(estimate, nan, nan)
    return Ranged(replace(estimate, mean=values[0]), min(ends), max(ends))
