"""Writes what is read in place of the words that events have taken."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit, Span

from .events import DELETE, GARBLE, MOVE, RESPACE, Events, inserted
from .misreading import Confusions, misread, respace, rewrite
from .page import PageWords
from .profile import OPERATIONS, Level
from .taking import FREE, Taken


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes the edits of a page.

    Args:
        draws: (characters, 2) uniform draws, so that what is read for a word does not depend on other events.
    """

    page: PageWords
    level: Level
    confusions: Confusions
    spurious: tuple[str, ...]
    events: Events
    taken: Taken
    draws: NDArray[np.float64]

    def edits(self) -> Iterator[Edit]:
        """Give the edits of all events that happen."""
        for number in self.taken.events:
            first, last = int(self.events.first[number]), int(self.events.last[number])
            if first == last:
                yield self._inserted(number, first)
                continue
            pieces = list(self._pieces(number, first, last))
            target = self.taken.target.get(number)
            operation = int(self.events.operation[number])
            operation = DELETE if operation == MOVE else operation
            for low, high in pieces:
                yield self._edit(operation, low, high, float(self.events.draw[number, 1]))
            if target is not None:
                moved = " ".join(self._text(low, high) for low, high in pieces)
                place = self._before(target)
                yield Edit("move", place, place, f"{moved}\n" if target < len(self.page.start) else f"\n{moved}")

    def _pieces(self, number: int, first: int, last: int) -> Iterator[Span]:
        """Cut an event's words where it does not have them all, or something is written between them."""
        begin = first
        own, gap, joined = self.taken.word, self.taken.gap, self.page.joined
        for place in range(first, last):
            mine = own[place] == number
            if begin < place and (not mine or gap[place] != FREE or not joined[place]):
                yield begin, place
                begin = place
            if not mine:
                begin = place + 1
        if begin < last:
            yield begin, last

    def _edit(self, operation: int, first: int, last: int, draw: float) -> Edit:
        page = self.page
        start, end = int(page.start[first]), int(page.end[last - 1])
        if operation == DELETE:
            if last < len(page.start) and page.joined[last] and page.line[last] == page.line[last - 1]:
                end = int(page.start[last])
            return self._made("delete", start, end, "")
        if operation == RESPACE:
            read = respace(self._text(first, last).split(), draw)
        elif operation == GARBLE:
            read = self._misread(first, last, self._share(draw))
        else:
            read = rewrite(self._text(first, last), draw)
        return self._made(OPERATIONS[operation], start, end, read)

    def _misread(self, first: int, last: int, share: float) -> str:
        page, parts, before = self.page, [], int(self.page.start[first])
        for start, end in zip(page.start[first:last].tolist(), page.end[first:last].tolist(), strict=True):
            word = page.text[start:end]
            parts += [page.text[before:start], misread(word, self.confusions, self.draws[start:end], share)]
            before = end
        return "".join(parts)

    def _share(self, draw: float) -> float:
        steps = self.confusions.steps
        return float(np.interp(draw * (len(steps) - 1), np.arange(len(steps)), steps))

    def _inserted(self, number: int, first: int) -> Edit:
        count, place = inserted(self.level, float(self.events.draw[number, 0])), self._before(first)
        draw = float(self.events.draw[number, 1])
        if draw < self.level.repeated or not self.spurious:
            read = self._text(max(first - count, 0), first) or self._text(
                first, min(first + count, len(self.page.start))
            )
            return Edit("repeat", place, place, f"{read} ")
        step = int(draw * 7919)
        words = (self.spurious[(step + 31 * turn) % len(self.spurious)] for turn in range(count))
        return Edit("insert", place, place, " ".join(words) + " ")

    def _before(self, word: int) -> int:
        return int(self.page.start[word]) if word < len(self.page.start) else int(self.page.end[-1])

    def _text(self, first: int, last: int) -> str:
        return self.page.text[self.page.start[first] : self.page.end[last - 1]] if first < last else ""

    def _made(self, rule: str, start: int, end: int, read: str) -> Edit:
        return Edit(rule, start, end, read, self.page.text[start:end])
