"""Finds the strength of a noise at which a measured dose meets a target, with few measurements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Measure = Callable[[Sequence[float]], Sequence[float]]
"""Strengths to the dose that each gives; asked for several at once, so that they can be measured side by side."""

_POWER = 0.4  # of the strength, in which doses are nearly normal: most questions break at small strengths
_EDGE = 0.1  # of a bracket: a guess nearer to its end than this would hardly shrink it
_STUBBORN = 4  # guesses, after which brackets are halved in turns with guesses
_NARROW = 1e-6  # brackets are not cut below this
_PROBES = 2  # measurements beyond the scan for a target outside all doses so far


@dataclass(frozen=True, slots=True)
class Found:
    """Where a target was met.

    Args:
        value: the strength whose measured dose is nearest to the target.
        achieved: that dose.
        passes: (strength, dose) of each measurement made for this target, in order.
        met: the dose is within the tolerance.
    """

    target: float
    value: float
    achieved: float
    passes: tuple[tuple[float, float], ...]
    met: bool


class Unreachable(Exception):
    """A target is outside the doses that the noise gives, from `lowest` to `highest`."""

    def __init__(self, target: float, lowest: float, highest: float) -> None:
        super().__init__(f"{target} is not in [{lowest}, {highest}]")
        self.target, self.lowest, self.highest = target, lowest, highest


def search(
    measure: Measure, targets: Sequence[float], *, scan: Sequence[float], tolerance: float, passes: int
) -> list[Found | Unreachable]:
    """Find the strength for each target.

    A scan first, since a dose need not grow with the strength (a little blur can help an engine). Then, for each
    target, its bracket: of the neighboring strengths whose doses lie on both sides of it, those nearest to where an
    isotonic fit of all measurements crosses it. The bracket is cut where a normal distribution function through its
    ends crosses the target: each question breaks at a strength of its own, and those are spread over powers of the
    strength rather than evenly. A target outside all doses makes the widest gap of the scan be looked into.

    Args:
        measure: the dose at some strengths.
        targets: the doses that are wanted.
        scan: strengths that are measured first, ascending.
        tolerance: a dose this near to its target is good enough.
        passes: most strengths measured for a target, those of the scan among them.
    """
    known = dict(zip(scan, measure(scan), strict=True))
    tried = {target: list(scan) for target in targets}
    while True:
        wanted = {}
        for target in dict.fromkeys(targets):
            point = (
                _next(known, target, tolerance, len(tried[target]) - len(scan)) if len(tried[target]) < passes else None
            )
            if point is not None:
                wanted[target] = point
                tried[target].append(point)
        new = [point for point in dict.fromkeys(wanted.values()) if point not in known]
        if not wanted:
            return [_found(known, target, tried[target], tolerance) for target in targets]
        known |= dict(zip(new, measure(new), strict=True))


def _next(known: dict[float, float], target: float, tolerance: float, turn: int) -> float | None:
    """Return the strength to try next; None when there is nothing to gain."""
    if min(abs(dose - target) for dose in known.values()) <= tolerance:
        return None
    strengths = sorted(known)
    brackets = [(a, b) for a, b in pairwise(strengths) if (known[a] - target) * (known[b] - target) < 0]
    if not brackets:
        return _middle(max(pairwise(strengths), key=lambda pair: pair[1] - pair[0])) if turn < _PROBES else None
    crossing = _crossing(strengths, [known[x] for x in strengths], target)
    bracket = min(brackets, key=lambda pair: max(pair[0] - crossing, crossing - pair[1]))
    if bracket[1] - bracket[0] < _NARROW:
        return None
    return _middle(bracket) if turn >= _STUBBORN and turn % 2 else _cut(known, bracket, target)


def _middle(bracket: tuple[float, float]) -> float:
    return (bracket[0] + bracket[1]) / 2


def _cut(known: dict[float, float], bracket: tuple[float, float], target: float) -> float:
    """Interpolate between a bracket's ends."""
    from scipy.special import ndtri

    lowest, highest = min(known.values()), max(known.values())
    doses = np.array([known[bracket[0]], known[bracket[1]], target])
    # a little room at both ends, since the doses so far need not be the extremes
    left, right, here = ndtri(0.02 + 0.96 * (doses - lowest) / (highest - lowest)).tolist()
    low, high = bracket[0] ** _POWER, bracket[1] ** _POWER
    share = min(max((here - left) / (right - left), _EDGE), 1 - _EDGE)
    return float((low + (high - low) * share) ** (1 / _POWER))


def _crossing(strengths: Sequence[float], doses: Sequence[float], target: float) -> float:
    """Return the strength at which an isotonic fit of the doses crosses the target."""
    from scipy.optimize import isotonic_regression

    fitted = isotonic_regression(np.asarray(doses, dtype=float)).x
    # a level stretch gives its middle
    left, right = (int(np.searchsorted(fitted, target, side)) for side in ("left", "right"))
    if left == right:
        return float(np.interp(target, fitted, strengths))
    return float(strengths[left] + strengths[right - 1]) / 2


def _found(known: dict[float, float], target: float, tried: Sequence[float], tolerance: float) -> Found | Unreachable:
    lowest, highest = min(known.values()), max(known.values())
    if not lowest - tolerance <= target <= highest + tolerance:
        return Unreachable(target, lowest, highest)
    value = min(sorted(known), key=lambda strength: abs(known[strength] - target))
    transcript = tuple((strength, known[strength]) for strength in tried)
    return Found(target, value, known[value], transcript, abs(known[value] - target) <= tolerance)
