"""Tables of a page as grids of cells, whose neighbors and headings olmOCR-bench's tests ask for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal, NamedTuple

from ohr.extras import load

from .normal_text import normal_text

Direction = Literal["up", "down", "left", "right"]

_STEPS: dict[Direction, tuple[int, int]] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
_MOST_PLACES = 1_000_000
"""Places of one table, spans included; a span of a model that lost count may ask for any number of them."""


class Cell(NamedTuple):
    """A cell, its text in normal form; where its spans reach over others, it is at the places that it still has."""

    text: str
    row: int
    column: int
    rows: int = 1
    columns: int = 1
    is_heading: bool = False


@dataclass(frozen=True)
class Grid:
    """The cells of a table, and for each place the number of its cell, or None."""

    cells: Sequence[Cell]
    places: Sequence[Sequence[int | None]]

    def neighbors(self, number: int, direction: Direction) -> set[int]:
        """Return the nearest other cells in a direction, seen from each row or column of a cell."""
        cell, (down, right) = self.cells[number], _STEPS[direction]
        rows, columns = range(cell.row, cell.row + cell.rows), range(cell.column, cell.column + cell.columns)
        if down:
            edge = [(rows[-1] if down > 0 else rows[0], column) for column in columns]
        else:
            edge = [(row, columns[-1] if right > 0 else columns[0]) for row in rows]
        nearest = (next(self._beyond(place, number, down, right), None) for place in edge)
        return {other for other in nearest if other is not None}

    def headings(self, number: int, direction: Literal["up", "left"]) -> set[int]:
        """Return the heading cells on the ways from a cell to the edge of its table, or the last cells if none is."""
        reached = {number}
        ends = set()
        pending = [number]
        while pending:
            cell = pending.pop()
            beyond = self.neighbors(cell, direction)
            if not beyond:
                ends.add(cell)
            pending.extend(beyond - reached)
            reached |= beyond
        return {cell for cell in reached if self.cells[cell].is_heading} - {number} or ends - {number}

    def _beyond(self, place: tuple[int, int], number: int, down: int, right: int) -> Iterator[int]:
        row, column = place[0] + down, place[1] + right
        while 0 <= row < len(self.places) and 0 <= column < len(self.places[0]):
            other = self.places[row][column]
            if other is not None and other != number:
                yield other
            row, column = row + down, column + right


@lru_cache(maxsize=8)  # the tests of a page follow each other
def markdown_grids(page: str) -> tuple[Grid, ...]:
    """Return the tables of at least two lines with pipes; first row and first column are headings."""
    grids = []
    for has_pipe, group in groupby(page.strip().split("\n"), key=lambda line: "|" in line):
        lines = list(group)
        if has_pipe and len(lines) > 1:
            rows = [_cells_of(line) for line in _without_rules(lines)]
            cells = [
                [(text, 1, 1, row == 0 or column == 0) for column, text in enumerate(texts)]
                for row, texts in enumerate(filter(None, rows))
            ]
            grids.append(_grid(cells))
    return tuple(grid for grid in grids if grid)


@lru_cache(maxsize=8)
def html_grids(page: str) -> tuple[Grid, ...]:
    """Return the tables in HTML; `<th>` and cells in `<thead>` are headings, and nested tables are tables too.

    Raises:
        ValueError: For what the HTML parser rejects, and for spans that overlap so that a cell ends below its table;
            the published code stops there with an error, which counts as a test that is not passed.
    """
    bs4 = load("bs4", "parse_scores")
    try:
        soup = bs4.BeautifulSoup(page, "html.parser")
    except bs4.ParserRejectedMarkup as error:
        raise ValueError("the HTML of the page cannot be read") from error
    for line_break in soup.find_all("br"):
        line_break.replace_with("\n")
    grids = (_grid([list(_cells_in(row, rows)) for row in enumerate(rows)]) for rows in _rows(soup))
    return tuple(grid for grid in grids if grid)


def _rows(soup: Any) -> Iterator[list[Any]]:
    return (table.find_all("tr") for table in soup.find_all("table"))


def _cells_in(row: tuple[int, Any], rows: Sequence[Any]) -> Iterator[tuple[str, int, int, bool]]:
    in_head = row[1].find_parent("thead") is not None
    for cell in row[1].find_all(["th", "td"], recursive=False):
        # rowspan=0 reaches to the end of the table
        to_end = str(cell.get("rowspan", "")).strip() == "0"
        height = len(rows) - row[0] if to_end else _span(cell.get("rowspan"))
        yield cell.get_text().strip(), height, _span(cell.get("colspan")), cell.name == "th" or in_head


def _span(value: str | None) -> int:
    try:
        return max(1, int(value or 1))
    except ValueError:
        return 1


def _without_rules(lines: Sequence[str]) -> Iterator[str]:
    """Leave out the first line that is a rule but for white space, and all that are nothing but signs of rules."""
    rules = (number for number, line in enumerate(lines) if _is_of("- :", line.replace("|", "").strip()))
    first = next(rules, None)
    return (line for number, line in enumerate(lines) if number != first and not _is_of("- :|", line))


def _is_of(signs: str, line: str) -> bool:
    return bool(line.strip()) and set(line) <= set(signs)


def _cells_of(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.split("|")]
    cells = cells[cells[0] == "" :]
    return cells[:-1] if cells and not cells[-1] else cells


def _grid(rows: Sequence[Iterable[tuple[str, int, int, bool]]]) -> Grid | None:
    """Place cells from left to right, below spans of rows above; None without a cell, or with too many places."""
    cells: list[Cell] = []
    places: list[list[int | None]] = []
    hanging: list[tuple[int, int] | None] = []  # by column: the cell that reaches down to the next row, how far
    for row, contents in enumerate(rows):
        line: list[int | None] = []
        for text, height, width, is_heading in contents:
            _let_hang(hanging, line, up_to_gap=True)
            cells.append(Cell(normal_text(text), row, len(line), height, width, is_heading))
            if (len(line) + width) * max(height, len(rows)) > _MOST_PLACES:
                return None
            hanging.extend([None] * (len(line) + width - len(hanging)))
            hanging[len(line) : len(line) + width] = [(len(cells) - 1, height - 1) if height > 1 else None] * width
            line.extend([len(cells) - 1] * width)
        _let_hang(hanging, line)
        places.append(line)
    while any(hanging):
        _let_hang(hanging, line := [])
        places.append(line)
    if not cells:
        return None
    width = max(column + 1 for line in places for column, cell in enumerate(line) if cell is not None)
    if any(cell.row + cell.rows > len(places) and (cell.column or cell.columns < width) for cell in cells):
        raise ValueError("spans of a table overlap")
    return Grid(cells, [line[:width] + [None] * (width - len(line)) for line in places])


def _let_hang(hanging: list[tuple[int, int] | None], line: list[int | None], *, up_to_gap: bool = False) -> None:
    """Lengthen a row by cells that reach down into it, to the first free column or to the last column."""
    for column in range(len(line), len(hanging)):
        reaching = hanging[column]
        if reaching is None and up_to_gap:
            return
        line.append(reaching[0] if reaching else None)
        hanging[column] = (reaching[0], reaching[1] - 1) if reaching and reaching[1] > 1 else None
