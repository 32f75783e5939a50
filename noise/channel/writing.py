"""Writes what is read in place of the words that are lost."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit

from .lines import Ints, Values
from .misreading import Confusions, misread, respace, rewrite
from .page import TABLE, PageWords, places
from .profile import MANY, OPERATIONS, SIZES, Reading
from .transplant import Losses

DELETE, GARBLE, RESPACE, REWRITE, MOVE = range(len(OPERATIONS))
_HALF = 0.5
_FEW_MANY = np.array((2, MANY))
"""Words from which on a run is one of a few words, and of many."""


class Habits:
    """A profile's reading, summed up to draw from.

    Args:
        operations: (SIZES, OPERATIONS) running sums of shares.
        inserted: (sizes,) how many words are added, `often` running sums of how often.
        insertions, repeated, spurious: as in `Reading`.
    """

    def __init__(self, reading: Reading) -> None:
        shares = [[reading.operations[size][one] for one in OPERATIONS] for size in SIZES]
        self.operations: Values = np.cumsum(shares, axis=1)
        self.inserted, often = np.array(reading.inserted or ((1, 1),)).T
        self.often: Ints = np.cumsum(often)
        self.insertions, self.repeated, self.spurious = reading.insertions, reading.repeated, reading.spurious


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
    habits: Habits
    confusions: Confusions
    plain: bool
    draws: Values
    signs: Values

    def edits(self, rate: float) -> Iterator[Edit]:
        """Give the edits at a rate."""
        linked = self._linked()
        yield from self._replaced(*self._pieces(rate, linked))
        if not self.plain:
            yield from self._added(rate, linked)

    def _linked(self) -> NDArray[np.bool_]:
        """(counted,) whether a word is lost together with the one before it, and nothing stands between them."""
        where, event = self.page.counted, self.losses.event
        broken = places(~self.joined).searchsorted(where, side="right")
        made = np.zeros(len(where), dtype=bool)
        made[1:] = (event[1:] == event[:-1]) & (broken[1:] == broken[:-1])
        return made

    def _pieces(self, rate: float, linked: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Give the first and the last of the counted words of each piece that is lost together."""
        lost = (self.losses.rate < rate) & self.eligible[self.page.counted]
        follows = np.zeros(len(lost) + 1, dtype=bool)
        follows[1:-1] = lost[1:] & lost[:-1] & linked[1:]
        return places(lost & ~follows[:-1]), places(lost & ~follows[1:])

    def _operations(self, first: Ints) -> Ints:
        """Choose an operation for each piece, the same for all of an event; it is drawn where the event begins."""
        if self.plain:
            return np.full(len(first), DELETE)
        event, words = self.losses.event, len(self.losses.event)
        count, begin = np.bincount(event), np.zeros(event.max() + 1, dtype=np.int64)
        begin[event[::-1]] = np.arange(words)[::-1]  # the last that is written stays: the first word
        own = event[first]
        row = self.page.kind[self.page.of_line[first]] == TABLE  # SIZES has three for tables behind the four for text
        size = np.where(own >= words, np.where(row, 2, 3), _FEW_MANY.searchsorted(count[own], side="right"))
        size += np.where(row, SIZES.index("cell"), 0)
        upto = self.habits.operations[size]
        chosen: Ints = (self.draws[begin[own], :1] * upto[:, -1:] >= upto).sum(axis=1)
        return np.minimum(chosen, len(OPERATIONS) - 1)

    def _replaced(self, first: Ints, last: Ints) -> Iterator[Edit]:
        page, draw = self.page, self.draws[first, 1]
        low, high = page.counted[first], page.counted[last]
        steps = self.confusions.steps
        share = np.interp(draw * (len(steps) - 1), np.arange(len(steps)), steps)
        found = self._operations(first), first, low, high, page.start[low], page.end[high], self._gap(high), draw, share
        for operation, word, at, upto, start, end, gap, aim, part in zip(*(v.tolist() for v in found), strict=True):
            text = page.text[start:end]
            if operation == DELETE:
                yield Edit("delete", start, gap, "", page.text[start:gap])
            elif operation == MOVE:
                target = self._target(word)
                if target is not None and not start <= target <= end:
                    yield Edit("move", target, target, f"{text}\n")
                yield Edit("delete", start, gap, "", page.text[start:gap])
            elif operation == GARBLE:
                yield Edit("garble", start, end, self._garbled(at, upto + 1, part), text)
            elif operation == RESPACE:
                yield Edit("respace", start, end, respace(text.split(), aim), text)
            else:
                yield Edit("rewrite", start, end, rewrite(text, aim), text)

    def _gap(self, last: Ints) -> Ints:
        """Give where the white space behind a piece ends that goes with it: that before a word of the same line."""
        page, after = self.page, np.minimum(last + 1, len(self.page.start) - 1)
        goes = self.joined[after] & (page.line[after] == page.line[last]) & (after > last)
        return np.where(goes, page.start[after], page.end[last])

    def _target(self, first: int) -> int | None:
        """Choose the line before which moved words are written; beyond the loss as fitted they are only lost."""
        line = int(self.draws[first, 2] * len(self.page.first))
        word = int(self.page.counted[self.page.first[line]])
        return int(self.page.start[word]) if self.eligible[word] and self.losses.rate[first] < _HALF else None

    def _garbled(self, low: int, high: int, share: float) -> str:
        text, starts, ends = self.page.text, self.page.start[low:high].tolist(), self.page.end[low:high].tolist()
        parts, first, before = [], starts[0], starts[0]
        signs = self.signs[first : ends[-1]].tolist()
        for start, end in zip(starts, ends, strict=True):
            draws = signs[start - first : end - first]
            parts += [text[before:start], misread(text[start:end], self.confusions, draws, share)]
            before = end
        return "".join(parts)

    def _added(self, rate: float, linked: NDArray[np.bool_]) -> Iterator[Edit]:
        """Add words between others, no oftener than on the engine's pages."""
        page, habits = self.page, self.habits
        at_head, within = (max(chance, 1e-9) for chance in habits.insertions)
        rank = self.draws[:, 3] / within
        rank[page.first] = self.draws[page.first, 3] / at_head
        free = places(rank < min(1, rate / max(1 - rate, 1e-9)))
        free = free[~linked[free] & self.eligible[page.counted[free]]]
        for number in free.tolist():
            word, share = int(page.counted[number]), float(rank[number])
            place = int(page.start[word])
            draw = self.draws[number, 2] * habits.often[-1]
            count = int(habits.inserted[habits.often.searchsorted(draw, side="right")])
            before = page.text[page.start[max(word - count, 0)] : page.end[word - 1]] if word else ""
            if before and share < habits.repeated:
                yield Edit("repeat", place, place, f"{before} ")
            elif habits.spurious:
                step = int(share * 7919)
                read = (habits.spurious[(step + 31 * turn) % len(habits.spurious)] for turn in range(count))
                yield Edit("insert", place, place, " ".join(read) + " ")
