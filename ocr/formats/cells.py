"""Tables that a system writes cell by cell, as HTML."""

from collections import defaultdict
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from ohr.files.json_input import whole_number

from .values import Unreadable

_MOST = 2_000
"""Rows or columns of a table; a larger number is an error of the system."""


class Cell(NamedTuple):
    """A cell at a row and a column, from 0."""

    row: int
    column: int
    text: str
    rows: int = 1
    columns: int = 1
    header: bool = False


def span(value: object) -> int:
    """Return how many rows or columns a cell spans, 1 for anything that is no such number."""
    number = whole_number(value)
    return number if number is not None and 1 <= number < _MOST else 1


def refuse_large(row: int, column: int) -> None:
    """Refuse a cell at a place that no table has."""
    if max(row, column) >= _MOST:
        raise Unreadable(f"with a table of more than {_MOST:,} rows or columns")


def html_table(cells: Iterable[Cell]) -> str:
    """Write a table; places without a cell are empty, and one that spans others is listed once."""
    rows = defaultdict[int, list[Cell]](list)
    for cell in sorted(cells):
        refuse_large(cell.row, cell.column)
        rows[cell.row].append(cell)
    free, lines = defaultdict[int, int](int), []
    for row in range(max(rows, default=-1) + 1):
        written, column = list[str](), 0
        for cell in rows.get(row, ()):
            written += ("<td></td>" for place in range(column, cell.column) if free[place] <= row)
            written.append(_written(cell))
            column = cell.column + cell.columns
            free.update(dict.fromkeys(range(cell.column, column), row + cell.rows))
        lines.append(f"<tr>{''.join(written)}</tr>")
    return f"<table>{''.join(lines)}</table>" if lines else ""


def _written(cell: Cell) -> str:
    tag = "th" if cell.header else "td"
    spans = f' rowspan="{cell.rows}"' * (cell.rows > 1) + f' colspan="{cell.columns}"' * (cell.columns > 1)
    return f"<{tag}{spans}>{escape(' '.join(cell.text.split()), quote=False)}</{tag}>"
