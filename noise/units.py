"""Units that a rule may touch, and which of them a rate takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit, Span

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one kind on one page.

    Args:
        at: (n,) the rate above which each unit is touched: its draw u in [0, 1) over the weight of its rule.
        starts: (n,) where each unit begins.
        ends: (n,) where it ends; it is touched only if all of it is eligible.
        edits: gives the edits of the units at these places of the arrays; called for those that are touched.
        whole: of two such units that overlap, the one with the smaller `at` is touched.
    """

    at: Floats
    starts: Places
    ends: Places
    edits: Callable[[list[int]], list[tuple[Edit, ...]]]
    whole: bool = False


def thresholds(draws: Floats, weight: float) -> Floats:
    """Give the rates above which units with these draws are touched; none where a rule has no weight."""
    return draws / weight if weight else np.full(len(draws), np.inf)


def touched(units: Sequence[Units], rate: float, eligible: Sequence[Span], length: int) -> list[Edit]:
    """Give the edits of all units that a rate touches, ascending; at a lower rate they are a subset of these.

    Units are taken in the order of `at`, whatever rule they are of, and one that overlaps an earlier one is left out:
    what a rate takes, a higher rate takes too.
    """
    spans = np.array(sorted(eligible), dtype=np.int64).reshape(-1, 2)
    taken: list[tuple[int, int, tuple[Edit, ...]]] = []
    for found in units:
        places = np.flatnonzero(found.at < rate)
        if len(places) and not _covers(spans, length):
            places = places[_inside(spans, found.starts[places], found.ends[places])]
        if found.whole:
            places = _apart(found, places, length)
        if len(places):
            starts, ends = found.starts[places].tolist(), found.ends[places].tolist()
            taken += zip(starts, ends, found.edits(places.tolist()), strict=True)
    # in the order of their places, so that a unit's end stands before its neighbour's beginning
    taken.sort(key=itemgetter(0, 1))
    return sorted(chain.from_iterable(made for *_, made in taken), key=attrgetter("start", "end"))


def _covers(spans: Places, length: int) -> bool:
    return len(spans) == 1 and spans[0, 0] <= 0 and spans[0, 1] >= length


def _inside(spans: Places, starts: Places, ends: Places) -> Flags:
    if not len(spans):
        return np.zeros(len(starts), dtype=bool)
    within = np.searchsorted(spans[:, 0], starts, side="right") - 1
    inside: Flags = (within >= 0) & (ends <= spans[np.maximum(within, 0), 1])
    return inside


def _apart(found: Units, places: Places, length: int) -> Places:
    """Leave out what overlaps a unit with a smaller `at`."""
    order = places[np.argsort(found.at[places], kind="stable")]
    busy, kept = bytearray(length), []
    for place, start, end in zip(order.tolist(), found.starts[order].tolist(), found.ends[order].tolist(), strict=True):
        if busy.find(1, start, end) < 0:
            busy[start:end] = b"\1" * (end - start)
            kept.append(place)
    return np.array(kept, dtype=np.int64)
