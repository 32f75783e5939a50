"""Columns of tables from Python's values and back, without pandas.

`pyarrow.array` and `to_numpy` import pandas, where it is installed, to ask whether a list is one of its own: a third of
a second and 60 MB in each run. So the usual columns are made from buffers here, and all others by `pyarrow.array`.
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow

_PYTHON: dict[str, frozenset[type]] = {
    "string": frozenset({str}),
    "bool": frozenset({bool, np.bool_}),
    "int64": frozenset({int, np.int64}),
    "double": frozenset({float, int, np.float64}),
}
"""Types of values that need no conversion, by the name of pyarrow's type."""


def array(values: Sequence[Any] | NDArray[Any], kind: "pyarrow.DataType") -> "pyarrow.Array":
    """Return an array of a type, as `pyarrow.array` does.

    Raises:
        ArrowException, OverflowError, UnicodeEncodeError: a value is not of the type.
    """
    import pyarrow

    if isinstance(values, np.ndarray):
        is_plain = values.dtype.kind in "bif" and values.dtype == kind.to_pandas_dtype()
        return _numbers(values, kind) if is_plain else pyarrow.array(values, kind)
    usual = _usual(values, kind)
    return pyarrow.array(values, kind) if usual is None else usual


def numbers(column: "pyarrow.Array | pyarrow.ChunkedArray") -> NDArray[Any]:
    """Return a column of numbers; nan where a float is null. Only the memory of a column in one piece is shared."""
    chunk = column.combine_chunks() if hasattr(column, "chunks") else column
    held = np.frombuffer(chunk.buffers()[1] or b"", chunk.type.to_pandas_dtype())[chunk.offset :][: len(chunk)]
    return np.where(bits(chunk.is_valid()), held, np.nan) if chunk.null_count else held


def codes(column: "pyarrow.ChunkedArray") -> tuple[NDArray[Any], list[Any]]:
    """Split a dictionary column into its codes and their values."""
    if not len(column):
        return np.zeros(0, np.int32), []
    chunk = column.unify_dictionaries().combine_chunks()
    return numbers(chunk.indices), chunk.dictionary.to_pylist()


def bits(flags: "pyarrow.BooleanArray") -> NDArray[np.bool_]:
    """Return a column of flags without nulls."""
    unpacked = np.unpackbits(np.frombuffer(flags.buffers()[1], np.uint8), bitorder="little")
    return unpacked[flags.offset : flags.offset + len(flags)].astype(bool)


def _usual(values: Sequence[Any], kind: "pyarrow.DataType") -> "pyarrow.Array | None":
    """Return an array of values that need no conversion, or None; else None."""
    import pyarrow

    name, held = str(kind), set(map(type, values))
    if name in _PYTHON and held <= {*_PYTHON[name], type(None)}:
        if name == "string":
            builder = pyarrow.lib.StringBuilder()
            builder.append_values(values)
            return builder.finish()
        return _numbers(values, kind, has_null=type(None) in held)
    if pyarrow.types.is_list(kind) and held <= {list, tuple}:
        child = array(list(chain.from_iterable(values)), kind.value_type)
        starts = _numbers([0, *accumulate(map(len, values))], pyarrow.int32())
        return pyarrow.ListArray.from_arrays(starts, child, type=kind)
    if pyarrow.types.is_struct(kind) and held <= {dict}:
        columns = [array([value.get(field.name) for value in values], field.type) for field in kind]
        return pyarrow.StructArray.from_arrays(columns, fields=list(kind))
    return None


def _numbers(values: Any, kind: "pyarrow.DataType", *, has_null: bool = False) -> "pyarrow.Array":
    import pyarrow

    form = kind.to_pandas_dtype()
    filled = np.array([0 if value is None else value for value in values] if has_null else values, form)
    data = np.packbits(filled, bitorder="little") if form is np.bool_ else filled
    there = np.packbits([value is not None for value in values], bitorder="little") if has_null else None
    buffers = [None if there is None else pyarrow.py_buffer(there), pyarrow.py_buffer(data)]
    return pyarrow.Array.from_buffers(kind, len(values), buffers)
