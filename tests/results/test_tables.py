"""Tables are written as rows come, with one schema, and read by column; damage is a sentence."""

import csv
from math import isnan, nan

import pytest
from pyarrow import parquet

from ohr.contracts.system import SPLIT
from ohr.errors import DataError
from ohr.results.tables.read_table import read_columns, read_rows
from ohr.results.tables.schema import DERIVED, MEASURED, schema
from ohr.results.tables.table_files import Tables, export_csv

EDIT = {"kb": "f#0", "condition": "f", "noise": "f", "knob_value": "0.1", "replicate": 0}


def edits(**changes):
    return {**EDIT, "document": "law/a", "page": [0, 1], "rule": "bold", "edits": [3, 4], **changes}


def answered(**changes):
    row = {"question_id": ["q"], "stage": "overall", "kb": "f", "condition": "f", "replicate": 0, "chunker": None}
    row |= {"retriever": "bm25", "generator": "g", "answer": "a", "reply": "a", "tokens_in": 1, "tokens_out": 1}
    row |= dict.fromkeys(("end", "calls", "searches", "turns", "images", "pages_shown", "shared_calls", *SPLIT))
    return {**row, "seconds": 0.5, "finish": "stop", "truncated": False, "error": None, **changes}


def scored(**changes):
    row = {field.name: None for field in schema("scores")}
    row |= {"question_id": ["q"], "metric": "lcs", "value": 0.5, "status": "ok", "multi_page": False, "stage": "page"}
    return {**row, "kb": "a", "condition": "a", "noise": "a", "noise_type": "none", "replicate": 0, **changes}


def written(folder, table, *appended):
    with Tables(folder, (table,)) as tables:
        for columns in appended:
            tables.append(table, columns)
    return folder / f"{table}.parquet"


def test_scalars_are_in_every_row_beside_sequences(tmp_path):
    rows = read_rows(written(tmp_path, "edits", edits()))
    assert [(row["page"], row["edits"], row["rule"], row["kb"]) for row in rows] == [
        (0, 3, "bold", "f#0"),
        (1, 4, "bold", "f#0"),
    ]


def test_lists_undefined_and_absent_values_come_back(tmp_path):
    questions = {"question_id": ["q"], "text": "?", "answers": [("a", "b")], "evidence": [[]], "pages": [(1, 2)]}
    about = {
        "document": "law/a",
        "domain": "law",
        "evidence_source": "text",
        "answer_form": "x",
        "task_type": None,
        "clean_text": True,
        "groups": [["level=easy"]],
        "relevant": [[{"document": "law/a", "page": 1, "grade": 2.0}]],
    }
    (row,) = read_rows(written(tmp_path, "questions", {**questions, **about}))
    assert (row["answers"], row["evidence"], row["pages"], row["task_type"]) == (["a", "b"], [], [1, 2], None)
    assert row["groups"] == ["level=easy"]
    assert row["relevant"] == [{"document": "law/a", "page": 1, "grade": 2.0}]
    (row,) = read_rows(written(tmp_path, "scores", scored(value=[nan])))
    assert isnan(row["value"])


@pytest.mark.parametrize(
    ("table", "columns", "said"),
    [
        ("edits", edits(more=1), "wrong columns: more"),
        ("edits", {name: value for name, value in edits().items() if name != "rule"}, "wrong columns: rule"),
        ("edits", edits(rule=["bold"]), "columns must be of one length"),
        ("edits", edits(page=0, edits=3), "columns must be of one length"),
        ("scores", scored(stage=["page"]), "one value for all rows of an append is needed for stage"),  # of two cells
    ],
)
def test_a_callers_mistake_is_refused(tmp_path, table, columns, said):
    with pytest.raises(ValueError, match=said):
        Tables(tmp_path, (table,)).append(table, columns)


def test_a_table_without_rows_is_there_with_its_columns(tmp_path):
    with Tables(tmp_path):
        pass
    for table in MEASURED:
        assert read_columns(tmp_path / f"{table}.parquet").num_rows == 0
        assert parquet.read_schema(tmp_path / f"{table}.parquet").equals(schema(table))


def test_half_a_character_does_not_lose_the_run(tmp_path):
    path = written(tmp_path, "answers", answered(answer=["caf\udce9"], reply="\ud800"))
    assert [(row["answer"], row["reply"]) for row in read_rows(path)] == [("caf?", "?")]


@pytest.mark.parametrize(
    ("changes", "column"),
    [({"tokens_in": [2**63]}, "tokens_in"), ({"finish": [5]}, "finish"), ({"seconds": "x"}, "seconds")],
)
def test_a_value_of_another_type_is_a_sentence(tmp_path, changes, column):
    with pytest.raises(DataError, match=rf"^table answers: column {column} cannot hold a value: "):
        Tables(tmp_path, ("answers",)).append("answers", answered(**changes))


def test_small_appends_share_a_row_group_but_cells_do_not(tmp_path):
    path = written(tmp_path, "edits", *[edits()] * 50)
    assert (parquet.ParquetFile(path).num_row_groups, len(read_rows(path))) == (1, 100)
    cells = [scored(kb=kb) for kb in ("a", "a", "b", "a")]
    path = written(tmp_path, "scores", *cells)
    assert parquet.ParquetFile(path).num_row_groups == 3


def test_what_is_large_is_written_before_the_end(tmp_path):
    tables = Tables(tmp_path, ("answers",))
    for _ in range(3):
        tables.append("answers", answered(reply=["x" * 5_000_000]))
    assert (tmp_path / "answers.parquet").stat().st_size > 3_000
    tables.close()
    assert parquet.ParquetFile(tmp_path / "answers.parquet").num_row_groups == 3


def test_an_append_of_any_size_is_whole(tmp_path):
    count = 200_000
    path = written(tmp_path, "edits", edits(page=range(count), edits=range(count)))
    assert read_columns(path, ["edits"])["edits"].to_pylist() == list(range(count))


def test_columns_and_rows_are_chosen(tmp_path):
    path = written(tmp_path, "answers", answered(), answered(kb="g", error="no reply"))
    assert read_rows(path, ["kb"], error=None) == [{"kb": "f"}]
    assert read_rows(path, ["error"], kb="g", stage="overall") == [{"error": "no reply"}]
    assert read_rows(path, ["kb"], kb="h") == []


@pytest.mark.parametrize("wanted", [{"columns": ["nothing"]}, {"nothing": 1}])
def test_an_absent_column_is_named(tmp_path, wanted):
    path = written(tmp_path, "edits", edits())
    with pytest.raises(DataError, match=r"edits.parquet: has no column nothing: it is no table of this version"):
        read_rows(path, **wanted)


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "text", "flipped"])
def test_damage_is_one_sentence(tmp_path, damage):
    path = written(tmp_path, "edits", *[edits(page=range(2000), edits=range(2000))] * 3)
    content = path.read_bytes()
    harmed = {"empty": b"", "cut": content[:-9], "text": b"PAR1 no", "flipped": b"\xff" * 2000 + content[2000:]}
    path.unlink() if damage == "missing" else path.write_bytes(harmed[damage])
    with pytest.raises(DataError) as raised:
        read_rows(path)
    assert str(raised.value).startswith(f"{path}: cannot be read: ")
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "edits.parquet").mkdir()
    with pytest.raises(DataError, match=r"edits.parquet: cannot be written: "), Tables(tmp_path, ("edits",)) as tables:
        tables.append("edits", edits())


def test_the_copy_for_spreadsheets_has_six_digits_and_runs_nothing(tmp_path):
    row = {field.name: None for field in schema("doses")} | {"kb": "=1+1", "condition": "@x", "noise": "+n"}
    row |= {"knob": "-dash", "knob_value": "-0.5", "r_noise": 1 / 3, "evidence_loss": nan, "edits": 12345678}
    with Tables(tmp_path, DERIVED) as tables:
        tables.append_rows("doses", [row])
    export_csv(tmp_path, "doses")
    with (tmp_path / "doses.csv").open(newline="") as opened:
        (line,) = csv.DictReader(opened)
    assert [line[name] for name in ("kb", "condition", "noise", "knob")] == ["'=1+1", "'@x", "'+n", "'-dash"]
    assert [line[name] for name in ("knob_value", "r_noise", "evidence_loss", "edits")] == [
        *("-0.5", "0.333333", "", "12345678"),
    ]
    assert read_rows(tmp_path / "doses.parquet")[0]["kb"] == "=1+1"
