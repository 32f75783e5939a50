"""Reading order of text lines by recursive cuts along white gaps (Nagy & Seth, ICPR 1984)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, Self

import numpy as np

from ohr.contracts import Recognition, Word

_COLUMN_GAP = 0.012  # of the page's width: narrower gaps are spaces between words or table cells
_COLUMN_WIDTH = 0.18  # of the page's width: narrower columns are table cells, which read row by row


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text and its box, in pixels.

    Args:
        score: the engine's confidence, in [0, 1].
        corners: (4, 2) as the engine returns them, of a box that may be tilted.
    """

    left: float
    top: float
    right: float
    bottom: float
    text: str
    score: float = 1.0
    corners: Any = field(default=None, compare=False)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        return self.left, self.top, self.right, self.bottom

    @classmethod
    def around(cls, corners: Any, text: str, score: float) -> Self:
        """Return the line in the upright box around its corners."""
        (left, top), (right, bottom) = np.min(corners, axis=0).tolist(), np.max(corners, axis=0).tolist()
        return cls(left, top, right, bottom, text, float(score), corners)

    def word(self) -> Word:
        """Return the line with its box and confidence, as results have it."""
        return Word(self.text, self.box, self.score)


def confidence(lines: Sequence[Line]) -> float | None:
    """Return the mean confidence of lines; None where there is none."""
    return round(fmean(line.score for line in lines), 4) if lines else None


def as_read(lines: Sequence[Line], page_width: float) -> Recognition:
    """Return the result of a page from its lines, which come in any order."""
    lines = in_reading_order(lines, page_width)
    words = tuple(line.word() for line in lines)
    return Recognition("\n".join(line.text for line in lines), words=words, confidence=confidence(lines))


def in_reading_order(lines: Sequence[Line], page_width: float) -> list[Line]:
    """Sort lines: columns left to right, inside a column top to bottom, cells of one row left to right."""
    if len(lines) < 2:
        return list(lines)
    columns = _columns(lines, page_width)
    if columns:
        return [line for column in columns for line in in_reading_order(column, page_width)]
    above, below = _widest_gap(lines)
    if below:
        return in_reading_order(above, page_width) + in_reading_order(below, page_width)
    return sorted(lines, key=lambda line: line.left)


def _columns(lines: Sequence[Line], page_width: float) -> list[list[Line]]:
    """Split at the leftmost white gap that has real columns on both sides; return [] where there is none."""
    ordered = sorted(lines, key=lambda line: line.left)
    reach = ordered[0].right
    for place, line in enumerate(ordered[1:], start=1):
        if line.left - reach >= _COLUMN_GAP * page_width:
            left, right = ordered[:place], ordered[place:]
            if _is_column(left, page_width) and _is_column(right, page_width):
                return [left, right]
        reach = max(reach, line.right)
    return []


def _is_column(lines: Sequence[Line], page_width: float) -> bool:
    return len(lines) > 1 and median(line.right - line.left for line in lines) >= _COLUMN_WIDTH * page_width


def _widest_gap(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """Split at the widest horizontal gap between rows of lines; a single row has no second part."""
    ordered = sorted(lines, key=lambda line: line.top + line.bottom)
    height = median(line.bottom - line.top for line in lines)
    reach, best, cut = ordered[0].bottom, -height / 2, 0  # lines of neighboring rows may overlap a little
    for place, line in enumerate(ordered[1:], start=1):
        if line.top - reach > best:
            best, cut = line.top - reach, place
        reach = max(reach, line.bottom)
    return (ordered[:cut], ordered[cut:]) if cut else (list(lines), [])
