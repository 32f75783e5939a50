"""Reading tables: some columns of some rows, and damage in one sentence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow
    from numpy.typing import NDArray


def read_columns(path: Path, columns: Sequence[str] | None = None, **equal: Any) -> "pyarrow.Table":
    """Read some columns of the rows that have the given values; text comes as dictionary arrays.

    Args:
        path: a Parquet file.
        columns: their names; by default all.
        equal: column to the value that it must have; None for no value.

    Raises:
        DataError: the file is missing or damaged, or lacks a column.
    """
    from pyarrow import parquet

    with reading(path):
        about = parquet.read_metadata(path)
        known = about.schema.to_arrow_schema().names
        refuse_absent(path, known, [*(columns or ()), *equal])
        names = known if columns is None else list(columns)
        wanted = list(dict.fromkeys([*names, *equal]))
        # not `read_table`: its library imports pandas where that is installed, for half a second
        plain_columns = [name for name in about.schema.names if name in wanted]  # those of lists have other names
        file = parquet.ParquetFile(path, metadata=about, read_dictionary=plain_columns)
        groups = [group for group in range(about.num_row_groups) if _may_hold(about.row_group(group), equal)]
        table = file.read_row_groups(groups, columns=wanted)
        for name, value in equal.items():
            table = _only(table, _equals(table[name], value))
        return table.select(names)


def _may_hold(group: Any, equal: Mapping[str, Any]) -> bool:
    """Report whether a row group can have rows with some values, by its least and greatest ones."""
    for place in range(group.num_columns):
        column = group.column(place)
        value = equal.get(column.path_in_schema)
        found = column.statistics if value is not None else None
        if found is not None and found.has_min_max and not found.min <= value <= found.max:
            return False
    return True


def _equals(column: "pyarrow.ChunkedArray", value: Any) -> "NDArray[np.bool_]":
    import numpy as np

    from ohr.results.tables.arrays import bits, numbers

    parts = [np.empty(0, dtype=bool)]
    for chunk in filter(len, column.chunks):
        if value is None:
            parts.append(bits(chunk.is_null()))
        elif hasattr(chunk, "dictionary"):
            code = next((code for code, name in enumerate(chunk.dictionary.to_pylist()) if name == value), -1)
            parts.append((numbers(chunk.indices) == code) & bits(chunk.is_valid()))
        else:
            parts.append(np.array([held == value for held in chunk.to_pylist()], dtype=bool))
    return np.concatenate(parts)


def _only(table: "pyarrow.Table", rows: "NDArray[np.bool_]") -> "pyarrow.Table":
    import pyarrow

    from ohr.results.tables.arrays import array

    if rows.all():
        return table
    return table.filter(array(rows, pyarrow.bool_()))


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
