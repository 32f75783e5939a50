"""Rows of a table by one of its columns: found once, read when they are asked for."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ohr.results.reading import read_columns, reading, refuse_absent

if TYPE_CHECKING:
    import pyarrow

_HELD = 1 << 25
"""Bytes of a file that is held in memory as a whole; of a larger one, the row groups that are needed are read."""


class Lookup:
    """Rows of a Parquet table by the values of a column.

    Args:
        path: the file.
        by: name of the column; its values are text.
        columns: those to read.
        bases: knowledge bases whose rows count; None for a table without them.
        hold: keep the whole table in memory, whatever its size: for readers who need every row.

    Raises:
        DataError: the file is missing or damaged, or lacks a column.
    """

    def __init__(
        self,
        path: Path,
        by: str,
        columns: Sequence[str],
        bases: Collection[str | None] | None = None,
        hold: bool = False,
    ) -> None:
        from pyarrow import parquet

        self._path, self._by, self._columns = path, by, list(columns)
        with reading(path):
            refuse_absent(path, parquet.read_schema(path).names, [by, *columns, *(["kb"] if bases is not None else [])])
            self._file = parquet.ParquetFile(path)
            self._hold = hold or path.stat().st_size <= _HELD
        self._places = self._find(bases)

    def rows(self, values: Collection[str]) -> list[dict[str, Any]]:
        """Return the rows that have one of the values, in the order of the file."""
        found = [self._places[value] for value in values if value in self._places]
        if not found:
            return []
        places = np.sort(np.concatenate(found))
        rows: list[dict[str, Any]] = self._read(places).to_pylist()
        return rows

    def _find(self, bases: Collection[str | None] | None) -> Mapping[str, NDArray[np.int64]]:
        """Group the numbers of the rows by their value."""
        keys = read_columns(self._path, [self._by, *(["kb"] if bases is not None else [])])
        column = keys[self._by].unify_dictionaries().combine_chunks()
        codes, names = column.indices.to_numpy(), column.dictionary.to_pylist()
        order = np.argsort(codes, kind="stable").astype(np.int64)
        if bases is not None:
            base = keys["kb"].unify_dictionaries().combine_chunks()
            wanted = np.array([name in bases for name in base.dictionary.to_pylist()], dtype=bool)
            order = order[wanted[base.indices.to_numpy()][order]] if len(wanted) else order[:0]
        ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
        return {name: order[ends[code] : ends[code + 1]] for code, name in enumerate(names)}

    @cached_property
    def _table(self) -> "pyarrow.Table":
        from pyarrow import parquet

        with reading(self._path):
            return parquet.read_table(self._path, columns=self._columns)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        metadata = self._file.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        return np.cumsum([0, *sizes])

    def _read(self, places: NDArray[np.int64]) -> "pyarrow.Table":
        import pyarrow

        if self._hold:
            return self._table.take(places)
        groups = np.searchsorted(self._starts, places, side="right") - 1
        parts = []
        for group in np.unique(groups).tolist():
            with reading(self._path):
                held = self._file.read_row_group(group, columns=self._columns)
            parts.append(held.take(places[groups == group] - self._starts[group]))
        return pyarrow.concat_tables(parts)
