"""Rows of tables by the values of columns, read without the library that imports pandas."""

import subprocess
import sys

import pyarrow
import pytest
from pyarrow import parquet

from ohr.results.tables.read_table import read_columns, read_rows

ROWS = {
    "kb": ["a", "b", None, "a", "b", "é", "a", None],
    "n": [0, 1, 2, None, 0, 1, 2, 3],
    "flag": [True, None, False, True, True, False, None, True],
    "share": [0.5, float("nan"), None, 0.5, 1.0, 0.0, -0.0, 0.25],
    "pages": [[1], [], None, [2, 3], [4], [5], [6], [7]],
}


@pytest.fixture(params=[1, 3, 8, 100])
def path(request, tmp_path):
    kinds = {"kb": pyarrow.string(), "n": pyarrow.int64(), "flag": pyarrow.bool_(), "share": pyarrow.float64()}
    kinds["pages"] = pyarrow.list_(pyarrow.int64())
    table = pyarrow.table({name: pyarrow.array(values, kinds[name]) for name, values in ROWS.items()})
    parquet.write_table(table, tmp_path / "table.parquet", row_group_size=request.param)
    return tmp_path / "table.parquet"


@pytest.mark.parametrize(
    "equal",
    [
        {},
        {"kb": "a"},
        {"kb": "é"},
        {"kb": "nowhere"},
        {"kb": None},
        {"n": 0},
        {"n": None},
        {"flag": True},
        {"share": 0.5},
        {"share": 0.0},
        {"kb": "a", "n": 2},
        {"kb": "a", "n": 1},
        {"flag": None, "kb": "b"},
    ],
)
def test_rows_with_some_values_are_those_that_have_them(path, equal):
    every = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    wanted = [row for row in every if all(row[name] == value for name, value in equal.items())]
    assert repr(read_rows(path, **equal)) == repr(wanted)
    assert read_columns(path, ["pages", "kb"], **equal).column_names == ["pages", "kb"]


def test_a_table_without_rows_is_read(tmp_path):
    parquet.write_table(pyarrow.table({"kb": pyarrow.array([], pyarrow.string())}), tmp_path / "none.parquet")
    for equal in ({}, {"kb": "a"}, {"kb": None}):
        assert read_columns(tmp_path / "none.parquet", **equal).num_rows == 0


def test_reading_imports_no_pandas(tmp_path):
    parquet.write_table(pyarrow.table({"kb": ["a", "b", None]}), tmp_path / "table.parquet")
    code = f"""
import sys
from pathlib import Path
from ohr.results.tables.read_table import read_rows
path = Path({str(tmp_path / "table.parquet")!r})
print(read_rows(path, kb="a"), read_rows(path, kb=None), "pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[{'kb': 'a'}] [{'kb': None}] False\n"
