"""Summaries of a curve of performance against noise: retention, area under it, and where half is lost."""

from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

COVERING = 4
"""An area needs at least this many points on or around its interval."""


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


def area(x: ArrayLike, rho: ArrayLike, low: float, high: float) -> float:
    """Mean of the retention between two amounts of noise, by linear interpolation; higher is better.

    Args:
        x: (points,) amounts of noise, in any order; retentions at equal amounts are averaged.
        rho: (points,) retentions; undefined points are left out.
        low: start of the interval.
        high: its end, above `low`.

    Edge cases: never extrapolates: nan unless the points reach from `low` to `high` and at least 4 of them (at
    different amounts) are inside or are the nearest outside.
    """
    if not low < high:
        raise ValueError(f"an area needs low < high, not {low} and {high}")
    x, rho, _ = _merged(x, rho)
    if not x.size or x[0] > low or x[-1] < high:
        return nan
    first, last = np.searchsorted(x, low, "right") - 1, np.searchsorted(x, high, "left")
    if last - first + 1 < COVERING:
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

    x, rho, weights = _merged(x, rho)
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


def _merged(x: ArrayLike, rho: ArrayLike) -> tuple[Floats, Floats, Floats]:
    x, rho = np.asarray(x, dtype=float), np.asarray(rho, dtype=float)
    defined = ~(np.isnan(x) | np.isnan(rho))
    places, code, counts = np.unique(x[defined], return_inverse=True, return_counts=True)
    return places, np.bincount(code, weights=rho[defined], minlength=len(places)) / counts, counts.astype(float)
