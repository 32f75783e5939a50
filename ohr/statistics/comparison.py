"""Verdicts on differences: found, too small to matter, or open; families of them, and A/A checks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isinf, isnan, nan
from typing import Literal

import numpy as np

from ohr.statistics.clusters import Clusters, Floats, effective_number
from ohr.statistics.estimate import CHANGED, NO_INTERVAL, SAME, Estimate, quantile
from ohr.statistics.intervals import differences, mover
from ohr.statistics.margin import MARGIN
from ohr.statistics.planning import Changes, detectable, upper_error
from ohr.statistics.signs import ALPHA

Verdict = Literal["worse", "better", "same", "small", "open", "identical", ""]
"""Finding of a comparison; empty where it shows nothing that can be named."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired difference, first minus second, with a verdict on the second.

    Args:
        difference: its mean, the interval of level 1 - alpha, and the p value.
        inner_low: lower end of the interval of level 1 - 2 alpha, with which equivalence is tested.
        inner_high: its upper end.
        margin: the difference that matters.
        verdict: `worse` or `better`: the difference is shown, and may matter; `same`: shown to be within the margin;
            `small`: shown, and within the margin; `open`: neither is shown, which is not "no effect"; `identical`: no
            question differs; empty where there is no interval.
        among: comparisons of its family; 1 where it is judged alone.
        detectable: the true difference that at least four of five studies like this one would show in such a family;
            nan where its changes are worth those of fewer than 8 documents.
        lost: questions on which the second scores less.
        gained: questions on which it scores more.
        wide_low: lower end of the interval that holds together with those of all comparisons of its family.
        wide_high: its upper end.
    """

    difference: Estimate
    inner_low: float
    inner_high: float
    margin: float
    verdict: Verdict
    among: int
    detectable: float
    lost: int
    gained: int
    wide_low: float
    wide_high: float

    @property
    def p(self) -> float:
        """Two-sided p value of no difference."""
        return self.difference.p


def compare(
    first: Floats, second: Floats, clusters: Clusters, margin: float = MARGIN, alpha: float = ALPHA
) -> Comparison:
    """Compare two cells on the same questions; a question undefined in either is left out.

    The inner interval is made from losses and gains (`differences`), and where at least 8 documents changed it is
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


def comparisons(
    table: Floats, clusters: Clusters, margin: float = MARGIN, alpha: float = ALPHA, among: int = 1
) -> list[Comparison]:
    """`compare` of several (rows, n) differences on the same questions.

    Args:
        table: the differences; nan is left out.
        clusters: of the n questions.
        margin: the difference that matters.
        alpha: chance of a wrong finding.
        among: comparisons of a family, of which one may be picked for its size: the wide interval is the one of level
            1 - alpha / among.
    """
    table = np.where(np.abs(table) < SAME, 0.0, table)
    found = differences(table, clusters, 1 - alpha, among)
    inner = _inner(table, clusters, found, alpha)
    return [
        Comparison(
            one,
            *ends,
            margin,
            _verdict(one, *ends, margin),
            among,
            _detectable(one, values, clusters, among),
            int((values > 0).sum()),
            int((values < 0).sum()),
            one.wide_low,
            one.wide_high,
        )
        for one, values, ends in zip(found, table, inner, strict=True)
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
            ends[rows] = mover(np.take(table[rows], kept, axis=1), mine, 1 - 2 * alpha)
    for row, one in enumerate(found):
        if one.changed >= CHANGED and not np.isnan(one.se):
            reach = float(quantile(1 - alpha, one.df)) * one.se
            ends[row] = max(-1, min(ends[row, 0], one.mean - reach)), min(1, max(ends[row, 1], one.mean + reach))
        if one.p > 2 * alpha:  # the test does not reject at this level, so the interval must hold 0
            ends[row] = min(ends[row, 0], 0.0), max(ends[row, 1], 0.0)
    return [(low, high) for low, high in ends.tolist()]


def _verdict(one: Estimate, low: float, high: float, margin: float) -> Verdict:
    if one.n and one.changed == 0:
        return "identical"
    if isnan(one.low):
        return ""
    differs = one.low > 0 or one.high < 0
    if -margin < low and high < margin:
        return "small" if differs else "same"
    if not differs:
        return "open"
    return "worse" if one.mean > 0 else "better"


def _detectable(one: Estimate, values: Floats, clusters: Clusters, among: int) -> float:
    """Return the difference that four of five studies would show; nan where changes are in fewer than 8 documents."""
    if one.changed < CHANGED or not one.se > 0:
        return nan
    kept = np.flatnonzero(~np.isnan(values))
    mine, changes = clusters.among(kept), values[kept]
    totals = mine.sums(np.abs(changes)[None, :])[0]
    if effective_number(totals[totals > 0]) < CHANGED:  # one large change among small ones is what the others hang on
        return nan
    least = detectable(upper_error(one.se, one.df), one.documents, one.df, among, Changes.of(changes, mine))
    return nan if isinf(least) else least


def family(
    members: Sequence[tuple[Floats, Clusters, float]], alpha: float = ALPHA
) -> list[tuple[Comparison, float, bool]]:
    """Compare several pairs of cells so that the chance of any wrong finding stays at alpha.

    Args:
        members: (n,) differences, the clusters of their questions, and the difference that matters.
        alpha: chance of any wrong finding.

    Returns:
        Each comparison by itself, its p value adjusted by `holm` (nan where it has none), and whether a difference is
        shown within the family.

    Identical scores have no p value, and count as comparisons all the same.
    """
    alone = _alone(members, alpha)
    adjusted = holm([one.p for one in alone], len(members))
    found = []
    for one, p in zip(alone, adjusted, strict=True):
        low, high = holm_ends(one.wide_low, one.wide_high, shown=p <= alpha)
        found.append((replace(one, wide_low=low, wide_high=high), p, p <= alpha))
    return found


def _alone(members: Sequence[tuple[Floats, Clusters, float]], alpha: float) -> list[Comparison]:
    """Compare each pair of cells by itself; those on the same questions are read as one table."""
    groups: dict[tuple[int, float], list[int]] = {}
    for place, (_, clusters, margin) in enumerate(members):
        groups.setdefault((id(clusters), margin), []).append(place)
    compared: dict[int, Comparison] = {}
    for places in groups.values():
        table = np.stack([members[place][0] for place in places])
        _, clusters, margin = members[places[0]]
        compared |= dict(zip(places, comparisons(table, clusters, margin, alpha, len(members)), strict=True))
    return [compared[place] for place in range(len(members))]


def holm_ends(low: float, high: float, *, shown: bool) -> tuple[float, float]:
    """Return the ends of a wide interval as Holm's method leaves them: where a difference is shown, 0 is at an end.

    Source: Guilbaud, Biometrical Journal 50(5), 2008.
    """
    if not shown or low > 0 or high < 0:
        return low, high
    return (0.0, high) if low + high > 0 else (low, 0.0)


def minimum_detectable_effect(se: float, df: float, power: float = 0.8, level: float = 0.95) -> float:
    """Smallest true difference that a two-sided test at 1 - `level` finds with probability `power`, were `se` exact.

    Formula: (t(1/2 + level/2) + t(power)) * se, both quantiles with `df` degrees of freedom. An observed standard error
    is not exact: studies of the same size find this difference less often (`planning.detectable`).
    Source: Bloom, Evaluation Review 19(5), 1995.

    Edge cases: nan where there is no standard error.
    """
    return float((quantile(0.5 + level / 2, df) + quantile(power, df)) * se)


def holm(p: Sequence[float] | Floats, among: int = 0) -> list[float]:
    """Adjust p values so that the chance of any wrong finding among them stays at alpha; nan stays nan.

    Args:
        p: of the comparisons.
        among: how many there are, with those that have no p value; by default those that have one.

    Source: Holm, Scandinavian Journal of Statistics 6(2), 1979.
    """
    values = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    adjusted = np.full(values.shape, nan)
    steps = (max(among, len(order)) - np.arange(len(order))) * values[order]
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
