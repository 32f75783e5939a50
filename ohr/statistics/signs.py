"""The sign-flip test: could the changes of these documents as well have gone the other way?"""

from math import ceil, log2

import numpy as np

from ohr.statistics.clusters import Floats

ALPHA = 0.05
"""Chance of a wrong finding: of one comparison by itself, or of any in a family."""
EXACT = 16
"""Up to this many changed documents every set of documents is added up: at most 65,536."""
STEPS = 8192
"""Beyond EXACT, sizes without a common unit are rounded to whole steps; the smaller of the two sums, of losses and of
gains, has so many. P values of 18 to 300 documents differ from those of sixteen times as many steps by less than 3%
(`tests/statistics/test_signs.py`)."""
COUNTED = 1000
"""The largest changes that are counted one by one; the sum of all smaller ones has a normal distribution."""
PARTS = 60
"""So many parts of the smallest size are tried as the common unit: means of questions and draws are fractions."""
_TIE = 1e-6  # of a sum: two that differ by less are as large, as scores may have been written with six digits


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
    if not changes.size or abs(sums[0] - sums[1]) <= _TIE * sum(sums):
        return 1.0
    sizes, minority = np.abs(changes), changes > 0 if sums[0] < sums[1] else changes < 0
    share = _exact(sizes, min(sums)) if len(sizes) <= EXACT else _in_steps(sizes, minority)
    return min(1.0, 2 * share)


def _exact(sizes: Floats, most: float) -> float:
    """Return the share of all sets whose sizes add up to `most` at the most."""
    most += _TIE * float(sizes.sum())
    within = np.zeros(1)
    for size in sizes.tolist():
        within = np.concatenate([within, within[within <= most] + size])
    return float((within <= most).sum() * 0.5 ** len(sizes))


def _in_steps(sizes: Floats, minority: np.ndarray) -> float:
    """Return the share of all sets whose sizes, in whole steps, add up to those of the minority at the most."""
    seen = float(sizes[minority].sum())
    if not seen:
        return float(0.5 ** len(sizes))  # of the empty set
    unit = _unit(sizes, seen)
    steps = sizes / (unit or seen / STEPS)
    whole = np.round(steps)
    off = (whole - steps) / 2  # what rounding moves the middle of all sums by
    if unit or len(sizes) <= COUNTED:
        # documents that change equally can change places, so the rounded sum of the minority always counts
        most = max(whole[minority].sum(), steps[minority].sum() + off.sum())
        return float(_shares(whole, int(most)).sum())

    from scipy.special import ndtr

    large, small = np.split(np.argsort(-sizes), [COUNTED])
    most = steps[minority].sum() + off[large].sum()
    shares = _shares(whole[large], int(most))
    left = most - np.arange(len(shares)) - steps[small].sum() / 2
    return float(shares @ ndtr(2 * left / np.sqrt((steps[small] ** 2).sum())))


def _unit(sizes: Floats, seen: float) -> float | None:
    """Return what all sizes are multiples of, as thirds are; None where they have no unit, or too small a one."""
    parts = np.arange(1, PARTS + 1)[:, None]
    multiples = sizes * parts / sizes.min()
    fits = (np.abs(multiples - np.round(multiples)).max(axis=1) <= 1e-3) & (seen * parts[:, 0] / sizes.min() <= STEPS)
    return float(sizes.min() / parts[fits][0, 0]) if fits.any() else None


def _shares(whole: Floats, most: int) -> Floats:
    """Return the share of all sets with each sum from 0 to `most`."""
    shares = np.zeros(most + 1)
    shares[0] = 1.0
    for size in whole.astype(np.int64).tolist():
        shares *= 0.5  # each document is in half of the sets
        if size <= most:
            shares[size:] += shares[: most + 1 - size].copy()
    return shares
