"""The sign-flip test: could the changes of these documents as well have gone the other way?"""

from math import ceil, log2

import numpy as np

from ohr.statistics.clusters import Floats

ALPHA = 0.05
"""Chance of a wrong finding: of one comparison by itself, or of any in a family."""
EXACT = 16
"""Up to this many changed documents every set of documents is added up: at most 65,536."""
STEPS = 8192
"""Beyond EXACT, sizes are rounded to whole steps; the smaller of the two sums, of losses and of gains, has so many.
P values of 18 to 300 documents differ from those of sixteen times as many steps by less than 3%
(`tests/statistics/test_signs.py`)."""


def sign_flip_p(totals: Floats) -> Floats:
    """Two-sided p values of sign-flip tests.

    Under the hypothesis that a document's change is as likely to be a loss as a gain of the same size, each document's
    total keeps its size and takes either sign. The p value is the share of signs with which the sum is at least as far
    from 0 as it is. No size of change, however unequal, makes it too small. With k changed documents it is at least
    2^(1 - k): see `fewest`. Nothing is drawn: signs are counted by adding up one document after the other.
    Source: Fisher, The Design of Experiments, 1935, section 21; the counting: Pagano & Tritchler, Journal of the
    American Statistical Association 78(382), 1983.

    Args:
        totals: (rows, documents) sums of the differences of a document's questions.

    Returns:
        (rows,) p values; 1 where nothing changed.
    """
    return np.array([_p(row[row != 0]) for row in totals])


def fewest(among: int = 1, alpha: float = ALPHA) -> int:
    """Return with how many changed documents, at least, a difference can be shown among so many comparisons.

    The p value of k changed documents is at least 2^(1 - k), and the first step of `holm` needs alpha / among.
    """
    return 1 + ceil(log2(max(among, 1) / alpha) - 1e-9)


def _p(changes: Floats) -> float:
    """Return the p value of one row, (changed documents,) without 0.

    A sum is at least as far from 0 as the one that was seen just where the changes of one sign add up to no more than
    the smaller of the two sums that were seen; so the sets of documents are counted that do, twice.
    """
    sums = changes[changes > 0].sum(), -changes[changes < 0].sum()
    if not changes.size or abs(sums[0] - sums[1]) <= 1e-9 * sum(sums):
        return 1.0
    sizes, minority = np.abs(changes), changes > 0 if sums[0] < sums[1] else changes < 0
    count = _exact(sizes, min(sums)) if len(sizes) <= EXACT else _in_steps(sizes, minority)
    return min(1.0, 2 * count)


def _exact(sizes: Floats, most: float) -> float:
    """Return the share of all sets whose sizes add up to `most` at the most."""
    within = np.zeros(1)
    for size in sizes.tolist():
        within = np.concatenate([within, within[within <= most] + size])
    return float((within <= most * (1 + 1e-9) + 1e-12).sum() * 0.5 ** len(sizes))


def _in_steps(sizes: Floats, minority: np.ndarray) -> float:
    """Return the share of all sets whose sizes, in whole steps, add up to those of the minority at the most."""
    whole = _rounded(sizes, minority)
    shares = np.zeros(int(whole[minority].sum()) + 1)
    shares[0] = 1.0
    for size in whole.tolist():
        shares *= 0.5  # each document is in half of the sets
        if size < len(shares):
            shares[size:] += shares[: len(shares) - size].copy()
    return float(shares.sum())


def _rounded(sizes: Floats, minority: np.ndarray) -> np.ndarray:
    """Return sizes in steps: exactly where all are multiples of one, as counts of questions are."""
    exact: np.ndarray = np.round(sizes * 1e9).astype(np.int64)
    exact //= max(int(np.gcd.reduce(exact)), 1)
    if int(exact[minority].sum()) <= STEPS:
        return exact
    return np.asarray(np.round(sizes * (STEPS / sizes[minority].sum())), dtype=np.int64)
