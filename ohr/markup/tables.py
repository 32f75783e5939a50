"""Tables in no particular notation: cells that may span rows and columns, their content, and a caption."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from ohr.markup.regions import regions

Style = Literal["bold", "italic", "underline"]
"""Style of a piece of text."""
Marks = Mapping[Style, tuple[str, str]]
"""The marks that begin and end each style in a notation."""

TAGS: Marks = {"bold": ("<b>", "</b>"), "italic": ("<i>", "</i>"), "underline": ("<u>", "</u>")}
"""Opening and closing tag of each style in HTML."""
STYLE_OF_TAG: Mapping[str, Style] = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
}
"""Style of each tag of HTML."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cell.

    Args:
        kind: `text` is plain characters; `formula` includes its delimiters; `raw` is a LaTeX command without a
            counterpart in other notations, kept unchanged; `break` is a line break and has no text.
        styles: from the outermost in.
    """

    kind: Literal["text", "formula", "raw", "break"]
    text: str = ""
    styles: tuple[Style, ...] = ()


Content = tuple[Piece, ...]
"""Text of a cell or line as pieces, in order."""


def joined(pieces: Iterable[Piece]) -> Content:
    """Join adjacent text of one style, collapse white space, and strip it beside breaks and at both ends."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.kind == "break":
            lines.append([])
        else:
            lines[-1].append(piece)
    written = [_line(line) for line in lines]
    while written and not written[-1]:
        written.pop()
    content: list[Piece] = []
    for line in written:
        content += [Piece("break")] * bool(content) + line
    return tuple(content)


def _line(pieces: Iterable[Piece]) -> list[Piece]:
    tidy: list[Piece] = []
    for piece in pieces:
        last = tidy[-1] if tidy else Piece("text", " ")
        text = re.sub(r"\s+", " ", piece.text) if piece.kind == "text" else piece.text
        if piece.kind == "text" and last.text.endswith(" "):
            text = text[1:] if text.startswith(" ") else text
        if text:
            if last.kind == piece.kind == "formula":  # `$a$$b$` would mean something else
                tidy.append(Piece("text", " "))
            tidy.append(Piece(piece.kind, text, piece.styles))
    if tidy and tidy[-1].kind == "text":
        last = tidy.pop()
        tidy += [Piece("text", text, last.styles)] if (text := last.text.rstrip()) else []
    whole: list[Piece] = []
    for (kind, styles), group in groupby(tidy, key=lambda piece: (piece.kind, piece.styles)):
        pieces = list(group)
        whole += [Piece("text", "".join(piece.text for piece in pieces), styles)] if kind == "text" else pieces
    return whole


def split_formulas(text: str, styles: tuple[Style, ...], read: Callable[[str], Iterable[Piece]]) -> Iterable[Piece]:
    """Yield the formulas of a text as pieces, and what `read` makes of the text between them."""
    if "$" not in text and "\\" not in text:
        yield from read(text)
        return
    place = 0
    for region in regions(text):
        if region.kind in ("inline_formula", "block_formula"):
            yield from read(text[place : region.start])
            yield Piece("formula", re.sub(r"\s*\n\s*", " ", text[region.start : region.end]), styles)
            place = region.end
    yield from read(text[place:])


def write(
    content: Sequence[Piece], marks: Marks, text: Callable[[str], str], verbatim: Callable[[str], str], line_break: str
) -> str:
    """Write a cell with the marks and the line break of a notation.

    Args:
        text: escapes plain characters.
        verbatim: escapes formulas and raw commands.
    """
    parts: list[str] = []
    on: tuple[Style, ...] = ()
    for piece in (*content, Piece("text")):
        same = 0
        while same < min(len(on), len(piece.styles)) and on[same] == piece.styles[same]:
            same += 1
        parts += [marks[style][1] for style in reversed(on[same:])]
        parts += [marks[style][0] for style in piece.styles[same:]]
        on = piece.styles
        if piece.kind == "break":
            parts.append(line_break)
        else:
            parts.append(text(piece.text) if piece.kind == "text" else verbatim(piece.text))
    return "".join(parts)


MOST_COLUMNS = 1000
"""A table with more columns is taken for a fault of the engine."""
MOST_PLACES = 200_000
"""A table with more places is taken for broken markup and refused: the largest of OHRBench's has some 2,000."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell at (row, column), from 0, that occupies `rows` x `columns` places."""

    row: int
    column: int
    content: Content
    rows: int = 1
    columns: int = 1
    header: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of `rows` x `columns` places, its cells in reading order; a place without a cell is empty.

    Args:
        rest: markup of a LaTeX `table` besides the tabular and the caption.
    """

    rows: int
    columns: int
    cells: tuple[Cell, ...]
    caption: Content = ()
    rest: str = ""

    def places(self) -> dict[tuple[int, int], Cell]:
        """Return the cell at each place that has one."""
        return {
            (cell.row + down, cell.column + right): cell
            for cell in self.cells
            for down in range(cell.rows)
            for right in range(cell.columns)
        }


@dataclass(slots=True)
class Grid:
    """Places cells row by row as they are read; `losses` collects what had to be changed."""

    losses: list[str]
    _taken: dict[tuple[int, int], int] = field(default_factory=dict)
    _cells: list[Cell] = field(default_factory=list)

    def free(self, row: int, column: int) -> bool:
        """Report whether no cell occupies a place yet."""
        return (row, column) not in self._taken

    def put(self, cell: Cell) -> None:
        """Place a cell; it ends before the next occupied column.

        Raises:
            ValueError: the table has more places than MOST_PLACES, or more columns than MOST_COLUMNS.
        """
        columns = 1
        while columns < cell.columns and self.free(cell.row, cell.column + columns):
            columns += 1
        if columns < cell.columns:
            self.losses.append("a merged cell that overlaps another is cut")
        for down in range(cell.rows):
            for right in range(columns):
                self._taken.setdefault((cell.row + down, cell.column + right), len(self._cells))
        self._cells.append(Cell(cell.row, cell.column, cell.content, cell.rows, columns, cell.header))
        if len(self._taken) > MOST_PLACES or cell.column > MOST_COLUMNS:
            raise ValueError("more places than a table has")

    def cut_above(self, row: int, column: int) -> None:
        """End a merged cell above `row`, because another cell has content at this place."""
        place = self._taken[row, column]
        cell = self._cells[place]
        self.losses.append("a merged cell that overlaps another is cut")
        for down in range(row - cell.row, cell.rows):
            for right in range(cell.columns):
                if self._taken.get((cell.row + down, cell.column + right)) == place:
                    del self._taken[cell.row + down, cell.column + right]
        self._cells[place] = Cell(cell.row, cell.column, cell.content, row - cell.row, cell.columns, cell.header)

    def clear(self, row: int, column: int) -> bool:
        """Remove an empty single cell, to make room for one that spans upwards; return False if there is another."""
        place = self._taken.get((row, column))
        if place is None:
            return True
        cell = self._cells[place]
        if cell.content or cell.rows > 1 or cell.columns > 1:
            return False
        del self._taken[row, column]
        return True

    def table(self, rows: int, caption: Content = (), rest: str = "") -> Table:
        """Return the table; cells are cut below the last row, and empty cells become places without a cell.

        Raises:
            ValueError: the table has more places than MOST_PLACES.
        """
        cells = []
        for cell in self._cells:
            height = min(cell.rows, rows - cell.row)
            if cell.content or height > 1 or cell.columns > 1 or cell.header:
                cells.append(Cell(cell.row, cell.column, cell.content, height, cell.columns, cell.header))
        columns = max((column for _, column in self._taken), default=-1) + 1
        if rows * columns > MOST_PLACES:
            raise ValueError("more places than a table has")
        return Table(rows, columns, tuple(sorted(cells, key=lambda cell: (cell.row, cell.column))), caption, rest)


def counted(losses: Iterable[str]) -> tuple[str, ...]:
    """List each loss once, with how often it occurred."""
    return tuple(loss if count == 1 else f"{loss} ({count} times)" for loss, count in Counter(losses).items())
