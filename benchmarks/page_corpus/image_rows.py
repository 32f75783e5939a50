"""The images of a corpus, read from its Parquet files one by one."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files.changes import State, state_of
from ohr.files.images import image_of

from .layout import faults_of, open_parquet


def read_image_row(path: Path, column: str, row: int) -> Image:
    """Read the image of a row.

    Args:
        column: a struct with the field `bytes`, as the library `datasets` writes images, or the bytes themselves.

    Raises:
        DataError: there is none, or it is damaged.
    """
    content = _reader(path, column, state_of(path)).content(row)
    if not isinstance(content, bytes) or not content:
        raise DataError(f"{path}: row {row}: has no bytes of an image in the column {column}")
    return image_of(content, f"{path}: row {row}: the image")


class _Reader:
    """Reads a column row by row, on from the last one: pages are mostly read in their order.

    Another row costs what is before it in its row group, which in the hub's sets of images is of at most 100 rows.
    """

    def __init__(self, path: Path, column: str) -> None:
        self._path, self._lock, self._file = path, Lock(), open_parquet(path)
        about, schema = self._file.metadata, self._file.schema
        leaves = {schema.column(place).path for place in range(len(schema))}
        self._leaf = f"{column}.bytes" if f"{column}.bytes" in leaves else column
        self._starts = [0, *accumulate(about.row_group(group).num_rows for group in range(about.num_row_groups))]
        self._group, self._next = -1, 0
        self._values: Iterator[Any] = iter(())

    def content(self, row: int) -> Any:
        """Return the value of a row; of a struct, its bytes."""
        group = bisect_right(self._starts, row) - 1
        with self._lock:
            if group != self._group or row < self._next:
                self._group, self._next, self._values = group, self._starts[group], self._rows(group)
            for value in self._values:
                self._next += 1
                if self._next > row:
                    return value.get("bytes") if isinstance(value, dict) else value
        raise DataError(f"{self._path}: has no row {row}")

    def _rows(self, group: int) -> Iterator[Any]:
        with faults_of(self._path):
            batches = self._file.iter_batches(1, row_groups=[group], columns=[self._leaf], use_threads=False)
            yield from (batch.column(0)[0].as_py() for batch in batches)


@lru_cache(maxsize=2)
def _reader(path: Path, column: str, state: State) -> _Reader:  # noqa: ARG001 # the state is a key
    return _Reader(path, column)
