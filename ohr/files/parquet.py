"""Rows of Parquet files, as pandas and Hugging Face's datasets write them, with the values that JSON would have."""

from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr.errors import DataError

if TYPE_CHECKING:
    import pyarrow

PARQUET = b"PAR1"
"""First bytes of a file."""
SUFFIXES = (".parquet", ".pq")
"""Suffixes of files."""
_MOST = 5_000_000  # rows: a few bytes of a hostile file can stand for billions


def parquet_rows(path: Path, content: bytes) -> list[dict[str, Any]]:
    """Read all rows; nested columns are lists and mappings, and dates and decimals are texts.

    Args:
        path: for messages.
        content: of the file.

    Raises:
        DataError: it is damaged or no such file, has two columns of one name, or too many rows.
    """
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(pyarrow.BufferReader(content))
        names, number = file.schema_arrow.names, file.metadata.num_rows
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"{path}: has the column {twice[0]!r} twice: rename one of them")
        if number > _MOST:
            raise DataError(f"{path}: says that it has {number:,} rows; a table has at most {_MOST:,}")
        table = file.read(use_threads=False)  # threads abort some processes that end soon
        columns = [_values(table[name]) for name in names]
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: not readable as Parquet ({reason}): write the file again") from None
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _values(column: "pyarrow.ChunkedArray") -> list[Any]:
    import pyarrow

    if pyarrow.types.is_float32(column.type) or pyarrow.types.is_float16(column.type):  # 0.1 is 0.1 in its own type
        spelled = (str(each) for each in column.to_numpy())
        return [
            float(each) if valid else None for each, valid in zip(spelled, column.is_valid().to_pylist(), strict=True)
        ]
    try:
        found = column.to_pylist()
    except ValueError:  # Python has no time of nanoseconds
        found = column.cast(pyarrow.string()).to_pylist()
    return [_plain(value) for value in found]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(each, tuple) for each in value):  # a column of the type map
            return {str(name): _plain(each) for name, each in value}
        return [_plain(each) for each in value]
    if isinstance(value, bytes):  # some programs do not mark columns of text as such
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat()
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
