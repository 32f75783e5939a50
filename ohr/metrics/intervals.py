"""Means with honest errors: questions of one document are alike, so the document is the unit that is resampled."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NO_INTERVAL = 5
"""With fewer documents than this there is no interval."""
FEW = 10
"""With fewer documents than this an interval is marked."""

SCORES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)
"""Where a score, and a difference of two, can lie."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its interval.

    Args:
        low: lower end of the interval, cut where no mean can lie; nan, like `high`, `se` and `df`, where there is none.
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
    the domain with the fewest documents). The interval is cut to where a mean can lie: no true mean is outside, so the
    cut one covers it just as often; `se` and `df` give the whole one.
    Source: Efron & Stein, Annals of Statistics 9(3), 1981; Carter, Schnepel & Steigerwald, Review of Economics and
    Statistics 99(4), 2017, for G*; Satterthwaite, Biometrics Bulletin 2(6), 1946.

    Args:
        values: (n,) one score a question, failed ones as 0; nan is left out and counted.
        documents: (n,) each question's document.
        failed: how many of the values are failed items, to be shown beside the mean.
        strata: (n,) each question's domain; all questions of a document have the same.
        level: of the interval.
        within: where values can lie; one that lies beyond (the published code gives -1) moves that end to itself.

    Edge cases: no value -> nan; fewer than 5 documents -> no interval, noted; 5 to 9 -> noted.
    """
    scores = np.asarray(values, dtype=float)
    kept = ~np.isnan(scores)
    undefined = int(scores.size - kept.sum())
    scores = scores[kept]
    if not scores.size:
        return Estimate(nan, nan, nan, nan, 0, failed, 0, 0.0, nan, "points only", undefined)
    groups = np.zeros(kept.size) if strata is None else np.asarray(strata)
    sums, counts, domains = _by_document(scores, np.asarray(documents)[kept], groups[kept])
    mean, size, effective = float(scores.mean()), len(counts), _effective(counts)
    if size < NO_INTERVAL:
        return Estimate(mean, nan, nan, nan, scores.size, failed, size, effective, nan, "points only", undefined)
    se, df = _error(sums, counts, domains)
    reach = _t(0.5 + level / 2, df) * se
    low = max(mean - reach, min(within[0], float(scores.min())))
    high = min(mean + reach, max(within[1], float(scores.max())))
    note = "few documents" if size < FEW else ""
    return Estimate(mean, low, high, se, scores.size, failed, size, effective, df, note, undefined)


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
    return (_t(0.5 + level / 2, df) + _t(power, df)) * se


def equivalent(estimate: Estimate, margin: float, alpha: float = 0.05) -> bool:
    """Tell whether a difference is shown to lie within -margin and margin, by two one-sided t tests.

    The same as asking whether the interval of level 1 - 2 alpha lies inside the margins.
    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987.

    Edge cases: False where there is no interval: nothing was shown.
    """
    return abs(estimate.mean) + _t(1 - alpha, estimate.df) * estimate.se < margin


def _by_document(
    scores: Floats, documents: NDArray[np.str_], strata: NDArray[np.generic]
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    _, first, code = np.unique(documents, return_index=True, return_inverse=True)
    domains = np.unique(strata[first], return_inverse=True)[1].astype(np.intp)
    sums = np.bincount(code, weights=scores).astype(float)
    return sums, np.bincount(code).astype(float), _joined(domains)


def _joined(domains: NDArray[np.intp]) -> NDArray[np.intp]:
    sizes = np.bincount(domains)
    single = sizes == 1
    home = int(single.argmax())
    if single.sum() == 1 and len(sizes) > 1:  # nothing to join but a real domain: the smallest
        home = int(np.where(single, sizes.max() + 1, sizes).argmin())
    return np.where(single[domains], home, domains)


def _error(sums: Floats, counts: Floats, domains: NDArray[np.intp]) -> tuple[float, float]:
    members = [domains == domain for domain in np.unique(domains)]
    weights = np.array([counts[member].sum() for member in members]) / counts.sum()
    parts = weights**2 * np.array([_jackknife(sums[member], counts[member]) for member in members])
    freedom = np.array([_effective(counts[member]) - 1 for member in members])
    variance = float(parts.sum())
    if variance == 0:
        return 0.0, float(freedom.sum())
    shares = parts / variance  # before squaring: the square of a tiny variance would be 0
    return sqrt(variance), 1 / float((shares**2 / freedom).sum())


def _jackknife(sums: Floats, counts: Floats) -> float:
    without = (sums.sum() - sums) / (counts.sum() - counts)
    return float((len(sums) - 1) * without.var())


def _effective(counts: Floats) -> float:
    return float(counts.sum() ** 2 / (counts**2).sum())


def _t(probability: float, df: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))
