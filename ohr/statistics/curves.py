"""Summaries of a curve of performance against noise: retention, the area under it, and where half is lost."""

from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike

from ohr.statistics.clusters import Floats
from ohr.statistics.estimate import SAME

COVERING = 3
"""Levels on or around its interval that an area needs, with no gap wider than the interval.

On simulated falling curves areas from three levels are then as near to the truth as those from four without a limit of
gaps: off by .02 in the median and at most .2 (`docs/statistics.md`).
"""


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


def uncovered(x: Floats, low: float, high: float) -> str:
    """Return why points do not cover an interval of doses, so that it has no area; "" where they do.

    Args:
        x: (points,) amounts of noise, in any order; equal ones count once, and nan is left out.
        low: start of the interval.
        high: its end.
    """
    x = np.unique(x[~np.isnan(x)])
    if not x.size:
        return "the doses are not known"
    if x[0] > low:
        return f"starts at dose {x[0]:.2f}, after {low:.2f}"
    if x[-1] < high:
        return f"reaches dose {x[-1]:.2f} of {high:.2f}"
    around = _around(x, low, high)
    if around.size < COVERING:
        return f"needs {COVERING} levels on or around {low:.2f} to {high:.2f}, has {around.size}"
    widest = int(np.diff(around).argmax())
    if around[widest + 1] - around[widest] > high - low + SAME:
        return f"no level between doses {around[widest]:.2f} and {around[widest + 1]:.2f}"
    return ""


def levels_around(x: Floats, low: float, high: float) -> int:
    """Return how many different amounts of noise are in an interval that they cover, or are the nearest outside."""
    return _around(np.unique(x), low, high).size


def _around(x: Floats, low: float, high: float) -> Floats:
    return x[np.searchsorted(x, low, "right") - 1 : np.searchsorted(x, high, "left") + 1]


def area(x: ArrayLike, rho: ArrayLike, low: float, high: float) -> float:
    """Mean of the retention between two amounts of noise, by linear interpolation; higher is better.

    Args:
        x: (points,) amounts of noise, in any order; retentions at equal amounts are averaged.
        rho: (points,) retentions; undefined points are left out.
        low: start of the interval.
        high: its end, above `low`.

    Edge cases: never extrapolates: nan where the points do not cover the interval (`uncovered`).
    """
    if not low < high:
        raise ValueError(f"an area needs low < high, not {low} and {high}")
    x, rho, _ = merged(x, rho)
    if uncovered(x, low, high):
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
