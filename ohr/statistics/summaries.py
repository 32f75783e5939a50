"""Summaries of curves with their errors: each document left out moves doses, scores and floors together."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan, nan

import numpy as np

from ohr.statistics.clusters import Clusters, Floats
from ohr.statistics.curves import TWO_ENDS, area, first_zero, r50, retention
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import FEW, FEW_DOCUMENTS, NO_INTERVAL, Estimate, quantile

INDEPENDENT = 15
"""With fewer effective documents, correlations are too uncertain for a simultaneous band: Bonferroni's is wider."""

_DRAWS = 20_000  # of the maximum of correlated t's: its .95 quantile then has a standard error of about .01


def curve_area(
    damage: Floats, scores: Floats, floors: Floats, clusters: Clusters, low: float, high: float, level: float = 0.95
) -> Estimate:
    """Area under retention against the dose; each document left out moves doses, scores and floors together.

    Args:
        damage: (levels, n) each question's dose; the first level is the clean one.
        scores: (levels, n) its scores.
        floors: (levels, n) its floors.
        clusters: of the n questions.
        low: start of the interval of doses.
        high: its end.
        level: of the interval.

    Edge cases: nan where `area` is nan, also without one of the documents.
    """
    count = len(damage)

    def one(m: Floats) -> float:
        x, s, f = m[:count], m[count : 2 * count], m[2 * count :]
        return area(x, retention(s, f, s[0], f[0]), low, high)

    return _estimated([damage, scores, floors], clusters, one, level)


def curve_difference(
    damage_a: Floats,
    scores_a: Floats,
    damage_b: Floats,
    scores_b: Floats,
    clusters: Clusters,
    low: float,
    high: float,
    level: float = 0.95,
) -> Estimate:
    """Difference of two noises' areas at equal dose, b less a: negative where b hurts more.

    The curves are scores relative to the clean one; floors are left out, since they move with the retriever.

    Args:
        damage_a: (levels, n) as in `curve_area`, as are the others; each noise has its own levels.
        scores_a: (levels, n).
        damage_b: (levels, n).
        scores_b: (levels, n).
        clusters: of the n questions.
        low: start of the interval of doses, which both curves must span.
        high: its end.
        level: of the interval.
    """
    count = len(damage_a)

    def one(m: Floats) -> float:
        a, b = m[: 2 * count], m[2 * count :]
        return _relative(b, low, high) - _relative(a, low, high)

    return _estimated([damage_a, scores_a, damage_b, scores_b], clusters, one, level)


def slope(damage: Floats, scores: Floats, clusters: Clusters, level: float = 0.95) -> Estimate:
    """Least-squares slope of the score on the dose, through the means of the levels: points lost per unit of dose.

    Args:
        damage: (levels, n) each question's dose.
        scores: (levels, n) its scores.
        clusters: of the n questions.
        level: of the interval.

    Edge cases: nan where all levels have one dose.
    """
    count = len(damage)

    def one(m: Floats) -> float:
        x, s = m[:count] - m[:count].mean(), m[count:] - m[count:].mean()
        return float((x * s).sum() / (x**2).sum()) if (x**2).sum() > 0 else nan

    return _estimated([damage, scores], clusters, one, level)


def curve_r50(damage: Floats, scores: Floats, floors: Floats, clusters: Clusters) -> Estimate:
    """Amount of noise at which half is lost; `low` and `high` are its range when each document is left out.

    It jumps when a document is left out, so the jackknife gives no interval.

    Args: as in `curve_area`.
    """
    count = len(damage)

    def one(m: Floats) -> float:
        x, s, f = m[:count], m[count : 2 * count], m[2 * count :]
        return r50(x, retention(s, f, s[0], f[0]))

    return _ranged([damage, scores, floors], clusters, one)


def equal_score(damage: Floats, scores: Floats, engine: Floats, clusters: Clusters) -> Estimate:
    """Amount of a noise at which its curve has an engine's score: the engine's effective dose, by that noise.

    The curve is made to fall (isotonic least squares) and read by linear interpolation; `low` and `high` are the range
    when each document is left out.

    Args:
        damage: (levels, n) as in `curve_area`, as are the scores.
        scores: (levels, n).
        engine: (n,) the engine's scores of the same questions.
        clusters: of the n questions.

    Edge cases: inf where the engine's score is below that of every level; the least dose where it is above all.
    """
    count = len(damage)
    return _ranged(
        [damage, scores, engine[None, :]], clusters, lambda m: r50(m[:count], m[count : 2 * count], float(m[-1]))
    )


def crossing(damage: Floats, scores_a: Floats, scores_b: Floats, clusters: Clusters) -> Estimate:
    """Smallest amount of one noise at which two systems' curves cross; `low` and `high` are its range.

    Args:
        damage: (levels, n) the noise's doses.
        scores_a: (levels, n) one system's scores.
        scores_b: (levels, n) the other's, on the same knowledge bases.
        clusters: of the n questions.

    Edge cases: inf where they never cross.
    """
    count = len(damage)
    return _ranged(
        [damage, scores_a, scores_b], clusters, lambda m: first_zero(m[:count], m[count : 2 * count] - m[2 * count :])
    )


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


def _relative(m: Floats, low: float, high: float) -> float:
    half = len(m) // 2
    x, s = m[:half], m[half:]
    return area(x, s / s[0], low, high, TWO_ENDS) if s[0] > 0 else nan


def _estimated(parts: list[Floats], clusters: Clusters, one: Callable[[Floats], float], level: float) -> Estimate:
    return of_means(np.concatenate(parts), clusters, {"": lambda m: _each(one, m)}, level)[""]


def _each(one: Callable[[Floats], float], m: Floats) -> float | Floats:
    """Apply a function of the means to (columns,), or to each column of (columns, documents)."""
    return one(m) if m.ndim == 1 else np.array([one(without) for without in m.T])


def _ranged(parts: list[Floats], clusters: Clusters, one: Callable[[Floats], float]) -> Estimate:
    """Return a value with its range over the documents left out, in place of an interval."""
    columns = np.concatenate(parts)
    defined = ~np.isnan(columns).any(axis=0)
    plain = of_means(columns, clusters, {"": lambda m: _each(one, m) if m.ndim == 1 else np.full(m.shape[1], nan)})[""]
    if not defined.any() or plain.documents < NO_INTERVAL:
        return plain
    left = clusters.among(np.flatnonzero(defined)).left_out(columns[:, defined])
    value, found = one(left.whole), [one(without) for without in left.without.T]
    note = FEW_DOCUMENTS if plain.effective_documents < FEW else ""
    ends = [item for item in found if not isnan(item)] or [nan]
    return replace(plain, mean=value, low=min(ends), high=max(ends), note=note, interval="range")
