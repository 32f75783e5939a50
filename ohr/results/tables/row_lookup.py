"""Rows of a table by one of its columns: found once, read when they are asked for."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ohr.results.tables.arrays import array, codes
from ohr.results.tables.read_table import read_columns, reading, refuse_absent

if TYPE_CHECKING:
    import pyarrow

_HELD = 1 << 25
"""Bytes of a file that is held in memory as a whole; of a larger one, the row groups that are needed are read."""


_ROWS = 4_096
"""Rows that are decoded at once: some megabytes of text."""


class Lookup:
    """Rows of a Parquet table by the values of a column.

    Args:
        path: the file.
        by: name of the column; its values are text.
        columns: those to read.
        bases: knowledge bases whose rows count; None for a table without them.
        only: values that will be asked for: their rows are kept in memory, whatever their size.

    Raises:
        DataError: the file is missing or damaged, or lacks a column.
    """

    def __init__(
        self,
        path: Path,
        by: str,
        columns: Sequence[str],
        bases: Collection[str | None] | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        from pyarrow import parquet

        self._path, self._by, self._columns = path, by, list(columns)
        with reading(path):
            about = parquet.read_metadata(path)
            wanted = [by, *columns, *(["kb"] if bases is not None else [])]
            refuse_absent(path, about.schema.to_arrow_schema().names, wanted)
            # hits repeat the texts of chunks; what lists hold has other names
            plain_columns = [name for name in about.schema.names if name in columns]
            self._file = parquet.ParquetFile(path, metadata=about, read_dictionary=plain_columns)
            self._hold = only is not None or path.stat().st_size <= _HELD
        self._order, self._ranges = self._find(bases, only)

    def rows(self, values: Collection[str]) -> list[dict[str, Any]]:
        """Return the rows that have one of the values; those of one value are in the order of the file."""
        columns = self.columns(values)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def columns(self, values: Collection[str]) -> dict[str, list[Any]]:
        """Return the same rows as columns."""
        ranges = [self._ranges[value] for value in values if value in self._ranges]
        if not ranges:
            return {name: [] for name in self._columns}
        places = np.concatenate([self._order[start:end] for start, end in ranges])
        table = self._rows_at(np.sort(places))
        ranks = np.argsort(np.argsort(places, kind="stable")).tolist()
        columns = {name: table[name].to_pylist() for name in self._columns}
        return {name: [column[rank] for rank in ranks] for name, column in columns.items()}

    def _find(
        self, bases: Collection[str | None] | None, only: Collection[str] | None
    ) -> tuple[NDArray[np.int64], Mapping[str | None, tuple[int, int]]]:
        """Order the numbers of the rows by their value; returns also the part of the order that each value has."""
        keys = read_columns(self._path, [self._by, *(["kb"] if bases is not None else [])])
        values, names = codes(keys[self._by])
        order = np.argsort(values, kind="stable").astype(np.int64)
        if bases is not None:
            base_codes, base_names = codes(keys["kb"])
            wanted = np.array([name in bases for name in base_names], dtype=bool)
            order = order[wanted[base_codes][order]] if len(wanted) else order[:0]
        if only is not None:
            order = order[np.isin(values[order], [code for code, name in enumerate(names) if name in only])]
        ends = np.searchsorted(values[order], np.arange(len(names) + 1)).tolist()
        return order, {name: (ends[code], ends[code + 1]) for code, name in enumerate(names)}

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        metadata = self._file.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        return np.cumsum([0, *sizes])

    @cached_property
    def _held(self) -> list[tuple[NDArray[np.int64], "pyarrow.RecordBatch"]]:
        """All rows that may be asked for, batch by batch as they were decoded, with their places."""
        return list(self._decoded(np.sort(self._order)))

    def _rows_at(self, places: NDArray[np.int64]) -> "pyarrow.Table":
        """Return the rows at some places, in ascending order."""
        import pyarrow

        if self._hold:
            parts = []
            for held, batch in self._held:
                first, last = np.searchsorted(places, (held[0], held[-1] + 1))
                if first < last:
                    parts.append(batch.take(array(np.searchsorted(held, places[first:last]), pyarrow.int64())))
        else:
            parts = [batch for _, batch in self._decoded(places)]
        schema = pyarrow.schema([self._file.schema_arrow.field(name) for name in self._columns])
        wide = [f.with_type(pyarrow.large_string()) if pyarrow.types.is_dictionary(f.type) else f for f in schema]
        return pyarrow.Table.from_batches(parts, schema).cast(pyarrow.schema(wide))

    def _decoded(self, places: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], "pyarrow.RecordBatch"]]:
        """Read the rows at some places, in ascending order; a row group is never in memory as a whole."""
        import pyarrow

        for group in np.unique(np.searchsorted(self._starts, places, side="right") - 1).tolist():
            start = self._starts[group]
            with reading(self._path):
                for batch in self._file.iter_batches(_ROWS, row_groups=[group], columns=self._columns):
                    first, last = np.searchsorted(places, (start, start + len(batch)))
                    if first < last:
                        rows = batch.select(self._columns)
                        if last - first < len(batch):
                            rows = rows.take(array(places[first:last] - start, pyarrow.int64()))
                        yield places[first:last], rows
                    start += len(batch)
