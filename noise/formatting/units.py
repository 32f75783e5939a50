"""Units that a rule may touch, and which of them a rate takes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit, Span

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Making = Callable[[list[int]], list[Edit]]
"""Returns the edits of the units at these places of their arrays."""


def nothing(places: list[int]) -> list[Edit]:  # noqa: ARG001 # a `Making`
    """Make no edit."""
    return []


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one kind on one page.

    Args:
        at: (n,) the rate above which each unit is touched: its draw u in [0, 1) over the weight of its rule.
        starts: (n,) where each unit begins.
        ends: (n,) where it ends; it is touched only if all of it is eligible.
        edits: makes the edits of the units that are touched.
        closing: makes those at their ends that come before whatever else is put in there.
        whole: of two such units that overlap, the one with the smaller `at` is touched.
    """

    at: Floats
    starts: Places
    ends: Places
    edits: Making
    closing: Making = nothing
    whole: bool = False


def thresholds(draws: Floats, weight: float) -> Floats:
    """Return the rates above which units with these draws are touched; none where a rule has no weight."""
    return draws / weight if weight else np.full(len(draws), np.inf)


def painted(spans: Iterable[Span], length: int) -> Flags:
    """Flag each character of a text that is in one of the spans, which may overlap."""
    paint = bytearray(length)
    for start, end in spans:
        paint[start:end] = b"\1" * (end - start)
    return np.frombuffer(paint, dtype=bool)


def touched(units: Sequence[Units], rate: float, eligible: Sequence[Span], length: int) -> list[Edit]:
    """Return the edits of all units that a rate touches; at a lower rate they are a subset of these.

    A `whole` unit that overlaps one with a smaller `at` is left out: what a rate takes, a higher rate takes too. The
    order of the edits is that of what is put in at one place: ends first, then by the order of `units`.
    """
    spans = np.array(sorted(eligible), dtype=np.int64).reshape(-1, 2)
    everywhere = _covers(spans, length)
    ends: list[Edit] = []
    others: list[Edit] = []
    for found in units:
        places = (found.at < rate).nonzero()[0]
        if len(places) and not everywhere:
            places = places[_inside(spans, found.starts[places], found.ends[places])]
        if found.whole and len(places):
            places = _apart(found, places)
        if len(places):
            chosen = places.tolist()
            ends += found.closing(chosen)
            others += found.edits(chosen)
    return ends + others


def _covers(spans: Places, length: int) -> bool:
    return len(spans) == 1 and spans[0, 0] <= 0 and spans[0, 1] >= length


def _inside(spans: Places, starts: Places, ends: Places) -> Flags:
    if not len(spans):
        return np.zeros(len(starts), dtype=bool)
    within = np.searchsorted(spans[:, 0], starts, side="right") - 1
    inside: Flags = (within >= 0) & (ends <= spans[np.maximum(within, 0), 1])
    return inside


def _apart(found: Units, places: Places) -> Places:
    """Leave out what overlaps a unit with a smaller `at`; ascending."""
    places = places[found.starts[places].argsort(kind="stable")]
    starts, ends = found.starts[places], found.ends[places]
    joined = np.zeros(len(places) + 1, dtype=bool)  # to the unit before it
    joined[1:-1] = starts[1:] < np.maximum.accumulate(ends)[:-1]
    crowded = joined[1:] | joined[:-1]
    if not crowded.any():
        return places
    rivals = crowded.nonzero()[0]
    rivals = rivals[found.at[places[rivals]].argsort(kind="stable")]
    kept, busy = ~crowded, bytearray(int(ends.max()))
    for rival, start, end in zip(rivals.tolist(), starts[rivals].tolist(), ends[rivals].tolist(), strict=True):
        if busy.find(1, start, end) < 0:
            busy[start:end] = b"\1" * (end - start)
            kept[rival] = True
    return places[kept]
