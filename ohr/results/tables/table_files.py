"""The tables of a run, written as rows come."""

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from ohr.errors import DataError
from ohr.results.folder.whole_files import synced
from ohr.results.tables.arrays import array
from ohr.results.tables.schema import CELL, MEASURED, schema

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

Columns = Mapping[str, Any]
"""Column to its values: a sequence with one value per row, or one scalar that all rows share."""

_PLACE = (*CELL, "kb", "replicate")
_FIXED = {"scores": _PLACE, "attribution_scores": _PLACE, "swap_scores": (*_PLACE, "noisy")}
"""Columns that must be scalars: each row group belongs to one cell and replicate, and can be read alone."""
_LINES = 1 << 11  # rows that are turned into text, or into columns, at once
_ROWS = 1 << 16  # rows that are converted at once: a cell may have any size
_BYTES = 4 << 20  # of rows that are held until they are written


class Tables:
    """Writes tables into a folder as rows come.

    What was appended is written when it is a few megabytes; the scores of a cell go into row groups of their own.

    Args:
        folder: where `<table>.parquet` is written.
        names: the tables; one without rows is written empty, so that readers always find the same files.
    """

    def __init__(self, folder: Path, names: Iterable[str] = MEASURED) -> None:
        self._folder = folder
        self._writers: dict[str, parquet.ParquetWriter | None] = dict.fromkeys(names)
        self._held: dict[str, list[pyarrow.Table]] = {name: [] for name in self._writers}
        self._bytes = dict.fromkeys(self._writers, 0)
        self._cells: dict[str, tuple[Any, ...]] = {}

    def append(self, table: str, columns: Columns) -> None:
        """Append rows.

        Args:
            table: its name.
            columns: exactly the table's columns; sequences of one length, and scalars that are repeated for each row.

        Raises:
            DataError: the file cannot be written, or a value is not of its column's type.
            ValueError: a column is missing or unknown, or the lengths differ: a mistake of the caller.
        """
        import pyarrow

        form = schema(table)
        size = _size(table, form.names, columns)
        cell = tuple(columns[name] for name in _FIXED.get(table, ()))
        if self._cells.setdefault(table, cell) != cell:
            self._flush(table)
            self._cells[table] = cell
        for start in range(0, size, _ROWS):
            rows = min(_ROWS, size - start)
            arrays = [_array(table, field, columns[field.name], start, rows) for field in form]
            held = pyarrow.Table.from_arrays(arrays, schema=form)
            self._held[table].append(held)
            self._bytes[table] += held.nbytes
            if self._bytes[table] > _BYTES:
                self._flush(table)

    def append_rows(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows that all have the table's columns, as `append` does; none is no row group."""
        rest = iter(rows)
        while part := list(islice(rest, _LINES)):
            self.append(table, {name: [row[name] for row in part] for name in part[0]})

    def close(self) -> None:
        """Finish all tables, and have them on the disk.

        Raises:
            DataError: a file cannot be written.
        """
        for table in self._writers:
            self._flush(table)
            with self._writing(table):
                self._writer(table).close()
                synced(self._folder / f"{table}.parquet")

    def __enter__(self) -> Self:
        """Return the tables; they are closed at the end."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the tables; after an error they stay unfinished."""
        if error is None:
            self.close()

    def _flush(self, table: str) -> None:
        import pyarrow

        if held := self._held[table]:
            with self._writing(table):
                self._writer(table).write_table(pyarrow.concat_tables(held))
            self._held[table], self._bytes[table] = [], 0

    def _writer(self, table: str) -> "parquet.ParquetWriter":
        from pyarrow import parquet

        writer = self._writers[table]
        if writer is None:
            form, path = schema(table), self._folder / f"{table}.parquet"
            strings = [field.name for field in form if str(field.type) == "string"]
            writer = parquet.ParquetWriter(path, form, compression="zstd", use_dictionary=strings)
            self._writers[table] = writer
        return writer

    @contextmanager
    def _writing(self, table: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(f"{self._folder / table}.parquet: cannot be written: {error}") from None


def _size(table: str, names: Sequence[str], columns: Columns) -> int:
    if set(names) != set(columns):
        raise ValueError(f"table {table}: wrong columns: {', '.join(sorted(set(names) ^ set(columns)))}")
    several = {name: len(values) for name, values in columns.items() if _is_sequence(values)}
    if bad := several.keys() & set(_FIXED.get(table, ())):
        raise ValueError(f"table {table}: one value for all rows of an append is needed for {', '.join(sorted(bad))}")
    if len(set(several.values())) != 1:
        raise ValueError(f"table {table}: columns must be of one length, not {several}")
    return next(iter(several.values()))


def _is_sequence(values: Any) -> bool:
    return not isinstance(values, str | bytes) and hasattr(values, "__len__")


def _array(table: str, field: "pyarrow.Field", values: Any, start: int, rows: int) -> "pyarrow.Array":
    import pyarrow

    try:
        if _is_sequence(values):
            return _made(values[start : start + rows], field.type)
        return (
            pyarrow.nulls(rows, field.type) if values is None else pyarrow.repeat(_made([values], field.type)[0], rows)
        )
    except (OverflowError, pyarrow.ArrowException) as error:
        raise DataError(f"table {table}: column {field.name} cannot hold a value: {error}") from None


def _made(values: Sequence[Any], kind: "pyarrow.DataType") -> "pyarrow.Array":
    try:
        return array(values, kind)
    except UnicodeEncodeError:  # half a character, as in a file name that is not UTF-8, must not lose the run
        return array([_writable(value) for value in values], kind)


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_writable(part) for part in value] if isinstance(value, Sequence) else value


def write_table(folder: Path, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one table of a folder.

    Raises:
        DataError: its file cannot be written.
    """
    with Tables(folder, (table,)) as tables:
        tables.append_rows(table, rows)


# --- copies for people ------------------------------------------------------------------------------------


def export_csv(folder: Path, table: str) -> None:
    """Write a table of a folder as `<table>.csv`, a copy for people and spreadsheets; numbers have six digits."""
    from pyarrow import parquet

    path = folder / f"{table}.csv"
    with path.open("w", newline="", encoding="utf-8") as opened:
        with parquet.ParquetFile(folder / f"{table}.parquet") as source:
            write_csv(opened, schema(table).names, source.iter_batches(_LINES), digits=6)
        opened.flush()
        os.fsync(opened.fileno())


def write_csv(
    opened: TextIO, names: Sequence[str], batches: "Iterable[pyarrow.RecordBatch]", digits: int | None = None
) -> None:
    """Write rows as CSV.

    What is undefined is empty. A text that a spreadsheet would run as a formula (one that begins with = + - @, a tab or
    a line end) gets an apostrophe before it.

    Args:
        opened: a file that was opened with `newline=""`.
        names: of the columns.
        batches: the rows.
        digits: of each number, at most; by default as many as it has.
    """
    writer = csv.writer(opened)
    writer.writerow(names)
    for batch in batches:
        writer.writerows(zip(*(_shown(column, digits) for column in batch.columns), strict=True))


def _shown(column: "pyarrow.Array", digits: int | None) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if str(column.type) == "double":  # nan differs from itself
        numbers = ("" if value is None or value != value else value for value in values)
        return list(numbers) if digits is None else [v if v == "" else f"{v:.{digits}g}" for v in numbers]
    if str(column.type) == "string" or str(column.type).startswith("dictionary"):
        texts = {value: _harmless(value) for value in set(values)}
        return [texts[value] for value in values]
    return values


def _harmless(text: str | None) -> str:
    if text and text.startswith(("=", "+", "-", "@", "\t", "\r")) and not _is_number(text):
        return f"'{text}"
    return text or ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
