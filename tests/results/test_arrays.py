"""Columns are those of `pyarrow.array`, and need no pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from ohr.results.tables.arrays import array, bits, numbers

PAGE = pa.struct([("document", pa.string()), ("page", pa.int64()), ("grade", pa.float64())])
CASES = [
    (["a", None, "é中"], pa.string()),
    ([1, None, -5], pa.int64()),
    ([1.5, None, float("nan"), 3], pa.float64()),
    ([True, None, False] * 5, pa.bool_()),
    ([["a"], [], ("b", None)], pa.list_(pa.string())),
    ([[{"document": "d", "page": 1, "grade": None}], [{"document": None, "page": 2}]], pa.list_(PAGE)),
    ([[], []], pa.list_(PAGE)),
    *(([], kind) for kind in (pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.list_(PAGE))),
    ([1.0, 2.0], pa.int64()),  # by pyarrow itself
    ([["a"], None], pa.list_(pa.string())),
]


@pytest.mark.parametrize(("values", "kind"), CASES)
def test_arrays_are_those_of_pyarrow(values, kind):
    ours, theirs = array(values, kind), pa.array(values, kind)
    ours.validate(full=True)
    assert (ours.type, ours.null_count, str(ours)) == (theirs.type, theirs.null_count, str(theirs))


@pytest.mark.parametrize(
    ("value", "kind", "error"),
    [
        (1 << 63, pa.int64(), OverflowError),
        ("\ud800", pa.string(), UnicodeEncodeError),
        (1, pa.string(), pa.ArrowException),
    ],
)
def test_values_of_another_type_are_refused(value, kind, error):
    with pytest.raises(error):
        array([value], kind)


def test_no_pandas_is_imported():
    code = (
        "import sys, pyarrow as pa; from ohr.results.tables.arrays import array;"
        "array([['a'], ['b']], pa.list_(pa.string())); array([1.5, None], pa.float64());"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_columns_come_back_as_numpy():
    pieces = pa.chunked_array([[1.0, None], [2.5]])
    np.testing.assert_array_equal(numbers(pieces), [1.0, np.nan, 2.5])
    np.testing.assert_array_equal(numbers(pa.array([1, 2, 3], pa.int32())[1:]), [2, 3])
    np.testing.assert_array_equal(numbers(pa.array([], pa.int64())), [])
    np.testing.assert_array_equal(bits(pa.array([True, False] * 6)[3:]), [False, True] * 4 + [False])


@pytest.mark.parametrize(
    "values", [np.arange(3), np.array([0.5, np.nan]), np.array([True, False]), np.arange(6)[::2], np.zeros(0, np.int64)]
)
def test_arrays_of_numpy_are_taken_as_they_are(values):
    kind = pa.from_numpy_dtype(values.dtype)
    assert array(values, kind).equals(pa.array(values, kind)) or np.isnan(values).any()
