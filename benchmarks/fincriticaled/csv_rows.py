"""Rows of a CSV table whose cells may hold whole images, which are read again when they are asked for."""

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ohr.errors import DataError
from ohr.messages.wording import counted, named, shortened

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_NAME = 16
"""Bytes of a header that are looked at: the shortest table has a column `matched_html`."""
_LARGEST_CELL = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Args:
        line: the number of its first line in the file, from 1.
        offset: bytes of the file before it.
        cells: by column.
    """

    line: int
    offset: int
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file with a header; UTF-8, or latin-1 where it is not."""

    path: Path
    encoding: str
    columns: tuple[str, ...]

    def rows(self) -> Iterator[Row]:
        """Yield the rows, reading the file once more.

        Raises:
            DataError: a row has not as many cells as the header, or its quotes are wrong; the message names the line.
        """
        with self.path.open("rb") as file:
            records = _records(self.path, file, self.encoding)
            next(records)  # the header
            for line, offset, cells in records:
                yield self._row(line, offset, cells)

    def again(self, row: Row) -> Row:
        """Read one row again."""
        with self.path.open("rb") as file:
            file.seek(row.offset)
            _, _, cells = next(_records(self.path, file, self.encoding))
        return self._row(row.line, row.offset, cells)

    def _row(self, line: int, offset: int, cells: Sequence[str]) -> Row:
        if len(cells) != len(self.columns):
            found = counted(len(cells), "cell")
            raise DataError(f"{self.path}:{line}: the row has {found}, the header {len(self.columns)}")
        return Row(line, offset, dict(zip(self.columns, cells, strict=True)))


def open_table(path: Path, needed: Collection[str]) -> Table:
    """Read the header of a table and find its encoding.

    Raises:
        DataError: the file is absent, empty or UTF-16, has a NUL byte, or lacks a column.
    """
    try:
        with path.open("rb") as file:
            beginning = file.read(4096)
            if _is_utf16(beginning):
                raise DataError(f"{path}:1: the table is in UTF-16; save it as UTF-8")
            encoding = _encoding(path)
            file.seek(0)
            columns = tuple(next((cells for _, _, cells in _records(path, file, encoding)), ()))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    twice = sorted({column for column in columns if columns.count(column) > 1})
    missing = [column for column in needed if column not in columns]
    if twice or missing:
        fault = f"has the column {shortened(twice[0])} twice" if twice else f"has no column {missing[0]}"
        has = named([shortened(column) for column in columns]) or "none"
        raise DataError(f"{path}:1: the table {fault}; it has {has}")
    return Table(path, encoding, columns)


def _is_utf16(beginning: bytes) -> bool:
    """Report whether a file begins with the mark of UTF-16, or with a name in it: each second byte is 0 there."""
    halves = beginning[:_NAME:2], beginning[1:_NAME:2]
    zeros = (b and not any(b) and all(a) for a, b in (halves, halves[::-1]))
    return beginning.startswith(_UTF16) or any(zeros)


def _encoding(path: Path) -> str:
    """Return `utf-8` where each line is, else `latin-1`, which any bytes but 0 are.

    Raises:
        DataError: there is a NUL byte; the message names its line.
    """
    encoding = "utf-8"
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if b"\0" in line:
                raise DataError(f"{path}:{number}: the line has a NUL byte, which no text has; the file is damaged")
            try:
                line.decode()
            except UnicodeDecodeError:
                encoding = "latin-1"
    return encoding


def _records(path: Path, file: BinaryIO, encoding: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the first line, the offset and the cells of each record from the file's position on; skip empty lines."""
    lines = _Lines(file, encoding)
    reader = csv.reader(lines, strict=True)
    limit = csv.field_size_limit(_LARGEST_CELL)
    try:
        while True:
            line, offset = lines.read + 1, lines.offset
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise DataError(f"{path}:{line}: wrong quotes in the row that starts here: {error}") from None
            if cells:
                yield line, offset, cells
    finally:
        csv.field_size_limit(limit)


class _Lines(Iterator[str]):
    """The lines of a file, of which it knows the position; a CSV reader takes only those of the record it reads."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self.read, self.offset = 0, file.tell()
        self._file, self._encoding = file, encoding

    def __next__(self) -> str:
        line = self._file.readline()
        if not line:
            raise StopIteration
        self.read += 1
        self.offset += len(line)
        return line.removeprefix(_UTF8_MARK if self.offset == len(line) else b"").decode(self._encoding)
