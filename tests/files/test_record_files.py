"""Tables that are no grids: Parquet, the layouts of pandas, YAML; and numbers as their files spell them."""

import json
import pickle
from datetime import date, datetime
from decimal import Decimal

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.errors import DataError
from ohr.files.foreign_answers.rows import answer_text, id_of, spelled
from ohr.files.json_input import Number, parse_json, text_of
from ohr.files.table_files import as_rows, read_values
from ohr.files.tables import read_table

NAMES = {"question": ("question",), "answers": ("answers", "answer"), "contexts": ("contexts",), "id": ("id",)}
ROWS = [
    {"question": "Who?", "answer": "Marsh", "contexts": ["a", "b"]},
    {"question": "When?", "answer": None, "contexts": []},
]


def read(path):
    return read_table(path, NAMES, ("question",))


def write(path, table, **more):
    pyarrow.parquet.write_table(table, path, **more)
    return path


@pytest.mark.parametrize("written", ["2.0", "1e3", "1.50", "-0.0", "2E+2", "0.1"])
def test_a_number_is_read_as_its_file_spells_it(written):
    (found,) = parse_json(f"[{written}]".encode(), spelled=True)
    assert (found, text_of(found), str(found)) == (float(written), written, written)
    assert text_of(pickle.loads(pickle.dumps(found))) == written
    assert json.loads(json.dumps(found)) == float(written)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2, "2"), (2.0, "2"), (0.1 + 0.2, "0.3"), (True, "true"), (None, ""), (float("nan"), ""), ("x", "x")],
)
def test_other_values_are_text_too(value, text):
    assert text_of(value) == text


def test_accepted_answers_are_those_of_either_spelling():
    assert spelled(True) == ["true", "yes"]
    assert spelled([False, Number("2.0"), "x", 3]) == ["false", "no", "2.0", "2", "x", 3]
    assert (spelled("x"), spelled(2), answer_text(False, "")) == ("x", 2, "no")
    assert [id_of(each, "") for each in (12.0, Number("12.0"), 12, " a ")] == ["12", "12", "12", "a"]


@pytest.mark.parametrize(
    "content",
    [
        {"columns": list(ROWS[0]), "index": [0, 1], "data": [list(row.values()) for row in ROWS]},
        {"columns": list(ROWS[0]), "data": [list(row.values()) for row in ROWS]},
        {name: {str(at): row[name] for at, row in enumerate(ROWS)} for name in ROWS[0]},
        {str(at): row for at, row in enumerate(ROWS)},
        {"schema": {"fields": [{"name": "question"}]}, "data": ROWS},
        {name.upper(): [row[name] for row in ROWS] for name in ROWS[0]},
        {"made_by": "me", "questions": ROWS},
    ],
)
def test_every_layout_of_pandas_has_the_same_rows(tmp_path, content):
    (tmp_path / "q.json").write_text(json.dumps(content))
    assert [dict(row.parts) for row in read(tmp_path / "q.json").rows] == [
        {"question": "Who?", "answers": "Marsh", "contexts": ["a", "b"]},
        {"question": "When?", "answers": None, "contexts": []},
    ]


@pytest.mark.parametrize("content", [{}, {"a": 1}, {"a": {"b": 1}}, {"question": ["a"], "answer": ["b", "c"]}])
def test_a_mapping_that_is_no_table_is_none(content):
    assert as_rows(content, {"question", "answer"}) is None


def test_parquet_has_the_values_that_json_would_have(tmp_path):
    table = pyarrow.table(
        {
            "question": pyarrow.array(["a", "b", None]).dictionary_encode(),
            "answer": pyarrow.array([2.0, float("nan"), 0.5]),
            "contexts": pyarrow.array([[{"text": "x", "at": [1]}], None, []]),
            "id": pyarrow.array([b"one", b"two", b"three"], pyarrow.binary()),
            "map": pyarrow.array([[("k", 1)], None, []], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
            "day": pyarrow.array([date(2024, 5, 3)] * 3),
            "time": pyarrow.array([datetime(2024, 5, 3)] * 3, pyarrow.timestamp("ns")),
            "sum": pyarrow.array([Decimal("1.50")] * 3),
        }
    )
    names = {name: (name,) for name in table.column_names}
    found = read_table(write(tmp_path / "a.parquet", table), names, ())
    assert dict(found.rows[0].parts) == {
        "question": "a",
        "answer": 2.0,
        "contexts": [{"text": "x", "at": [1]}],
        "id": "one",
        "map": {"k": 1},
        "day": "2024-05-03",
        "time": "2024-05-03",
        "sum": "1.50",
    }
    assert (found.rows[1].parts["answer"], found.rows[2].parts["question"]) == (None, None)
    assert found.rows[2].where.endswith("a.parquet: row 3")


def test_parquet_is_known_by_its_content_and_other_columns_are_named(tmp_path):
    path = write(tmp_path / "a.json", pyarrow.table({"question": ["Who?"]}))
    assert read(path).rows[0].parts == {"question": "Who?"}
    with pytest.raises(DataError, match=r"no column for the question \(question\); its columns are Frage, Antwort"):
        read(write(tmp_path / "b.parquet", pyarrow.table({"Frage": ["x"], "Antwort": ["y"]})))
    with pytest.raises(DataError, match="has the column 'question' twice"):
        read(write(tmp_path / "c.parquet", pyarrow.table([["x"], ["y"]], names=["question", "question"])))


def test_parquet_that_stands_for_too_many_rows_is_refused(tmp_path):
    many = pyarrow.chunked_array([pyarrow.array([None] * 1000, pyarrow.string())] * 5001)
    path = write(tmp_path / "a.parquet", pyarrow.table({"question": many}))
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"says that it has 5,001,000 rows; a table has at most 5,000,000"):
        read(path)


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8), st.booleans())
def test_damaged_parquet_is_read_or_refused(tmp_path_factory, place, other, cut):
    path = tmp_path_factory.mktemp("damaged") / "a.parquet"
    content = write(path, pyarrow.Table.from_pylist(ROWS)).read_bytes()
    at = place % len(content)
    path.write_bytes(content[:at] if cut else content[:at] + other + content[at + len(other) :])
    try:
        read(path)
    except DataError as error:
        assert str(error).startswith(str(path))


def test_yaml_keeps_numbers_and_dates_as_they_are_written(tmp_path):
    path = tmp_path / "q.yaml"
    path.write_text("- {question: Who?, answer: 2.0, id: 2024-05-03}\n- {question: When?, answer: 1e3, id: true}\n")
    rows = [row.parts for row in read(path).rows]
    assert [text_of(row["answers"]) for row in rows] == ["2.0", "1e3"]
    assert [text_of(row["id"]) for row in rows] == ["2024-05-03", "true"]
    path.write_text("- {question: ")
    with pytest.raises(DataError, match=r"q\.yaml: not readable as YAML"):
        read(path)


def test_numbers_of_few_bits_are_written_as_they_are_in_their_own_type(tmp_path):
    columns = {
        "single": pyarrow.array([0.1, None], pyarrow.float32()),
        "half": pyarrow.array([0.1, 2.5], pyarrow.float16()),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "n.parquet")
    rows = read_values(tmp_path / "n.parquet", (tmp_path / "n.parquet").read_bytes()).value
    assert rows == [{"single": 0.1, "half": 0.1}, {"single": None, "half": 2.5}]
