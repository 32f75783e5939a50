"""Means and differences of scores with honest errors: questions of one document are similar."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from ohr.statistics.clusters import Clusters, Floats, LeftOut, effective_number
from ohr.statistics.estimate import (
    CARRYING,
    CHANGED,
    FEW_CHANGED,
    NO_INTERVAL,
    SAME,
    STILL,
    Bounds,
    Estimate,
    bounds,
    by_pattern,
    estimates,
    points,
    quantile,
)
from ohr.statistics.signs import sign_flip_p

Flags = NDArray[np.bool_]
"""Array of truth values."""


def clustered_means(
    values: Floats, clusters: Clusters, failed: Sequence[int] | None = None, level: float = 0.95
) -> list[Estimate]:
    """Means over questions with intervals that know which questions share a document, of several scores at once.

    The standard error is the delete-one-document jackknife's, with t on G* - 1 degrees of freedom (`LeftOut.error`).
    Where the mean m is strictly between 0 and 1 the interval is made on the logit scale, logit m -/+ t * se / (m (1 -
    m)), which cannot leave [0, 1]. Where all scores are 0 or all are 1 it ends at the binomial bound for as many
    independent questions as these are worth: of 46 questions that were all answered, not every one of the next would
    be. Where what is above 0, or missing to 1, hangs on few documents (CARRYING), the end away from that edge is at
    least as far as the binomial bound of as many such questions. A mean of values outside [0, 1] (the published code
    gives -1) has the plain t interval. With strata, the domains are fixed, in these proportions.
    Source: Korn & Graubard, Survey Methodology 24(2), 1998; the logit interval is the default of svyciprop in R's
    package survey.

    Args:
        values: (scores, n), failed questions as 0; nan is left out and counted.
        clusters: of the n questions.
        failed: (scores,) how many of the values are failed items, to be shown beside the mean.
        level: of the intervals.

    Edge cases: no value -> nan; fewer than 5 documents -> no interval, noted; fewer than 10 effective ones -> noted;
    all scores equal and strictly between 0 and 1 -> an interval of no width.
    """
    made = by_pattern(values, clusters, lambda table, mine: _of_scores(table, mine, level))
    return [replace(one, failed=count) for one, count in zip(made, failed, strict=True)] if failed else made


def differences(values: Floats, clusters: Clusters, level: float = 0.95, among: int = 1) -> list[Estimate]:
    """Means of several (rows, n) differences of scores in [0, 1] on the same questions, with intervals.

    A difference is shown where both the t test and the sign-flip test over documents reject (`p` is the larger of their
    p values). Where questions of at least 8 documents differ the interval is the jackknife's with t. Where fewer do,
    the error cannot be seen in the differences: losses and gains are then scores of their own with intervals as in
    `clustered_means`, which are combined (`mover`). Either interval ends at 0 where it would miss 0 although no
    difference is shown, and at the t interval's end where it would hold 0 although one is.
    Where no question differs the difference is exactly 0, and has no interval.

    Args:
        values: one cell's scores less another's; nan, a question undefined in either, is left out.
        clusters: of the n questions.
        level: of the intervals.
        among: comparisons of a family; `wide_low` and `wide_high` are of the level 1 - (1 - level) / among.
    """
    return by_pattern(values, clusters, lambda table, mine: _of_differences(table, mine, level, among))


def _of_scores(table: Floats, clusters: Clusters, level: float) -> list[Estimate]:
    if len(clusters.counts) < NO_INTERVAL:
        return points(table, clusters)
    left = clusters.left_out(table)
    # the sum over domains may differ from the plain mean in its last digit, which the table's reader sees
    found = bounds(left, table.mean(axis=1), left.without, level)
    outside = (table.min(axis=1) < 0) | (table.max(axis=1) > 1)
    reach = quantile(0.5 + level / 2, found.df) * np.sqrt(found.variance)
    low = np.where(outside, np.maximum(found.mean - reach, table.min(axis=1)), found.low)
    high = np.where(outside, np.minimum(found.mean + reach, table.max(axis=1)), found.high)
    how = ["t" if odd else name for odd, name in zip(outside, found.how, strict=True)]
    return estimates(
        _near_edge(replace(found, low=low, high=high, how=how), table, clusters, level), len(table.T), clusters
    )


def _near_edge(logit: Bounds, table: Floats, clusters: Clusters, level: float) -> Bounds:
    """Widen logit intervals whose scores hang on few documents to the binomial bound, on the side away from the edge.

    Source: Clopper & Pearson, Biometrika 26(4), 1934; Korn & Graubard, as in `clustered_means`.
    """
    from scipy.special import betaincinv

    low, high, how, n = logit.low.copy(), logit.high.copy(), list(logit.how), clusters.independent
    for row in [row for row, name in enumerate(how) if name == "logit"]:
        upward = logit.mean[row] < 0.5
        side, mean = (table[row], logit.mean[row]) if upward else (1 - table[row], 1 - logit.mean[row])
        if effective_number(clusters.sums(side[None, :])[0]) >= min(CARRYING, clusters.effective / 2):
            continue
        how[row] = "near edge"
        bound = betaincinv(mean * n + 1, n - mean * n, 0.5 + level / 2)
        if upward:
            high[row] = max(high[row], bound)
        else:
            low[row] = min(low[row], 1 - bound)
    return replace(logit, low=low, high=high, how=how)


def _of_differences(table: Floats, clusters: Clusters, level: float, among: int) -> list[Estimate]:
    table = np.where(np.abs(table) < SAME, 0.0, table)
    changed = _changed(table, clusters)
    if len(clusters.counts) < NO_INTERVAL:
        return [replace(one, changed=int(k)) for one, k in zip(points(table, clusters), changed, strict=True)]
    left = clusters.left_out(table)
    variance, df = left.error(left.without)
    means, p = table.mean(axis=1), _p_values(table, clusters, variance, df)
    rare = (changed < CHANGED) | (variance <= STILL)  # equal changes have no error that could be seen

    def ends_at(level: float) -> Floats:
        reach = quantile(0.5 + level / 2, df) * np.sqrt(variance)
        t = _cut(means - reach, means + reach)
        ends = t.copy()
        if rare.any():
            ends[rare] = mover(table[rare], clusters, level)
        ends = _agreeing(ends, t, p <= 1 - level + STILL)
        ends[changed == 0] = nan
        return ends

    ends = ends_at(level)
    wide = ends_at(1 - (1 - level) / among) if among > 1 else ends
    # where a test decides at one level only, an end of one may come from another method than that of the other
    wide = np.stack([np.fmin(wide[:, 0], ends[:, 0]), np.fmax(wide[:, 1], ends[:, 1])], axis=1)
    how = np.where(changed == 0, "", np.where(rare, "rare", "t")).tolist()
    made = estimates(Bounds(means, variance, df, ends[:, 0], ends[:, 1], how), table.shape[1], clusters)
    return [
        replace(
            one,
            changed=int(k),
            p=float(value) if k else nan,
            wide_low=float(low),
            wide_high=float(high),
            note=one.note or (FEW_CHANGED if few else ""),
        )
        for one, k, value, (low, high), few in zip(
            made, changed, p, wide, (changed > 0) & (changed < CHANGED), strict=True
        )
    ]


def _p_values(table: Floats, clusters: Clusters, variance: Floats, df: Floats) -> Floats:
    """Return the larger of the p values of the t test and of the sign-flip test over documents, by row.

    The t test alone is wrong where few documents change, or change equally; the sign-flip test alone where rare changes
    of the other sign, not seen here, are larger.
    """
    from scipy.special import stdtr

    varies = variance > STILL
    ratio = np.divide(np.abs(table.mean(axis=1)), np.sqrt(variance), out=np.zeros(len(table)), where=varies)
    # where all documents change by as much the t test has nothing to divide by, and the other one decides
    by_t = np.where(varies, 2 * stdtr(df, -ratio), np.where((table != 0).any(axis=1), 0.0, 1.0))
    return np.maximum(by_t, sign_flip_p(clusters.sums(table)))


def _agreeing(ends: Floats, t: Floats, shown: Flags) -> Floats:
    """Make (rows, 2) ends of intervals agree with their tests: 0 is outside just where a difference is shown."""
    low, high = ends.T
    loss, gain = shown & (t[:, 0] >= 0), shown & (t[:, 1] <= 0)
    low = np.where(loss & (low <= 0), t[:, 0], np.where(shown, low, np.minimum(low, 0)))
    high = np.where(gain & (high >= 0), t[:, 1], np.where(shown, high, np.maximum(high, 0)))
    return np.stack([low, high], axis=1)


def _cut(low: Floats, high: Floats) -> Floats:
    return np.stack([np.maximum(low, -1), np.minimum(high, 1)], axis=1)


def mover(table: Floats, clusters: Clusters, level: float) -> Floats:
    """Return the ends of the intervals of (rows, n) mean differences, made from those of losses and gains: (rows, 2).

    Where no gain is seen the upper end of gains is the smaller of two: the binomial bound of `bounds`, which allows
    gains of any size; and what gains can be if they are of the size of the losses, and the k documents that lost were
    drawn from documents of which a share q gains: q is at most 1 - ((1 - level) / 2)^(1 / k). Losses likewise.
    Source: Zou & Donner, Statistics in Medicine 27(10), 2008.
    """
    harm, gain = (_side(clusters, np.maximum(sign * table, 0), level) for sign in (1.0, -1.0))
    product = harm[1].variance * gain[1].variance
    vary = (harm[1].variance > STILL) & (gain[1].variance > STILL)
    covariance = harm[0].covariance(harm[0].without, gain[0].without)
    r = np.where(vary, np.clip(covariance / np.sqrt(np.where(vary, product, 1)), -1, 1), 0.0)
    h, g = harm[1], gain[1]
    unseen = ((1 - level) / 2) ** (-1 / np.maximum(_changed(table, clusters), 1)) - 1  # odds q / (1 - q)
    most = np.where((h.mean <= 0) & (g.mean > 0), np.minimum(h.high, unseen * g.high), h.high)
    more = np.where((g.mean <= 0) & (h.mean > 0), np.minimum(g.high, unseen * h.high), g.high)
    center = h.mean - g.mean
    down = _reach(h.mean - h.low, more - g.mean, r)
    up = _reach(most - h.mean, g.mean - g.low, r)
    return _cut(center - down, center + up)


def _side(clusters: Clusters, table: Floats, level: float) -> tuple[LeftOut, Bounds]:
    left = clusters.left_out(table)
    return left, bounds(left, left.whole, left.without, level)


def _reach(first: Floats, second: Floats, r: Floats) -> Floats:
    return np.sqrt(np.maximum(first**2 + second**2 - 2 * r * first * second, 0))


def _changed(table: Floats, clusters: Clusters) -> Floats:
    """Count the documents in which some question differs, by row."""
    differ = clusters.sums((table != 0).astype(float)) > 0
    return np.asarray(differ.sum(axis=1))
