"""Writes what is read in place of the words that are lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit

from .misreading import Confusions, misread, respace, rewrite
from .page import PageWords
from .profile import OPERATIONS, SIZES, Reading
from .transplant import Losses

DELETE, GARBLE, RESPACE, REWRITE, MOVE = range(len(OPERATIONS))
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes the edits of a page; nothing that is drawn depends on the rate.

    Args:
        eligible: (words,) of all words, marks included; `joined` whether only white space of the same span parts a
            word from the one before.
        plain: whether what is lost is only left out: for baselines, and pages on which nothing is read.
        draws: (counted, 4) uniform draws; `signs` (characters, 2).
    """

    page: PageWords
    eligible: NDArray[np.bool_]
    joined: NDArray[np.bool_]
    losses: Losses
    reading: Reading
    confusions: Confusions
    plain: bool
    draws: NDArray[np.float64]
    signs: NDArray[np.float64]

    def edits(self, rate: float) -> Iterator[Edit]:
        """Give the edits at a rate."""
        operation = self._operations()
        for first, last in self._pieces(rate):
            yield from self._replaced(int(operation[first]), first, last)
        if not self.plain:
            yield from self._added(rate)

    def _pieces(self, rate: float) -> Iterator[tuple[int, int]]:
        """Give the first of the counted words of each piece that is lost together, and the one after its last."""
        losses, where = self.losses, self.page.counted
        chosen = np.flatnonzero((losses.rate < rate) & self.eligible[where])
        if not len(chosen):
            return
        apart = ~self._linked()[chosen[1:]] | (np.diff(chosen) > 1)
        cuts = np.flatnonzero(np.concatenate([[True], apart, [True]])).tolist()
        yield from ((int(chosen[low]), int(chosen[high - 1]) + 1) for low, high in pairwise(cuts))

    def _linked(self) -> NDArray[np.bool_]:
        """(counted,) whether a word is lost together with the one before it, and nothing stands between them."""
        where, event = self.page.counted, self.losses.event
        broken = np.cumsum(~self.joined)[where]
        made = np.zeros(len(where), dtype=bool)
        made[1:] = (event[1:] == event[:-1]) & (broken[1:] == broken[:-1])
        return made

    def _operations(self) -> NDArray[np.int64]:
        """Choose an operation for each word, the same for all of an event."""
        if self.plain:
            return np.full(len(self.losses.event), DELETE)
        words = len(self.losses.event)
        event, first, back, count = np.unique(
            self.losses.event, return_index=True, return_inverse=True, return_counts=True
        )
        size = np.where(event >= words, SIZES.index("lines"), np.searchsorted((2, 10), count, side="right"))
        upto = np.cumsum([[self.reading.operations[name][one] for one in OPERATIONS] for name in SIZES], axis=1)
        chosen = (self.draws[first, :1] * upto[size, -1:] >= upto[size]).sum(axis=1)
        made: NDArray[np.int64] = np.minimum(chosen, len(OPERATIONS) - 1)[back]
        return made

    def _replaced(self, operation: int, first: int, last: int) -> Iterator[Edit]:
        page, draw = self.page, float(self.draws[first, 1])
        low, high = int(page.counted[first]), int(page.counted[last - 1]) + 1
        start, end = int(page.start[low]), int(page.end[high - 1])
        text = page.text[start:end]
        if operation in (DELETE, MOVE):
            target = self._target(first) if operation == MOVE else None
            if target is not None and not start <= target <= end:
                yield Edit("move", target, target, f"{text}\n")
            if high < len(page.start) and self.joined[high] and page.line[high] == page.line[high - 1]:
                end = int(page.start[high])
            yield self._made("delete", start, end, "")
        elif operation == GARBLE:
            yield self._made("garble", start, end, self._garbled(low, high, draw))
        else:
            read = respace(text.split(), draw) if operation == RESPACE else rewrite(text, draw)
            yield self._made(OPERATIONS[operation], start, end, read)

    def _target(self, first: int) -> int | None:
        """Choose the line before which moved words are written; beyond the loss as fitted they are only lost."""
        line = int(self.draws[first, 2] * len(self.page.first))
        word = int(self.page.counted[self.page.first[line]])
        return int(self.page.start[word]) if self.eligible[word] and self.losses.rate[first] < _HALF else None

    def _garbled(self, low: int, high: int, draw: float) -> str:
        page, parts, before = self.page, [], int(self.page.start[low])
        steps = self.confusions.steps
        share = float(np.interp(draw * (len(steps) - 1), np.arange(len(steps)), steps))
        for start, end in zip(page.start[low:high].tolist(), page.end[low:high].tolist(), strict=True):
            word = page.text[start:end]
            parts += [page.text[before:start], misread(word, self.confusions, self.signs[start:end], share)]
            before = end
        return "".join(parts)

    def _added(self, rate: float) -> Iterator[Edit]:
        """Add words between others, no oftener than on the engine's pages."""
        page, reading = self.page, self.reading
        heads = np.zeros(len(page.counted), dtype=bool)
        heads[page.first] = True
        chance = np.where(heads, *reading.insertions)
        rank = self.draws[:, 3] / np.maximum(chance, 1e-9)
        free = (rank < 1) & (rank < rate / max(1 - rate, 1e-9)) & ~self._linked() & self.eligible[page.counted]
        sizes, often = np.array(reading.inserted or ((1, 1),)).T
        upto = np.cumsum(often)
        for number in np.flatnonzero(free).tolist():
            word, share = int(page.counted[number]), float(rank[number])
            place = int(page.start[word])
            count = int(sizes[np.searchsorted(upto, self.draws[number, 2] * upto[-1], side="right")])
            before = page.text[page.start[max(word - count, 0)] : page.end[word - 1]] if word else ""
            if before and share < reading.repeated:
                yield Edit("repeat", place, place, f"{before} ")
            elif reading.spurious:
                step = int(share * 7919)
                read = (reading.spurious[(step + 31 * turn) % len(reading.spurious)] for turn in range(count))
                yield Edit("insert", place, place, " ".join(read) + " ")

    def _made(self, rule: str, start: int, end: int, read: str) -> Edit:
        return Edit(rule, start, end, read, self.page.text[start:end])
