"""Reading tables: some columns of some rows, and damage in one sentence."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr.errors import DataError

if TYPE_CHECKING:
    import pyarrow


def read_columns(path: Path, columns: Sequence[str] | None = None, **equal: Any) -> "pyarrow.Table":
    """Read some columns of the rows that have the given values; text comes as dictionary arrays.

    Args:
        path: a Parquet file.
        columns: their names; by default all.
        equal: column to the value that it must have; None for no value.

    Raises:
        DataError: the file is missing or damaged, or lacks a column.
    """
    import pyarrow.compute as pc
    from pyarrow import parquet

    with reading(path):
        known = parquet.read_schema(path).names
        refuse_absent(path, known, [*(columns or ()), *equal])
        names = known if columns is None else list(columns)
        fields = ((pc.field(name), value) for name, value in equal.items())
        wanted = [pc.is_null(field) if value is None else field == value for field, value in fields]
        rows = reduce(and_, wanted) if wanted else None
        return parquet.read_table(path, columns=names, filters=rows, read_dictionary=names)


def names_of(path: Path) -> list[str]:
    """List the columns of a table.

    Raises:
        DataError: the file is missing or damaged.
    """
    from pyarrow import parquet

    with reading(path):
        names: list[str] = parquet.read_schema(path).names
    return names


def read_rows(path: Path, columns: Sequence[str] | None = None, **equal: Any) -> list[dict[str, Any]]:
    """Read rows as plain Python values, as `read_columns` does; for small tables, and for people.

    Raises:
        DataError: as `read_columns`.
    """
    rows: list[dict[str, Any]] = plain(read_columns(path, columns, **equal)).to_pylist()
    return rows


def plain(table: "pyarrow.Table") -> "pyarrow.Table":
    """Return a table without dictionaries: Python values are made of its text in a twentieth of the time."""
    import pyarrow

    kinds = [f.type.value_type if pyarrow.types.is_dictionary(f.type) else f.type for f in table.schema]
    fields = [field.with_type(kind) for field, kind in zip(table.schema, kinds, strict=True)]
    return table.cast(pyarrow.schema(fields))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the error of a missing or damaged Parquet file into a sentence.

    Raises:
        DataError: the file is missing or damaged.
    """
    import pyarrow

    try:
        yield
    except FileNotFoundError:
        raise DataError(
            f"{path}: cannot be read: no such file: was it made by another version of ohr? Run it again"
        ) from None
    except (OSError, pyarrow.ArrowException, UnicodeDecodeError) as error:
        first = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read: {first}") from None


def refuse_absent(path: Path, names: Sequence[str], wanted: Iterable[str]) -> None:
    """Refuse a table that lacks columns.

    Raises:
        DataError: a wanted column is not among the names.
    """
    if absent := [name for name in wanted if name not in names]:
        raise DataError(
            f"{path}: has no column {', '.join(absent)}: it is no table of this version of ohr; run it again"
        )
