"""Tables that people bring as rows of named parts: CSV, workbooks of Excel, JSON, JSON Lines, YAML and Parquet."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ohr.errors import DataError
from ohr.files.grid_files import (
    LINES_SUFFIXES,
    PARQUET,
    PARQUET_SUFFIXES,
    WORKBOOK,
    Grid,
    as_rows,
    csv_grids,
    read_values,
    text_of_file,
    workbook_grids,
)
from ohr.messages.wording import keys_of
from ohr.messages.wording import named as listed

SUFFIXES = (".csv", ".tsv", ".xlsx", ".xlsm", *LINES_SUFFIXES, ".json", *PARQUET_SUFFIXES)
"""Suffixes of files that `read_table` reads."""

Names = Mapping[str, Sequence[str]]
"""The parts of a row, and the names that each may go by."""

_HEADER_ROWS = 20  # rows among which the header is looked for: titles and remarks may be above it


class Row(NamedTuple):
    """One row: its place, for messages, and its parts, those that the file has a column or key for."""

    where: str
    parts: Mapping[str, Any]


class Table(NamedTuple):
    """Rows in their order, the names of columns that are no part, what to know of the file, and all its columns."""

    rows: Sequence[Row]
    unused: Sequence[str]
    notes: Sequence[str]
    columns: Sequence[str]


def read_table(
    path: Path,
    names: Names,
    needed: Sequence[str],
    *,
    records: Callable[[Any], Any] = lambda found: found,
    entry: str = "entry",
    hint: str = "leave one of them out",
) -> Table:
    """Read a table. Names count without regard to case, spaces, `_` and `-`.

    Args:
        path: a file whose suffix is one of `SUFFIXES`, or YAML; any other is read as JSON, and workbooks and Parquet
            under any suffix.
        names: the parts, and their names.
        needed: parts of which a table must have at least one column each.
        records: makes the list of records of what a file of JSON, YAML or Parquet holds, or a mapping of columns.
        entry: what a record of a JSON list is called in messages.
        hint: what helps where two columns could be the same part.

    Raises:
        DataError: the file cannot be read, lacks a part, or two of its columns could be the same part and differ.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    suffix = path.suffix.lower()
    if content.startswith(WORKBOOK) or suffix.startswith(".xls"):
        return _of_grid(path, workbook_grids(path, content), names, needed, hint, [])
    if suffix in (".csv", ".tsv") and not content.startswith(PARQUET):
        text, notes = text_of_file(path, content, guess=True)
        return _of_grid(path, csv_grids(path, text), names, needed, hint, notes)
    held = read_values(path, content)
    read = records(held.value)
    if isinstance(read, Mapping):
        rows = as_rows(read, {name for found in names.values() for name in found})
        if rows is None:
            fault = lacking(needed[0] if needed else next(iter(names)), names, tuple(map(str, read)))
            raise DataError(f"{path}: must be a list of {_several(entry)}, or of cells for each column: it {fault}")
        read = rows
    if not isinstance(read, list):
        raise DataError(f"{path}: must be a list of {_several(entry)} (got {type(read).__name__})")
    places = held.places if held.places and len(held.places) == len(read) else None
    wheres = places or [f"{path}: {entry} {place}" for place in range(len(read))]
    table = _of_records(zip(wheres, read, strict=True), names, hint, held.notes)
    for part in needed:
        refuse_lacking(path, table, names, part)
    return table


def refuse_lacking(path: Path, table: Table, names: Names, *parts: str, hint: str = "") -> None:
    """Raise a DataError where a table has rows, and none of them has any of some parts.

    Args:
        path: for the message.
        table: of the file.
        names: the parts, and their names.
        parts: of which one is needed; the message calls it as the first one.
        hint: what helps.
    """
    if table.rows and not any(part in row.parts for row in table.rows for part in parts):
        takes = {parts[0]: [name for part in parts for name in names[part]]}
        raise DataError(f"{path}: {lacking(parts[0], takes, table.columns)}{hint}")


def _several(entry: str) -> str:
    return "entries" if entry == "entry" else f"{entry}s"


def lacking(part: str, names: Names, columns: Sequence[str]) -> str:
    """Return the sentence that a table has no column for a part, what that may be called, and which columns it has."""
    takes = " or ".join(names[part][:5])
    return f"has no column for the {part} ({takes}); its columns are {keys_of(filter(None, columns))}"


def is_blank(value: Any) -> bool:
    """Report whether a value says nothing: null, a NaN, or a text without characters."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _of_records(records: Iterable[tuple[str, Any]], names: Names, hint: str, notes: Sequence[str]) -> Table:
    rows, unused, last, places = [], dict[str, None](), None, dict[str, list[int]]()
    columns = dict[str, None]()
    for where, record in records:
        if not isinstance(record, Mapping):
            raise DataError(f"{where}: must be a mapping (got {record!r:.60})")
        keys = tuple(map(str, record))
        if keys != last:  # the records of one file mostly have the same keys
            last, places = keys, _places(keys, names)
            columns |= dict.fromkeys(keys)
            unused |= dict.fromkeys(_unused(keys, places))
        rows.append(_row(where, keys, list(record.values()), places, hint))
    return Table(rows, tuple(unused), notes, tuple(columns))


def _of_grid(
    path: Path, grids: Sequence[Grid], names: Names, needed: Sequence[str], hint: str, notes: Sequence[str]
) -> Table:
    sheets = [grid for grid in grids if grid.name]
    if not any(grid.rows for grid in sheets or grids[:-1] or grids):  # of CSV, the last grid divides nothing
        raise DataError(grids[0].fault if grids and grids[0].fault else f"{path}: is empty")
    grid, at = _best(grids, names)
    where, header = grid.rows[at]
    keys = tuple(cell.strip() for cell in header)
    places = _places(keys, names)
    for part in needed:
        if not places[part]:
            raise DataError(grid.fault or f"{where}: {lacking(part, names, keys)}")
    known = [_plain(keys[place]) for found in places.values() for place in found]
    if twice := [name for name in known if known.count(name) > 1]:
        raise DataError(f"{where}: has the column {twice[0]!r} twice: rename one of them")
    if grid.fault:
        raise DataError(grid.fault)
    notes = list(notes)
    if others := [other.name for other in grids if other.name and other is not grid]:
        notes.append(f"{path.name}: read from the sheet {grid.name}; not read: {listed(others)}")
    if at:
        notes.append(f"{where}: is taken for the header; the rows above it are left out")
    rows = []
    for where, cells in grid.rows[at + 1 :]:
        if any(cell.strip() for cell in cells[len(keys) :]):
            raise DataError(f"{where}: has more cells than the header; quote text that contains the separator")
        rows.append(_row(where, keys, [*cells, *[""] * (len(keys) - len(cells))], places, hint))
    return Table(rows, _unused(keys, places), notes, keys)


def _best(grids: Sequence[Grid], names: Names) -> tuple[Grid, int]:
    """Choose the sheet or separator, and the header row, whose names are known best; the first of equals."""

    def known(place: tuple[Grid, int]) -> tuple[int, int, int]:
        cells = place[0].rows[place[1]][1]
        return sum(map(bool, _places(cells, names).values())), -place[1], len(cells)

    best = max(((grid, at) for grid in grids for at in range(min(len(grid.rows), _HEADER_ROWS))), key=known)
    # a table of one column is divided by nothing
    return best if len(best[0].rows[best[1]][1]) > 1 or best[0].name else (grids[-1], best[1])


def _row(where: str, keys: Sequence[str], values: Sequence[Any], places: Mapping[str, Sequence[int]], hint: str) -> Row:
    parts = {}
    for part, (first, *others) in ((part, found) for part, found in places.items() if found):
        parts[part] = None if is_blank(values[first]) else values[first]
        for other in others:
            if values[other] != values[first] and not (is_blank(values[other]) and parts[part] is None):
                both = f"{keys[first]!r} and {keys[other]!r}"
                raise DataError(f"{where}: {both} could both be the {part}, and differ: {hint}")
    return Row(where, parts)


def _places(keys: Sequence[str], names: Names) -> dict[str, list[int]]:
    """Find where each part is among the keys of a record, in the order of its names."""
    plain = [_plain(key) for key in keys]
    return {
        part: [at for name in map(_plain, known) for at, key in enumerate(plain) if key == name]
        for part, known in names.items()
    }


def _unused(keys: Sequence[str], places: Mapping[str, Sequence[int]]) -> list[str]:
    used = {at for found in places.values() for at in found}
    return [key.strip() for at, key in enumerate(keys) if key.strip() and at not in used]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_\-.:*]+", name.casefold())).strip()


QUESTION = ("question", "questions", "query", "question_text")
"""Names of the column of questions."""
DOCUMENT = (
    "document", "file", "file_name", "pdf", "doc", "filename", "documents",
    "document_name", "doc_name", "pdf_file", "pdf_name", "source_file",
)  # fmt: skip
"""Names of the column that says which document a question is about; messages list the first five."""

TEMPLATE = "Replace this by a question about {name}, and fill in its answer and its page"
"""The text in the place of a question of the document `name`."""


def is_template(question: Any) -> bool:
    """Report whether a question is still the text that `ohr init` wrote in its place."""
    return isinstance(question, str) and question.strip().startswith(TEMPLATE.partition("{")[0])
