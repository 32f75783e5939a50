"""Running heads, feet and page numbers, which a document repeats on its pages, are left out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field
from rapidfuzz.distance import Levenshtein

from ohr.contracts import Page, TextTreatment, TreatedPage

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile("[ivxlc]+")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_DECORATION = re.compile(r"[\W_]+")
_AROUND = 10
"""Pages before and after among which a line is repeated: heads change with the chapter."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line at an edge of a page: its place among the page's lines, its words, and its number beside the page's."""

    place: int
    at_top: bool
    words: str
    offset: int | None


class StripHeaders(TextTreatment, kind="strip_headers"):
    """Leaves out lines at the top or bottom of pages that are repeated on pages near by: heads, feet, page numbers.

    Numbers may differ, and letters as far as `similar` says, since OCR reads one head in several ways; where a line has
    no letters, its number must grow with the pages. It needs whole documents with line ends. A page that has nothing
    else stays as it is.
    """

    lines: Annotated[int, Field(ge=1, le=10, description="Lines at each edge of a page that may be heads.")] = 2
    pages: Annotated[int, Field(ge=2, description="Pages that a line is on at least, of ten before and after.")] = 3
    similar: Annotated[
        float, Field(gt=0, le=1, description="Least similarity, 1 - edits / longer length, of repeated lines.")
    ] = 0.85

    def treat(self, pages: Sequence[Page], rng: np.random.Generator) -> list[TreatedPage]:  # noqa: ARG002
        """Leave lines out. The record has `lines`, how many."""
        edges = [list(self._edges(page)) for page in pages]
        return [self._page(page, place, edges) for place, page in enumerate(pages)]

    def _edges(self, page: Page) -> Iterator[_Line]:
        lines = page.text.split("\n")
        filled = [place for place, line in enumerate(lines) if line.strip()]
        for number, place in enumerate(filled):
            if number < self.lines or number >= len(filled) - self.lines:
                yield _as_line(lines[place], place, number < (len(filled) + 1) // 2, page.index)

    def _page(self, page: Page, place: int, edges: Sequence[Sequence[_Line]]) -> TreatedPage:
        near = [*edges[max(0, place - _AROUND) : place], *edges[place + 1 : place + 1 + _AROUND]]
        heads = {
            line.place
            for line in edges[place]
            if sum(any(self._repeats(line, other) for other in others) for others in near) >= self.pages - 1
        }
        left = [line for number, line in enumerate(page.text.split("\n")) if number not in heads]
        if not heads or not any(map(str.strip, left)):
            return TreatedPage(page.text, {"lines": 0})
        return TreatedPage("\n".join(left).strip("\n"), {"lines": len(heads)})

    def _repeats(self, line: _Line, other: _Line) -> bool:
        if line.at_top != other.at_top:
            return False
        if not line.words or not other.words:
            return line.words == other.words and line.offset is not None and line.offset == other.offset
        return Levenshtein.normalized_similarity(line.words, other.words, score_cutoff=self.similar) > 0


def _as_line(text: str, place: int, at_top: bool, index: int) -> _Line:
    words = _DECORATION.sub(" ", _NUMBER.sub(" ", text.casefold())).strip()
    numbers = _NUMBER.findall(text)
    if not numbers and _ROMAN.fullmatch(words):
        return _Line(place, at_top, "", _roman(words) - index)
    return _Line(place, at_top, words, int(numbers[0][:9]) - index if numbers else None)


def _roman(numeral: str) -> int:
    values = [_VALUES[sign] for sign in numeral]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))
