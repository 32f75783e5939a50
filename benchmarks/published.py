"""The numbers that were published for a benchmark, from the tables that its package ships as they were printed."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ohr.contracts import Published
from ohr.files.printed import PrintedTables

Cell = tuple[Mapping[str, Any], Mapping[str, str], str]
"""A table with what is known of it, a row of it, and the name of a column."""
_ABOUT = ("system", "kind", "input", "setting", "warning", "stage", "generator")
"""Columns that are about a row's numbers, and hold none."""


@lru_cache(maxsize=8)
def published_numbers(
    package: str, about: Callable[..., Mapping[str, Any] | None], first: Sequence[str] = ()
) -> tuple[Published, ...]:
    """Read the numbers of a package's tables, in the order of `tables.yaml`; values are shares in [0, 1].

    Args:
        package: name of the package.
        about: returns what else is known of the number in a cell (see `Cell`), fields of `Published`; None for a cell
            whose number is not one of a system.
        first: columns that come first, in this order.
    """
    printed, numbers = PrintedTables(package), []
    for table in printed.tables:
        source = f"{table['table']}, {table['source']}, {table['date']}"
        for row in printed.rows(table["file"]):
            cells = {column: row[column] for column in (*first, *row) if row.get(column) and column not in _ABOUT}
            for column, cell in cells.items():
                known = about(table, row, column)
                if known is not None:
                    shared = {"setting": table.get("setting"), "main": bool(table.get("main")), "group": "all"}
                    value = round(float(cell) / 100, 6)
                    fields: dict[str, Any] = {"value": value, "table": source, **shared, **known}
                    numbers.append(Published(system=row["system"], **fields))
    return tuple(numbers)
