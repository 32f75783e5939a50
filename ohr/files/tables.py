"""Tables that people bring as rows of named parts: CSV, workbooks of Excel, JSON and JSON Lines."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ohr.errors import DataError
from ohr.files.grids import WORKBOOK, Grid, Line, csv_grids, text_of_file, workbook_grids
from ohr.files.json_input import lines, parse_json
from ohr.messages.wording import named as listed

SUFFIXES = (".csv", ".tsv", ".xlsx", ".xlsm", ".jsonl", ".ndjson", ".json")
"""Suffixes of files that `read_table` reads."""

Names = Mapping[str, Sequence[str]]
"""The parts of a row, and the names that each may go by."""

_HEADER_ROWS = 20  # rows among which the header is looked for: titles and remarks may be above it


class Row(NamedTuple):
    """One row: its place, for messages, and its parts, those that the file has a column or key for."""

    where: str
    parts: Mapping[str, Any]


class Table(NamedTuple):
    """Rows in their order, the names of columns that are no part, and what a reader of the file should be told."""

    rows: Sequence[Row]
    unused: Sequence[str]
    notes: Sequence[str]


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
        path: a file whose suffix is one of `SUFFIXES`; any other is read as JSON, and a workbook under any suffix.
        names: the parts, and their names.
        needed: parts of which a table must have at least one column each.
        records: makes the list of records of what a JSON file holds.
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
    text, notes = text_of_file(path, content, guess=suffix in (".csv", ".tsv"))
    if suffix in (".csv", ".tsv"):
        return _of_grid(path, csv_grids(path, text), names, needed, hint, notes)
    if suffix in (".jsonl", ".ndjson"):
        places, found = zip(*lines(text), strict=True) if text.strip() else ((), ())
        wheres = [f"{path}:{place}" for place in places]
        read = records([_parsed(line, where) for line, where in zip(found, wheres, strict=True)])
    else:
        read = records(_parsed(text, str(path)))
        if not isinstance(read, list):
            many = f"{entry}s" if entry != "entry" else "entries"
            raise DataError(f"{path}: must be a list of {many} (got {type(read).__name__})")
        wheres = [f"{path}: {entry} {place}" for place in range(len(read))]
    return _of_records(zip(wheres, read, strict=True), names, hint, notes)


def is_blank(value: Any) -> bool:
    """Report whether a value says nothing: null, a NaN, or a text without characters."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _parsed(text: str, where: str) -> Any:
    try:
        return parse_json(text.encode(), unique=True)
    except ValueError as error:
        raise DataError(f"{where}: not readable as JSON: {error}") from None


def _of_records(records: Iterable[tuple[str, Any]], names: Names, hint: str, notes: Sequence[str]) -> Table:
    aliases = tuple((part, tuple(names[part])) for part in names)
    rows, unused, last = [], dict[str, None](), tuple[str, ...]()
    for where, record in records:
        if not isinstance(record, Mapping):
            raise DataError(f"{where}: must be a mapping (got {record!r:.60})")
        keys = tuple(record)
        rows.append(_row(where, keys, list(record.values()), aliases, hint))
        if keys != last:  # the records of one file mostly have the same keys
            last = keys
            unused |= dict.fromkeys(_places(keys, aliases)[1])
    return Table(rows, tuple(unused), tuple(notes))


def _of_grid(
    path: Path, grids: Sequence[Grid], names: Names, needed: Sequence[str], hint: str, notes: Sequence[str]
) -> Table:
    aliases = tuple((part, tuple(names[part])) for part in names)
    grid, at = _best(grids, aliases)
    if not any(each.rows for each in grids[:-1] or grids):  # the last is the one that divides nothing
        raise DataError(grid.fault or f"{path}: is empty")
    (where, header), notes = grid.rows[at], [*notes, *_notes(path, grids, grid, at)]
    keys = tuple(cell.strip() for cell in header)
    places, unused = _places(keys, aliases)
    for part in needed:
        if not places[part]:
            wanted, there = " or ".join(names[part][:5]), listed([key for key in keys if key])
            raise DataError(grid.fault or f"{where}: has no column for the {part} ({wanted}); its columns are {there}")
    known = [_plain(keys[place]) for found in places.values() for place in found]
    if twice := [name for name in known if known.count(name) > 1]:
        raise DataError(f"{where}: has the column {twice[0]!r} twice: rename one of them")
    if grid.fault:
        raise DataError(grid.fault)
    rows = [_row(place, keys, cells, aliases, hint) for place, cells in _within(grid.rows[at + 1 :], len(keys))]
    return Table(rows, tuple(unused), tuple(notes))


def _within(rows: Sequence[Line], width: int) -> Iterator[Line]:
    """Yield rows as wide as the header; what is beyond it must be blank."""
    for where, cells in rows:
        if any(cell.strip() for cell in cells[width:]):
            raise DataError(f"{where}: has more cells than the header; quote text that contains the separator")
        yield where, [*cells[:width], *[""] * (width - len(cells))]


def _best(grids: Sequence[Grid], aliases: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Grid, int]:
    """Choose the sheet or separator, and the header row, whose names are known best; the first of equals."""
    places = [(grid, at) for grid in grids for at in range(min(len(grid.rows), _HEADER_ROWS))]

    def known(place: tuple[Grid, int]) -> tuple[int, int, int]:
        cells = place[0].rows[place[1]][1]
        return sum(bool(found) for found in _places(tuple(cells), aliases)[0].values()), -place[1], len(cells)

    if not places:
        return grids[0], 0
    best = max(places, key=known)
    # a table of one column is divided by nothing
    return best if len(best[0].rows[best[1]][1]) > 1 or best[0].name else (grids[-1], best[1])


def _notes(path: Path, grids: Sequence[Grid], grid: Grid, at: int) -> Iterator[str]:
    others = [other.name for other in grids if other.name and other is not grid]
    if others:
        yield f"{path.name}: read from the sheet {grid.name}; not read: {listed(others)}"
    if at:
        yield f"{grid.rows[at][0]}: is taken for the header; the rows above it are left out"


def _row(
    where: str,
    keys: tuple[str, ...],
    values: Sequence[Any],
    aliases: tuple[tuple[str, tuple[str, ...]], ...],
    hint: str,
) -> Row:
    parts = {}
    for part, places in _places(keys, aliases)[0].items():
        if not places:
            continue
        parts[part] = None if is_blank(values[places[0]]) else values[places[0]]
        for place in places[1:]:
            if values[place] != values[places[0]] and not (is_blank(values[place]) and parts[part] is None):
                both = f"{keys[places[0]]!r} and {keys[place]!r}"
                raise DataError(f"{where}: {both} could both be the {part}, and differ: {hint}")
    return Row(where, parts)


@lru_cache(maxsize=256)
def _places(
    keys: tuple[str, ...], aliases: tuple[tuple[str, tuple[str, ...]], ...]
) -> tuple[Mapping[str, Sequence[int]], Sequence[str]]:
    """Find where each part is among the keys of a record, and which keys are no part."""
    plain = [_plain(key) for key in keys]
    known = {part: [_plain(name) for name in names] for part, names in aliases}
    places = {
        part: [at for name in names for at, key in enumerate(plain) if key == name] for part, names in known.items()
    }
    used = {at for found in places.values() for at in found}
    return places, [keys[at].strip() for at, key in enumerate(plain) if key and at not in used]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_\-.:*]+", name.casefold())).strip()
