"""Quantities made of several means: functions of them, and the mean of domain means."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from ohr.statistics.clusters import Clusters, Floats, LeftOut, effective_number, jackknife, pooled
from ohr.statistics.estimate import (
    NO_INTERVAL,
    NOTHING,
    STILL,
    Bounds,
    Estimate,
    bounded,
    by_pattern,
    estimates,
    points,
    quantile,
)
from ohr.statistics.signs import sign_flip_p


def of_means(
    columns: Floats, clusters: Clusters, functions: Mapping[str, Callable[[Floats], Any]], level: float = 0.95
) -> dict[str, Estimate]:
    """Quantities that are functions of several means, each with the jackknife's t interval.

    Every function is computed on all questions and without each document: amounts of noise, scores and floors of all
    cells move together.

    Args:
        columns: (columns, n) scores and doses of several cells; a question undefined in one is left out of all.
        clusters: of the n questions.
        functions: by name; each maps (columns, ...) means to (...) values.
        level: of the intervals.

    Edge cases: a value that is undefined on all questions, or without one of the documents, is nan.
    """
    left, undefined = _left_out(columns, clusters)
    if left is None:
        return dict.fromkeys(functions, replace(NOTHING, undefined=undefined))
    found = {}
    for name, function in functions.items():
        value, each = float(function(left.whole)), np.asarray(function(left.without), dtype=float)[None, :]
        found[name] = replace(_with_t(left, value, each, level), undefined=undefined)
    return found


def against_zero(
    columns: Floats, clusters: Clusters, function: Callable[[Floats], Any], level: float = 0.95
) -> Estimate:
    """A quantity of several means that is 0 where two sides are equal, with an interval that agrees with its test.

    Its p value is the larger of those of the t test and of the sign-flip test, as in `differences`; the second is
    made on the pseudo-values of the documents, G f - (G - 1) f_g, whose mean is about f. Where the t interval misses 0
    although the test does not reject, it ends at 0.
    Source: Tukey, Annals of Mathematical Statistics 29(2), 1958, for the pseudo-values.

    Args: as in `of_means`.
    """
    from scipy.special import stdtr

    (made,) = of_means(columns, clusters, {"": function}, level).values()
    left, _ = _left_out(columns, clusters)
    if left is None or isnan(made.low):
        return made
    size = len(left.clusters.counts)
    pseudo = size * made.mean - (size - 1) * np.asarray(function(left.without), dtype=float)
    by_t = float(2 * stdtr(made.df, -abs(made.mean) / made.se)) if made.se > 0 else float(made.mean == 0)
    p = max(by_t, float(sign_flip_p(pseudo[None, :].round(9))[0]))
    if p > 1 - level + STILL:
        made = replace(made, low=min(made.low, 0.0), high=max(made.high, 0.0))
    return replace(made, p=p)


def _left_out(columns: Floats, clusters: Clusters) -> tuple[LeftOut | None, int]:
    """Return the means without each document, None where no question is defined, and how many are not."""
    defined = ~np.isnan(columns).any(axis=0)
    mine = clusters if defined.all() else clusters.among(np.flatnonzero(defined))
    return mine.left_out(columns[:, defined]) if defined.any() else None, int((~defined).sum())


def macro_means(values: Floats, clusters: Clusters, level: float = 0.95) -> list[Estimate]:
    """Means of the domains' means, each with the same weight, of several (scores, n) scores of the same questions.

    se^2 = sum of v_d / D^2 with the jackknife variance v_d of each of D domains, Satterthwaite's degrees of freedom,
    and the logit interval.

    Args:
        values: nan is left out.
        clusters: of the n questions; their strata are the domains.
        level: of the intervals.

    Edge cases: a domain with one document -> the mean alone; no value -> nan.
    """
    return by_pattern(values, clusters, lambda table, mine: _of_domains(table, mine, level))


def _with_t(left: LeftOut, value: float, without: Floats, level: float) -> Estimate:
    """Return one quantity with its t interval; `without` is (1, documents)."""
    clusters, n = left.clusters, int(left.clusters.counts.sum())
    plain = points(np.full((1, n), value), clusters)[0]
    if len(clusters.counts) < NO_INTERVAL or np.isnan(value):
        return replace(plain, mean=value)
    if np.isnan(without).any():
        return replace(plain, mean=nan)
    (variance,), (df,) = left.error(without)
    reach = quantile(0.5 + level / 2, df) * sqrt(variance)
    mean, error, freedom, low, high = (np.array([one]) for one in (value, variance, df, value - reach, value + reach))
    found = Bounds(mean, error, freedom, low, high, ["t"])
    return estimates(found, n, clusters)[0]


def _of_domains(table: Floats, clusters: Clusters, level: float) -> list[Estimate]:
    strata = [np.flatnonzero(clusters.strata == domain) for domain in np.unique(clusters.strata)]
    sums, counts = clusters.sums(table), clusters.counts
    means = np.stack([sums[:, member].sum(axis=1) / counts[member].sum() for member in strata])
    n, size = table.shape[1], len(counts)
    if min(map(len, strata)) < 2 or size < NO_INTERVAL:
        return [
            replace(one, mean=float(mean)) for one, mean in zip(points(table, clusters), means.mean(0), strict=True)
        ]
    parts = [
        jackknife(
            (sums[:, member].sum(axis=1, keepdims=True) - sums[:, member]) / (counts[member].sum() - counts[member])
        )
        for member in strata
    ]
    freedom = np.array([effective_number(counts[member]) - 1 for member in strata])
    variance, df = pooled([part / len(strata) ** 2 for part in parts], freedom)
    return estimates(bounded(means.mean(axis=0), variance, df, clusters.independent, level), n, clusters)
