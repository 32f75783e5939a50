"""Verdicts on differences: found, too small to matter, or open; families of them, and A/A checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan
from typing import Literal

import numpy as np

from ohr.statistics.clusters import Clusters, Floats
from ohr.statistics.estimate import CHANGED, NO_INTERVAL, Estimate, quantile
from ohr.statistics.intervals import differences, mover

MARGIN = 0.02
"""Difference of a score that matters, where a spec does not set another."""

Verdict = Literal["worse", "better", "same", "small", "open", ""]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired difference, first minus second, with a verdict on the second.

    Args:
        difference: its mean and the interval of level 1 - alpha.
        inner_low: lower end of the interval of level 1 - 2 alpha, with which equivalence is tested.
        inner_high: its upper end.
        p: two-sided p value of no difference; nan where fewer than 8 documents changed.
        margin: the difference that matters.
        verdict: `worse` or `better`: the difference is shown, and may matter; `same`: shown to be within the margin;
            `small`: shown, and within the margin; `open`: neither is shown, which is not "no effect"; empty where
            there is no interval.
        detectable: the smallest true difference that four of five studies like this one would find; nan where fewer
            than 8 documents changed.
        lost: questions on which the second scores less.
        gained: questions on which it scores more.
    """

    difference: Estimate
    inner_low: float
    inner_high: float
    p: float
    margin: float
    verdict: Verdict
    detectable: float
    lost: int
    gained: int


def compare(
    first: Floats, second: Floats, clusters: Clusters, margin: float = MARGIN, alpha: float = 0.05
) -> Comparison:
    """Compare two cells on the same questions; a question undefined in either is left out.

    The inner interval is made from losses and gains (`paired_difference`), and where at least 8 documents changed it is
    widened to the t interval. Equivalence is shown where the inner interval is within -margin and margin.
    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987, for two one-sided tests.

    Args:
        first: (n,) scores in [0, 1], such as those on the clean knowledge base.
        second: (n,) scores on the noisy one.
        clusters: of the n questions.
        margin: the difference that matters; set it before the run.
        alpha: chance of a wrong finding.
    """
    return comparisons((first - second)[None, :], clusters, margin, alpha)[0]


def comparisons(table: Floats, clusters: Clusters, margin: float = MARGIN, alpha: float = 0.05) -> list[Comparison]:
    """`compare` of several (rows, n) differences on the same questions."""
    found = differences(table, clusters, 1 - alpha)
    inner = _inner(table, clusters, found, alpha)
    lost, gained = (table > 0).sum(axis=1).tolist(), (table < 0).sum(axis=1).tolist()
    return [
        _judged(one, *ends, margin, alpha, *counts)
        for one, ends, *counts in zip(found, inner, lost, gained, strict=True)
    ]


def _inner(table: Floats, clusters: Clusters, found: Sequence[Estimate], alpha: float) -> list[tuple[float, float]]:
    """Return the ends of the intervals of level 1 - 2 alpha."""
    undefined = np.isnan(table)
    ends = np.full((len(table), 2), nan)
    for pattern in np.unique(undefined, axis=0):
        rows = np.flatnonzero((undefined == pattern).all(axis=1))
        kept = np.flatnonzero(~pattern)
        mine = clusters.among(kept) if pattern.any() else clusters
        if len(kept) and len(mine.counts) >= NO_INTERVAL:
            ends[rows] = np.stack(mover(np.take(table[rows], kept, axis=1), mine, 1 - 2 * alpha), axis=1)
    for row, one in enumerate(found):
        if one.changed >= CHANGED and not np.isnan(one.se):
            reach = float(quantile(1 - alpha, one.df)) * one.se
            ends[row] = min(ends[row, 0], one.mean - reach), max(ends[row, 1], one.mean + reach)
    return [(low, high) for low, high in ends.tolist()]


def _judged(one: Estimate, low: float, high: float, margin: float, alpha: float, lost: int, gained: int) -> Comparison:
    from scipy.special import stdtr

    shown = one.changed >= CHANGED and one.se > 0
    p = float(2 * stdtr(one.df, -abs(one.mean) / one.se)) if shown else nan
    same, differs = -margin < low and high < margin, one.low > 0 or one.high < 0
    verdict: Verdict = "open"
    if np.isnan(one.low):
        verdict = ""
    elif same:
        verdict = "small" if differs else "same"
    elif differs:
        verdict = "worse" if one.mean > 0 else "better"
    detectable = minimum_detectable_effect(one.se, one.df, level=1 - alpha) if shown else nan
    return Comparison(one, low, high, p, margin, verdict, detectable, lost, gained)


def family(
    members: Sequence[tuple[Floats, Clusters, float]], alpha: float = 0.05
) -> list[tuple[Comparison, float, bool]]:
    """Compare several pairs of cells so that the chance of any wrong finding stays at alpha.

    Args:
        members: (n,) differences, the clusters of their questions, and the difference that matters.
        alpha: chance of any wrong finding.

    Returns:
        Each comparison by itself, its p value adjusted by `holm` (nan where it has none), and whether a difference is
        shown within the family. A comparison without a p value is judged by its interval at level 1 - alpha / m.
    """
    alone = [comparisons(values[None, :], clusters, margin, alpha)[0] for values, clusters, margin in members]
    adjusted = holm([one.p for one in alone])
    found = []
    for (values, clusters, _), one, p in zip(members, alone, adjusted, strict=True):
        shown = p < alpha
        if np.isnan(p):
            (strict,) = differences(values[None, :], clusters, 1 - alpha / len(members))
            shown = strict.low > 0 or strict.high < 0
        found.append((one, p, bool(shown)))
    return found


def minimum_detectable_effect(se: float, df: float, power: float = 0.8, level: float = 0.95) -> float:
    """Smallest true difference that a two-sided test at 1 - `level` finds with probability `power`.

    Formula: (t(1/2 + level/2) + t(power)) * se, both quantiles with `df` degrees of freedom. The standard error is
    that of this study: it describes the study, and does not plan the next one (`ohr.statistics.planning`).
    Source: Bloom, Evaluation Review 19(5), 1995.

    Edge cases: nan where there is no standard error.
    """
    return float((quantile(0.5 + level / 2, df) + quantile(power, df)) * se)


def holm(p: Sequence[float] | Floats) -> list[float]:
    """Adjust p values so that the chance of any wrong finding among them stays at alpha; nan stays nan.

    Source: Holm, Scandinavian Journal of Statistics 6(2), 1979.
    """
    values = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    adjusted = np.full(values.shape, nan)
    steps = (len(order) - np.arange(len(order))) * values[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(order) else steps
    return [float(value) for value in adjusted]


def aa_share(draws: Floats, clusters: Clusters, level: float = 0.95) -> float:
    """Share of pairs of draws of one condition whose interval misses 0; about 1 - level is to be expected.

    Args:
        draws: (draws, n) scores of the same questions.
        clusters: of the n questions.
        level: of the intervals.

    Edge cases: fewer than two draws, or no interval, as of fewer than five documents -> nan.
    """
    pairs = list(combinations(range(len(draws)), 2))
    if not pairs:
        return nan
    found = differences(np.stack([draws[a] - draws[b] for a, b in pairs]), clusters, level)
    missed = [not one.low <= 0 <= one.high for one in found if not isnan(one.low)]
    return sum(missed) / len(missed) if missed else nan
