"""Units that a rule may touch, and which of them a rate takes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit, Span

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one rule on one page.

    Args:
        draws: (n,) one u in [0, 1) for each unit; with a weight w it is touched at every rate above u / w.
        starts: (n,) where each unit begins.
        ends: (n,) where it ends; it is touched only if all of it is eligible.
        edits: the edits of the unit at a place in these arrays; made only when it is touched.
        weight: factor of the rate.
        whole: of two such units that overlap the one with the smaller u / w is touched.
    """

    draws: Floats
    starts: Places
    ends: Places
    edits: Callable[[int], tuple[Edit, ...]]
    weight: float = 1.0
    whole: bool = False


def touched(units: Sequence[Units], rate: float, eligible: Sequence[Span], length: int) -> list[Edit]:
    """Give the edits of all units that a rate touches, ascending; at a lower rate they are a subset of these.

    Units are taken in the order of u / w, whatever rule they are of, and one that overlaps an earlier one is left out:
    what a rate takes, a higher rate takes too.
    """
    picked = sorted(_picked(units, rate, eligible))
    busy, taken = bytearray(length), []
    for _, group, place in picked:
        found = units[group]
        start, end = int(found.starts[place]), int(found.ends[place])
        if found.whole:
            if busy.find(1, start, end) >= 0:
                continue
            busy[start:end] = b"\1" * (end - start)
        taken.append((start, end, group, place))
    # in the order of their places, so that a unit's end stands before its neighbour's beginning
    edits = [edit for *_, group, place in sorted(taken) for edit in units[group].edits(place)]
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


def _picked(units: Sequence[Units], rate: float, eligible: Sequence[Span]) -> Iterable[tuple[float, int, int]]:
    spans = np.array(sorted(eligible), dtype=np.int64).reshape(-1, 2)
    for group, found in enumerate(units):
        if not found.weight or not len(found.draws) or not len(spans):
            continue
        at = found.draws / found.weight
        places = np.flatnonzero(at < rate)
        within = np.maximum(np.searchsorted(spans[:, 0], found.starts[places], side="right") - 1, 0)
        inside = (spans[within, 0] <= found.starts[places]) & (found.ends[places] <= spans[within, 1])
        for place in places[inside].tolist():
            yield float(at[place]), group, place
