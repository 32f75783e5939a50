"""Means with honest errors: questions of one document are similar, so documents are resampled."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NO_INTERVAL = 5
"""With fewer documents than this there is no interval."""
FEW = 10
"""With fewer documents than this an interval is marked."""

SCORES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)
"""Where a score, and a difference of two, can be."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its interval.

    Args:
        low: lower end of the interval, cut where no mean can be; nan, like `high`, `se` and `df`, where there is none.
        n: questions in the mean.
        failed: how many of them failed and are in it as 0.
        documents: G, documents that these questions are about.
        effective_documents: G* = G / (1 + CV^2), with CV that of the questions per document.
        note: `points only`, `few documents` or empty.
        undefined: values that were nan and are not in the mean.
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


def clustered_mean(
    values: Sequence[float] | Floats,
    documents: Sequence[str],
    failed: int = 0,
    strata: Sequence[str] | None = None,
    level: float = 0.95,
    within: tuple[float, float] = SCORES,
) -> Estimate:
    """Mean over questions with an interval that knows which questions share a document.

    The standard error is the delete-one-document jackknife's: with m_g the mean without document g and m their mean,
    se^2 = (G - 1) / G * sum of (m_g - m)^2. The interval is mean -/+ t * se with G* - 1 degrees of freedom. With
    `strata`, the domains are fixed: each domain's mean gets its own jackknife variance v, the variance of the mean is
    the sum of w^2 v with w the domain's share of the questions, and the degrees of freedom are Satterthwaite's. A
    single document says nothing of its domain's variance: such domains are taken together as one (a lone one joins
    the domain with the fewest documents). The interval is cut to where a mean can be: no true mean is outside, so the
    cut one covers it just as often; `se` and `df` give the whole one.
    Source: Efron & Stein, Annals of Statistics 9(3), 1981; Carter, Schnepel & Steigerwald, Review of Economics and
    Statistics 99(4), 2017, for G*; Satterthwaite, Biometrics Bulletin 2(6), 1946.

    Args:
        values: (n,) one score a question, failed ones as 0; nan is left out and counted.
        documents: (n,) each question's document.
        failed: how many of the values are failed items, to be shown beside the mean.
        strata: (n,) each question's domain; all questions of a document have the same.
        level: of the interval.
        within: where values can be; one beyond (the published code gives -1) moves that end to itself.

    Edge cases: no value -> nan; fewer than 5 documents -> no interval, noted; 5 to 9 -> noted.
    """
    table = np.asarray(values, dtype=float)[None, :]
    (estimate,) = clustered_means(table, Clusters.of(documents, strata), [failed], level, [within])
    return estimate


@dataclass(frozen=True)
class Clusters:
    """Which questions share a document, and which documents a stratum.

    Args:
        documents: (n,) code of each question's document, from 0.
        strata: (documents,) code of each document's stratum.
    """

    documents: NDArray[np.intp]
    strata: NDArray[np.intp]

    @classmethod
    def of(cls, documents: Sequence[str] | NDArray[Any], strata: Sequence[str] | NDArray[Any] | None = None) -> Self:
        """Number documents and strata; without strata all documents are in one."""
        _, first, code = np.unique(np.asarray(documents), return_index=True, return_inverse=True)
        if strata is None or not code.size:
            return cls(code.astype(np.intp), np.zeros(len(first), np.intp))
        return cls(code.astype(np.intp), np.unique(np.asarray(strata)[first], return_inverse=True)[1].astype(np.intp))

    def among(self, kept: NDArray[np.intp]) -> "Clusters":
        """Number the documents and strata of some of the questions, by their places."""
        return Clusters.of(self.documents[kept], self.strata[self.documents[kept]])

    @cached_property
    def counts(self) -> Floats:
        """Questions of each document."""
        return np.bincount(self.documents, minlength=len(self.strata)).astype(float)

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        """The documents of each stratum; strata of one document are joined."""
        domains = _joined(self.strata)
        return [np.flatnonzero(domains == domain) for domain in np.unique(domains)]

    @cached_property
    def effective(self) -> float:
        """Documents of one size that these are worth."""
        return _effective(self.counts)

    @cached_property
    def weights(self) -> Floats:
        """(domains,) each one's share of the questions."""
        shares: Floats = np.array([self.counts[member].sum() for member in self.members]) / self.counts.sum()
        return shares

    @cached_property
    def freedom(self) -> Floats:
        """(domains,) degrees of freedom of each one's variance."""
        return np.array([_effective(self.counts[member]) - 1 for member in self.members])

    def sums(self, values: Floats) -> Floats:
        """Add up a (columns, n) table by document: (columns, documents)."""
        return np.stack([np.bincount(self.documents, row, len(self.strata)).astype(float) for row in values])


def clustered_means(
    values: Floats,
    clusters: Clusters,
    failed: Sequence[int],
    level: float = 0.95,
    within: Sequence[tuple[float, float]] | None = None,
) -> list[Estimate]:
    """`clustered_mean` of several scores of the same questions, at the cost of hardly more than one.

    Args:
        values: (scores, n).
        clusters: of the n questions.
        failed: (scores,) as in `clustered_mean`, as are the others.
        level: of the intervals.
        within: (scores,) where the values of each can be; by default SCORES.
    """
    ends = np.array(within or [SCORES] * len(values), dtype=float)
    undefined = np.isnan(values)
    found: dict[int, Estimate] = {}
    # scores that are undefined for the same questions make one table
    patterns = undefined[:1] if (undefined == undefined[:1]).all() else np.unique(undefined, axis=0)
    for pattern in patterns:
        same = np.flatnonzero((undefined == pattern).all(axis=1)).tolist()
        table, mine = values[same], clusters
        if pattern.any():
            kept = np.flatnonzero(~pattern)
            table = np.take(table, kept, axis=1)
            mine = clusters.among(kept)
        made = _table(table, mine, [failed[place] for place in same], int(pattern.sum()), level, ends[same])
        found |= dict(zip(same, made, strict=True))
    return [found[place] for place in range(len(values))]


def _table(
    scores: Floats, clusters: Clusters, failed: Sequence[int], undefined: int, level: float, ends: Floats
) -> list[Estimate]:
    """Estimate scores that are all defined."""
    if not scores.shape[1]:
        return [Estimate(nan, nan, nan, nan, 0, count, 0, 0.0, nan, "points only", undefined) for count in failed]
    size, effective, n = len(clusters.counts), clusters.effective, scores.shape[1]
    means = scores.mean(axis=1)
    if size < NO_INTERVAL:
        return [
            Estimate(float(mean), nan, nan, nan, n, count, size, effective, nan, "points only", undefined)
            for mean, count in zip(means, failed, strict=True)
        ]
    se, df = _error(clusters.sums(scores), clusters)
    reach = _t(0.5 + level / 2, df) * se
    low = np.maximum(means - reach, np.minimum(ends[:, 0], scores.min(axis=1)))
    high = np.minimum(means + reach, np.maximum(ends[:, 1], scores.max(axis=1)))
    note = "few documents" if size < FEW else ""
    return [
        Estimate(
            float(mean), float(down), float(up), float(error), n, count, size, effective, float(t), note, undefined
        )
        for mean, down, up, error, t, count in zip(means, low, high, se, df, failed, strict=True)
    ]


def paired_difference(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    documents: Sequence[str],
    failed: int = 0,
    strata: Sequence[str] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of first minus second over the same questions, with the interval of `clustered_mean`.

    Args:
        first: (n,) one cell's scores.
        second: (n,) another's on the same questions in the same order; a question undefined in either is left out.
        documents: as in `clustered_mean`, as are the others.
        failed: questions that failed in either cell.
        strata: each question's domain.
        level: of the interval.
    """
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    return clustered_mean(difference, documents, failed, strata, level, within=DIFFERENCES)


def minimum_detectable_effect(se: float, df: float, power: float = 0.8, level: float = 0.95) -> float:
    """Smallest true difference that a two-sided test at 1 - `level` finds with probability `power`.

    Formula: (t(1/2 + level/2) + t(power)) * se, both quantiles with `df` degrees of freedom.
    Source: Bloom, Evaluation Review 19(5), 1995.

    Edge cases: nan where there is no standard error.
    """
    return float((_t(0.5 + level / 2, df) + _t(power, df)) * se)


def equivalent(estimate: Estimate, margin: float, alpha: float = 0.05) -> bool:
    """Report whether a difference is shown to be within -margin and margin, by two one-sided t tests.

    The same as asking whether the interval of level 1 - 2 alpha is inside the margins.
    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987.

    Edge cases: False where there is no interval: nothing was shown.
    """
    return bool(abs(estimate.mean) + _t(1 - alpha, estimate.df) * estimate.se < margin)


def _joined(domains: NDArray[np.intp]) -> NDArray[np.intp]:
    sizes = np.bincount(domains)
    single = sizes == 1
    home = int(single.argmax())
    if single.sum() == 1 and len(sizes) > 1:  # nothing to join but a real domain: the smallest
        home = int(np.where(single, sizes.max() + 1, sizes).argmin())
    return np.where(single[domains], home, domains)


def _error(sums: Floats, clusters: Clusters) -> tuple[Floats, Floats]:
    """Return standard errors and degrees of freedom, (scores,) each, of means with these (scores, documents) sums."""
    parts = np.stack([_jackknife(sums[:, member], clusters.counts[member]) for member in clusters.members])
    parts = clusters.weights[:, None] ** 2 * parts
    variance, freedom = parts.sum(axis=0), clusters.freedom
    still = variance == 0
    shares = parts / np.where(still, 1, variance)  # before squaring: the square of a tiny variance would be 0
    precision = np.where(still, 1, (shares**2 / freedom[:, None]).sum(axis=0))
    return np.sqrt(variance), np.where(still, freedom.sum(), 1 / precision)


def _jackknife(sums: Floats, counts: Floats) -> Floats:
    without = (sums.sum(axis=1, keepdims=True) - sums) / (counts.sum() - counts)
    return np.asarray((sums.shape[1] - 1) * without.var(axis=1))


def _effective(counts: Floats) -> float:
    return float(counts.sum() ** 2 / (counts**2).sum())


def _t(probability: float, df: Any) -> Any:
    from scipy.special import stdtrit

    return stdtrit(df, probability)
