"""Takes events until as many words of a page are lost as its severity says."""

from dataclasses import dataclass
from itertools import chain

from .events import LINES, MOVE, RUN, Events
from .page import PageWords

FREE = -1


@dataclass(frozen=True, slots=True)
class Taken:
    """What the events that happen take for themselves; an earlier event's words are not touched by a later one.

    Args:
        events: numbers of the events that happen.
        word: of each word, the event that has it, FREE for none.
        gap: of each word and of the end, the event that writes before it.
        target: word before which a moved event's words are written.
    """

    events: list[int]
    word: list[int]
    gap: list[int]
    target: dict[int, int]


def take(page: PageWords, events: Events, natural: float, wanted: float) -> Taken:
    """Take events in their order.

    One that goes beyond what the page loses as fitted is cut short, a run of lines at the end of a line; what cannot be
    cut waits until that is reached. This does not depend on the rate, so the events at a lower rate are the first ones
    of those at a higher rate. What is moved beyond that is not written anywhere: it would not be lost, were all else.

    Args:
        natural: words that the page loses as fitted; `wanted` those that it shall lose.
    """
    taken = Taken([], [FREE] * len(page.start), [FREE] * (len(page.start) + 1), {})
    weight, first, last = page.counted.tolist(), events.first.tolist(), events.last.tolist()
    waiting: list[int] = []
    lost, place = 0.0, 0
    while place < len(first) and lost + 0.5 <= natural:
        size = _size(taken, weight, first[place], last[place])
        if lost + size / 2 > natural:
            last[place] = _cut(taken, page, events, place, natural - lost)
            size = _size(taken, weight, first[place], last[place])
        if last[place] == first[place] and size == 0 and events.last[place] > first[place]:
            waiting.append(place)
        elif lost + max(size, 1) / 2 > wanted:
            return taken
        else:
            lost += size
            _give(taken, events, place, size, last[place])
            _move(taken, page, events, place, last[place])
        place += 1
    lost = max(lost, natural)
    for number in chain(waiting, range(place, len(first))):
        end = int(events.last[number])
        size = _size(taken, weight, first[number], end)
        if lost + max(size, 1) / 2 > wanted:
            return taken
        lost += size
        _give(taken, events, number, size, end)
    return taken


def _size(taken: Taken, weight: list[bool], first: int, last: int) -> int:
    """Count the words that an event would newly lose."""
    word = taken.word
    if last - first == 1:
        return weight[first] if word[first] == FREE else 0
    return sum([weight[place] for place in range(first, last) if word[place] == FREE])


def _cut(taken: Taken, page: PageWords, events: Events, number: int, room: float) -> int:
    """Give where a run ends that shall lose no more than `room` words: where it begins if it cannot be cut."""
    first, last = int(events.first[number]), int(events.last[number])
    if events.source[number] not in (LINES, RUN):
        return first
    counted, lines = page.counted, events.source[number] == LINES
    lost, end = 0, first
    for place in range(first, last):
        lost += bool(counted[place]) and taken.word[place] == FREE
        if lost > room + 0.5:
            break
        if not lines or place + 1 == len(page.line) or page.line[place + 1] != page.line[place]:
            end = place + 1
    return end


def _give(taken: Taken, events: Events, number: int, size: int, last: int) -> None:
    first = int(events.first[number])
    if first == last:
        if _open(taken, first):
            taken.gap[first] = number
            taken.events.append(number)
        return
    if not size:
        return
    word = taken.word
    for place in range(first, last):
        if word[place] == FREE:
            word[place] = number
    taken.events.append(number)


def _move(taken: Taken, page: PageWords, events: Events, number: int, last: int) -> None:
    """Choose where a moved event's words are written, if there is room."""
    first = int(events.first[number])
    if first == last or events.operation[number] != MOVE or number != taken.events[-1]:
        return
    target = int(page.line_start[int(events.draw[number, 0] * (len(page.line_kind) + 1))])
    if not first <= target <= last and _open(taken, target):
        taken.gap[target] = number
        taken.target[number] = target


def _open(taken: Taken, place: int) -> bool:
    """Tell whether something can be written before a word: not in the midst of what is already taken."""
    if taken.gap[place] != FREE:
        return False
    return not (0 < place < len(taken.word) and taken.word[place] == taken.word[place - 1] != FREE)
