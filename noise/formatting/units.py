"""Units that a rule may touch, which of them a rate takes, and the cells of tables."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit, Span
from ohr.markup import html, markdown
from ohr.markup.regions import Region, regions
from ohr.markup.tabular import Tabular

from . import formulas

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
    for kind in units:
        places = (kind.at < rate).nonzero()[0]
        if len(places) and not everywhere:
            places = places[_inside(spans, kind.starts[places], kind.ends[places])]
        if kind.whole and len(places):
            places = _apart(kind, places)
        if len(places):
            chosen = places.tolist()
            ends += kind.closing(chosen)
            others += kind.edits(chosen)
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
    free, busy = ~crowded, bytearray(int(ends.max()))
    for rival, start, end in zip(rivals.tolist(), starts[rivals].tolist(), ends[rivals].tolist(), strict=True):
        if busy.find(1, start, end) < 0:
            busy[start:end] = b"\1" * (end - start)
            free[rival] = True
    return places[free]


MARKDOWN = (("**", "**"), ("*", "*"), ("_", "_"))
LATEX = (("\\textbf{", "}"), ("\\textit{", "}"), ("\\underline{", "}"))
"""Bold, italic and underline in both notations (III.1.1)."""

_SOUND = r"(?:[^\s\\{}$&%<>#*_|^~`]|\\[&%$#_])++(?!\S)"
_STRETCH = re.compile(rf"({_SOUND}(?:\s++{_SOUND})*+)|\S+")
"""Words without markup of their own, side by side; or another word."""

_WORD = re.compile(r"\S+")
_LINES = re.compile(r"[^\n]+")


def cells(text: str, region: Region, found: Sequence[Tabular]) -> Iterator[Span]:
    """Find the content of a table's cells that have any; an HTML cell with tags in it is left out.

    Args:
        found: the tabulars of the region, if it is LaTeX.
    """
    if found:  # no white space around the content
        yield from (
            (cell.start, cell.end) for one in found for row in one.rows for cell in row.cells if cell.start < cell.end
        )
        return
    rows = html.rows if text.startswith("<", region.start) else markdown.rows
    for start, end in chain.from_iterable(rows(text, region.start, region.end)):
        inner = text[start:end]
        start += len(inner) - len(inner.lstrip())
        if (stripped := inner.strip()) and not (rows is html.rows and "<" in inner):
            yield start, start + len(stripped)


def edited(
    rule: str, text: str, cell: Span, draws: list[float], markdown: float, *, of_line: bool = False
) -> tuple[Edit, ...]:
    """Apply one rule of plain text or of formulas to a cell; `draws` are 18 numbers in [0, 1).

    With `of_line`, no edit has its two ends on two lines, and no formula is converted.
    """
    start, end = cell
    inner = regions(text[start:end])
    if len(inner) == 1 and inner[0].kind == "text":  # most cells
        return _styled(rule, text, _lines(text, [cell]) if of_line else [cell], draws, markdown)
    maths = [region for region in inner if region.kind in ("inline_formula", "block_formula")]
    words = [region for region in inner if region.kind == "text" and text[start:end][region.start : region.end].strip()]
    options = ["style"] * bool(words) + (["conversion"] * (not of_line) + ["spaces", "symbols"]) * bool(maths)
    first = int(draws[0] * len(options))
    for option in options[first:] + options[:first]:  # the next one where there is nothing to do for the drawn one
        if option == "style":
            spans = [(start + region.start, start + region.end) for region in words]
            edits = _styled(rule, text, _lines(text, spans) if of_line else spans, draws, markdown)
        else:
            region = maths[int(draws[1] * len(maths))]
            edits = _reformed(rule, option, text, region, start, draws)
        if edits:
            return edits
    return ()


def _lines(text: str, spans: list[Span]) -> list[Span]:
    return [line.span() for span in spans for line in _LINES.finditer(text, *span)]


def _reformed(rule: str, option: str, text: str, region: Region, offset: int, draws: list[float]) -> tuple[Edit, ...]:
    body = (offset + region.body[0], offset + region.body[1])
    if option == "conversion":
        return formulas.converted(rule, text, offset + region.start, offset + region.end, body)
    if option == "spaces":
        return formulas.spaced(rule, text, body, draws[7:])
    symbols = formulas.scan(text[slice(*body)]).symbols
    if not symbols:
        return ()
    return formulas.swapped(rule, text, body[0], symbols[int(draws[2] * len(symbols))], draws[3])


def _styled(rule: str, text: str, spans: list[Span], draws: list[float], markdown: float) -> tuple[Edit, ...]:
    """Wrap up to five adjacent words that have no markup of their own."""
    stretches = [match.span() for span in spans for match in _STRETCH.finditer(text, *span) if match[1]]
    if not stretches:
        return ()
    stretch = stretches[int(draws[2] * len(stretches))]
    words = [word.span() for word in _WORD.finditer(text, *stretch)]
    count = len(words) if len(words) <= 5 else 2 + int(draws[3] * 4)
    first = int(draws[4] * (len(words) - count + 1))
    notation = MARKDOWN if draws[5] < markdown else LATEX
    before, after = notation[int(draws[6] * 3)]
    start, end = words[first][0], words[first + count - 1][1]
    return Edit(rule, start, start, before), Edit(rule, end, end, after)
