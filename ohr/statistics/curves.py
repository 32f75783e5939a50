"""Summaries of a curve of performance against noise: retention, the area under it, and where half is lost."""

from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike

from ohr.statistics.clusters import Floats

COVERING, TWO_ENDS = 4, 2
"""Points on or around its interval that an area needs; the difference of two areas needs the ends only."""


def retention(s: ArrayLike, floor: ArrayLike, s0: float, floor0: float) -> Floats:
    """Remaining share of the clean knowledge base's score above its floor: (s - floor) / (s0 - floor0).

    Args:
        s: (points,) or one mean score under noise.
        floor: its floor, of the same shape or one for all.
        s0: mean score on the clean knowledge base.
        floor0: its floor.

    Edge cases: 1 at no noise; below 0 where the score is below its floor; nan where the clean score is not above its
    floor (nothing to lose).
    """
    gain = np.asarray(s, dtype=float) - np.asarray(floor, dtype=float)
    return gain / (s0 - floor0) if s0 > floor0 else np.full_like(gain, nan)


def area(x: ArrayLike, rho: ArrayLike, low: float, high: float, covering: int = COVERING) -> float:
    """Mean of the retention between two amounts of noise, by linear interpolation; higher is better.

    Args:
        x: (points,) amounts of noise, in any order; retentions at equal amounts are averaged.
        rho: (points,) retentions; undefined points are left out.
        low: start of the interval.
        high: its end, above `low`.
        covering: points that must be inside, or be the nearest outside.

    Edge cases: never extrapolates: nan unless the points reach from `low` to `high` and enough of them (at different
    amounts) cover it.
    """
    if not low < high:
        raise ValueError(f"an area needs low < high, not {low} and {high}")
    x, rho, _ = merged(x, rho)
    if not x.size or x[0] > low or x[-1] < high:
        return nan
    first, last = np.searchsorted(x, low, "right") - 1, np.searchsorted(x, high, "left")
    if last - first + 1 < covering:
        return nan
    knots = np.concatenate(([low], x[(x > low) & (x < high)], [high]))
    heights = np.interp(knots, x, rho)
    return float(np.sum((heights[1:] + heights[:-1]) / 2 * np.diff(knots)) / (high - low))


def r50(x: ArrayLike, rho: ArrayLike, share: float = 0.5) -> float:
    """Amount of noise at which retention first falls to one half.

    The points are replaced by the best falling curve (isotonic least squares, by pooling adjacent violators), which is
    read by linear interpolation.

    Args:
        x: (points,) amounts of noise, in any order; retentions at equal amounts are averaged.
        rho: (points,) retentions; undefined points are left out.
        share: the retention that is looked for.

    Edge cases: never falls that far -> inf (report it as above the largest amount); there from the start -> the
    smallest amount; no point -> nan.
    """
    from scipy.optimize import isotonic_regression

    x, rho, weights = merged(x, rho)
    if not x.size:
        return nan
    fit = isotonic_regression(rho, weights=weights, increasing=False).x
    below = np.flatnonzero(fit <= share)
    if not below.size:
        return inf
    end = int(below[0])
    if end == 0:
        return float(x[0])
    return float(np.interp(-share, -fit[end - 1 : end + 1], x[end - 1 : end + 1]))


def merged(x: ArrayLike, rho: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Sort points by x and average those at equal x; returns x, means and counts, without undefined points."""
    x, rho = np.asarray(x, dtype=float), np.asarray(rho, dtype=float)
    defined = ~(np.isnan(x) | np.isnan(rho))
    places, code, counts = np.unique(x[defined], return_inverse=True, return_counts=True)
    return places, np.bincount(code, weights=rho[defined], minlength=len(places)) / counts, counts.astype(float)


def first_zero(x: Floats, gap: Floats) -> float:
    """Return where a curve of differences first changes its sign; inf where it never does."""
    places, values, _ = merged(x, gap)
    for place in range(1, len(places)):
        before, after = values[place - 1], values[place]
        if before != 0 and np.sign(after) != np.sign(before):
            share = before / (before - after)
            return float(places[place - 1] + share * (places[place] - places[place - 1]))
    return inf
