"""Loops: texts that say the same again and again, as models write that do not find an end."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .chinese import HAN
from .unspaced import UNSPACED

_PIECE = re.compile(rf"[^\W\d_{UNSPACED}{HAN}]{{1,40}}|\d{{1,40}}|<[^<>]{{1,200}}>|\\[A-Za-z]{{1,40}}|\S")
"""Words, numbers, markup, and single signs, as the letters of scripts without spaces are."""
_TOGETHER = 3
"""Pieces that come again together before a period is looked at: a word alone comes again everywhere."""
_CELLS = re.compile(r"[|&\t]|\\\\|__|[^\s.!?] {2,}\S")
"""Borders of the cells of a row, and the lines of forms."""
_LEAST = 80
"""Characters of a loop."""
_LONG = 40
_WORDS = 4
"""Characters, or words, one less with a stop, from which a unit is a sentence: shorter ones come again in lists."""
_STOPS = ".!?。！？"
_NEVER = sys.maxsize
_TIMES = {
    "long": (20, 12), "short": (200, 200), "signs": (1_000, 1_000), "formula": (100, 100), "html": (_NEVER, 100),
    "row": (_NEVER, _NEVER),
}  # fmt: skip
"""How often each kind of unit is there in a loop, and in one that is most of a text, to its end.

People write forms, questionnaires and refrains with six equal lines, and a cell such as N/A 140 times; rows of HTML are
a loop where their table does not end. Of the 3,590 pages of OHRBench's ground truth, a sentence is there 6 times, a
name 10 times; on MinerU's, a name 25 times; the formulas in which it loops repeat a command 115 and 198 times.
"""
_FEWEST = min(min(times) for times in _TIMES.values())
_ANCHOR, _STRIDE, _CHECKED = 8, 32, 3
"""Signs that must come again, signs between those that are looked at, and times that a unit must follow itself at once.

Without white space a loop has at least 60 signs: 12 times a long unit, which has 5 where at most 8 blanks are in a row,
or 100 times another. So one of the signs that are looked at has these repeats after it, and the next one is no farther
than a twelfth of what is left.
"""
_BLANKS = re.compile(r"\s{9}")


class Loop(NamedTuple):
    """A stretch of a text that repeats a unit.

    Attributes:
        start: where it begins.
        once: where the first occurrence ends.
        end: where it ends; the last occurrence may be cut.
    """

    start: int
    once: int
    end: int


def loops(text: str) -> list[Loop]:
    """Return the loops of a text, ascending; of two that overlap, the longer one.

    The repeats that people write are none: rows and cells of tables, names in a list, dots that lead to a page's
    number, rules.
    """
    if not _may_loop(text):
        return []
    pieces: list[str] = _PIECE.findall(text)
    often = [run for run in _runs(pieces) if run[1] - run[0] >= _FEWEST * run[2]]
    places = [match.span() for match in _PIECE.finditer(text)] if often else []
    longest: list[Loop] = []
    for first, last, period in sorted(often):
        first = _sentence(text, places, first, first + period)
        loop = Loop(places[first][0], places[first + period - 1][1], places[last - 1][1])
        unit = text[loop.start : places[first + period][0] + 1]  # and what is before the next one
        is_tail = last == len(pieces) and 2 * (loop.end - loop.start) >= len(text)
        times = _TIMES[_kind(pieces[first : first + period], unit)][is_tail]
        if loop.end - loop.start < _LEAST or last - first < times * period:
            continue
        if longest and loop.start < longest[-1].end:
            longest[-1] = max(longest[-1], loop, key=lambda each: each.end - each.start)
        else:
            longest.append(loop)
    return longest


def _may_loop(text: str) -> bool:
    """Report whether anything in a text follows itself at once several times; most texts have nothing that does."""
    if _BLANKS.search(text):
        return True
    signs = "".join(text.split())
    for place in range(0, len(signs) - _ANCHOR, _STRIDE):
        anchor, left = signs[place : place + _ANCHOR], len(signs) - place + _STRIDE
        last = place + _ANCHOR + left // _FEWEST + 1
        again = signs.find(anchor, place + 1, last)
        while again >= 0:
            if signs.startswith(signs[place : place + _CHECKED * (again - place)], again):
                return True
            again = signs.find(anchor, again + 1, last)
    return False


def _sentence(text: str, places: Sequence[tuple[int, int]], first: int, last: int) -> int:
    """Return where a line or sentence begins, since a unit is the same from any of its pieces on; else the first."""
    for place in range(first, last):
        before = text[places[place - 1][1] - 1 : places[place][0]] if place else "\n"
        if "\n" in before or before[0] in _STOPS:
            return place
    return first


def _kind(pieces: Sequence[str], unit: str) -> str:
    """Return the kind of a unit, of which a text has the more, the less it says."""
    if _CELLS.search(unit):
        return "row"
    if any(piece[0] == "<" for piece in pieces):
        return "html"
    if any(piece[0] == "\\" < piece for piece in pieces):
        return "formula"
    words = [piece for piece in pieces if piece[0].isalpha()]
    if 2 * sum(map(len, words)) <= sum(map(len, pieces)):
        return "signs"
    least = _WORDS - any(piece in _STOPS for piece in pieces)
    return "long" if len(unit) > _LONG or sum(min(len(word), 2) for word in words) >= 2 * least else "short"


def _runs(pieces: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield each stretch that repeats a unit: its first piece, the one after its last, and the unit's pieces."""
    seen: dict[tuple[str, ...], int] = {}
    looked_at: dict[int, int] = {}  # by period, the end of what was looked at
    for place, together in enumerate(zip(pieces, pieces[1:], pieces[2:], strict=False)):
        before = seen.get(together)
        seen[together] = place
        if before is None or place < looked_at.get(place - before, 0):
            continue
        period, first, last = place - before, place, place + _TOGETHER
        while last < len(pieces) and pieces[last] == pieces[last - period]:
            last += 1
        while first > max(period, looked_at.get(period, 0)) and pieces[first - 1] == pieces[first - 1 - period]:
            first -= 1
        looked_at[period] = last
        if last - first >= period:
            is_cut = last == len(pieces) - 1 and pieces[last - period].startswith(pieces[last])
            yield first - period, last + is_cut, period


def repeated_tail(text: str) -> float:
    """Return the share of the text that its longest repeated tail makes up: 0 without one, 1 if it is all of it.

    A repeated tail is a unit that occurs at least twice in a row at the end of the text; the last occurrence, which is
    the first from the end, may be cut. Linear in the text's length: a prefix of the reversed text with a border of b
    characters has the period n - b (Knuth, Morris & Pratt 1977, doi:10.1137/0206024).
    """
    signs = text.rstrip()[::-1]
    borders, longest = [0] * len(signs), 0
    for place in range(1, len(signs)):
        border = borders[place - 1]
        while border and signs[place] != signs[border]:
            border = borders[border - 1]
        borders[place] = border + (signs[place] == signs[border])
        length = place + 1
        if length >= 2 * (length - borders[place]):
            longest = length
    return longest / len(signs) if signs else 0.0
