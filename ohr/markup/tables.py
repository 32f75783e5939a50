"""Tables in no particular notation: cells that may span rows and columns, and a caption."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .content import Content

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
        found = []
        for cell in self._cells:
            height = min(cell.rows, rows - cell.row)
            if cell.content or height > 1 or cell.columns > 1 or cell.header:
                found.append(Cell(cell.row, cell.column, cell.content, height, cell.columns, cell.header))
        columns = max((column for _, column in self._taken), default=-1) + 1
        if rows * columns > MOST_PLACES:
            raise ValueError("more places than a table has")
        return Table(rows, columns, tuple(sorted(found, key=lambda cell: (cell.row, cell.column))), caption, rest)


def counted(losses: Iterable[str]) -> tuple[str, ...]:
    """List each loss once, with how often it occurred."""
    return tuple(loss if count == 1 else f"{loss} ({count} times)" for loss, count in Counter(losses).items())
