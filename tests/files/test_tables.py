"""Tables as spreadsheets, pandas and people write them, Parquet and YAML; and numbers as their files spell them."""

import json
import pickle
import sys
from datetime import date, datetime
from decimal import Decimal

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.errors import DataError, MissingExtra
from ohr.files.foreign_answers.answer_rows import answer_text, id_of, spelled
from ohr.files.grid_files import as_rows, read_values, workbook_grids
from ohr.files.json_input import Number, parse_json, text_of
from ohr.files.tables import read_table

NAMES = {"question": ("question", "query"), "answers": ("answer", "answers"), "page": ("page", "page_number")}
RIGHT = [{"question": "Who?", "answers": "Marsh", "page": "1"}]


def read(path, **more):
    return read_table(path, NAMES, ("question",), **more)


def parts(path):
    return [dict(row.parts) for row in read(path).rows]


@pytest.mark.parametrize(
    "text",
    [
        "question,answer,page\nWho?,Marsh,1\n",
        "question;answer;page\r\nWho?;Marsh;1\r\n",
        "question\tanswer\tpage\nWho?\tMarsh\t1\n",
        "question|answer|page\nWho?|Marsh|1\n",
        "sep=;\r\nquestion;answer;page\r\nWho?;Marsh;1\r\n",
        'SEP=;\n"question";"answer";"page"\n"Who?";"Marsh";"1"\n',
        "question;answer;page\rWho?;Marsh;1\r",
        "\r\n;;\r\nquestion;answer;page\r\n;;\r\nWho?;Marsh;1\r\n\r\n;;\r\n",
        "question;answer;page;;\nWho?;Marsh;1;;\n",
        "question;answer;page\nWho?;Marsh;1;\n",
        " Question ;ANSWERS;Page Number\nWho?;Marsh;1\n",
        "My questions, of May;;\nquestion;answer;page\nWho?;Marsh;1\n",
        "answer;page;query;a,b,c,d,e\nMarsh;1;Who?;\n",
        'question;answer;page\nWho?;"=""Marsh""";="1"\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_table_reads_the_same_however_a_spreadsheet_wrote_it(tmp_path, text, encoding):
    path = tmp_path / "q.csv"
    path.write_bytes(text.encode(encoding))
    assert parts(path) == RIGHT


def test_a_table_of_one_column_keeps_commas_in_its_cells(tmp_path):
    (tmp_path / "q.csv").write_text("question\nHow, and why?\n")
    assert parts(tmp_path / "q.csv") == [{"question": "How, and why?"}]


def test_numbers_with_decimal_commas_and_leading_zeros_stay_as_written(tmp_path):
    (tmp_path / "q.csv").write_text('question;answer\nHow much?;1.234,50\nWhich?;"=""00123"""\n')
    assert [row["answers"] for row in parts(tmp_path / "q.csv")] == ["1.234,50", "00123"]


def test_cells_without_a_value_are_blank(tmp_path):
    (tmp_path / "q.csv").write_text("question,answer,page\nWho?,NaN,nan\nWhat?,#N/A,\n")
    assert [(row["answers"], row["page"]) for row in parts(tmp_path / "q.csv")] == [(None, None)] * 2
    (tmp_path / "q.json").write_text('[{"question": "Who?", "answer": NaN, "page": null}]')
    assert parts(tmp_path / "q.json") == [{"question": "Who?", "answers": None, "page": None}]


def test_a_long_cell_is_read_whole(tmp_path):
    (tmp_path / "q.csv").write_text(f"question,answer\nWho?,{'x ' * 100_000}\n")
    assert len(parts(tmp_path / "q.csv")[0]["answers"]) == 200_000


def test_an_old_encoding_of_windows_is_read_and_said(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes("question;answer\nWer ist Frau Müller?;„Ärztin“\n".encode("cp1252"))
    table = read(path)
    assert table.rows[0].parts["answers"] == "„Ärztin“"
    assert "is not UTF-8; read as Windows-1252" in table.notes[0]


@pytest.mark.parametrize(
    ("word", "encoding"),
    [
        ("Кто это", "cp1251"),
        ("Он и я", "cp1251"),
        ("誰ですか", "cp932"),
        ("東京", "cp932"),
        ("Kto żyje w głębi", "cp1250"),
        ("Kto to są", "iso8859_2"),
        ("谁是", "gbk"),
        ("誰", "big5"),
        ("누가 왔나", "euc_kr"),
    ],
)
def test_an_encoding_that_is_not_western_is_refused(tmp_path, word, encoding):
    path = tmp_path / "q.csv"
    path.write_bytes(f"question;answer\n{word}?;x\n".encode(encoding))
    with pytest.raises(DataError, match=r"q.csv: cannot be read: it is not UTF-8 text; save it as UTF-8"):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        "Où est l’élève ? «\xa0À Évry\xa0» — créée, œuvre",
        "¿Qué es él? ¡Ñandú! 1ª, 2º",
        "5 °C, 20€, £5, m², §3, x±2, ½ cup, Acme®",
        "å, på ø; vélþýðing",
        "———— •••",
    ],
)
def test_western_prose_in_an_old_encoding_is_read(tmp_path, text):
    path = tmp_path / "q.csv"
    path.write_bytes(f'question\n"{text}"\n'.encode("cp1252"))
    assert parts(path) == [{"question": text}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Frage;Antwort;Datei\nWer?;Marsh;x\n",
            r"no column for the question \(question or query\); its columns are Fra",
        ),
        ("question;answer;Answer\nWho?;a;b\n", "has the column 'answer' twice"),
        (
            "question;answer;answers\nWho?;a;b\n",
            "q.csv:2: 'answer' and 'answers' could both be the answers, and differ",
        ),
        ("question,answer\nWho?,a,b\n", "q.csv:2: has more cells than the header"),
        ('question,answer\n"5" pipe?",a\n', "q.csv:2: not readable as CSV.*write a quotation mark inside a cell twice"),
        ("question,answer\nWho\0?,a\n", "q.csv:2: holds a NUL character"),
        ("\n;;\n", "q.csv: is empty"),
        ("", "q.csv: is empty"),
    ],
)
def test_a_table_that_cannot_be_understood_is_refused(tmp_path, text, message):
    (tmp_path / "q.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "q.csv")


def test_two_columns_of_one_part_may_agree(tmp_path):
    (tmp_path / "q.csv").write_text("question;query;answer\nWho?;Who?;a\n")
    assert parts(tmp_path / "q.csv") == [{"question": "Who?", "answers": "a"}]


@pytest.mark.parametrize("name", ["q.jsonl", "q.json"])
def test_records_with_a_key_twice_are_refused(tmp_path, name):
    record = '{"question": "Who?", "question": "What?"}'
    (tmp_path / name).write_text(record if name.endswith("l") else f"[{record}]")
    with pytest.raises(DataError, match="'question' is there twice"):
        read(tmp_path / name)


def workbook(path, *rows, title="Sheet"):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return book


def test_a_workbook_without_its_library_names_the_extra(tmp_path, monkeypatch):
    workbook(tmp_path / "q.xlsx", ("question",))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match=r"openpyxl is not installed: pip install 'ohr\[spreadsheets\]'"):
        workbook_grids(tmp_path / "q.xlsx", (tmp_path / "q.xlsx").read_bytes())


def test_cells_of_a_workbook_read_as_they_are_shown(tmp_path):
    path = tmp_path / "q.xlsx"
    book = workbook(
        path, ("question", "answer", "page"), *(("Who?", value, 1.0) for value in (1200, 28.7, 0.1 + 0.2, 7))
    )
    sheet = book.active
    for value, form in ((0.125, "0.0%"), (123, "00000"), (1234.5, "#,##0.00"), (28.7, "0.00")):
        sheet.append(("Who?", value, 1))
        sheet.cell(sheet.max_row, 2).number_format = form
    for value in (date(1964, 5, 3), True, '="00123"', "x", None):
        sheet.append(("Who?", value, 1))
    book.save(path)
    assert [row["answers"] for row in parts(path)] == [
        "1200", "28.7", "0.3", "7", "12.5%", "00123", "1,234.50", "28.70", "1964-05-03", "TRUE", "00123", "x", None,
    ]  # fmt: skip
    assert {row["page"] for row in parts(path)} == {"1"}


def test_a_merged_cell_counts_in_its_whole_area(tmp_path):
    path = tmp_path / "q.xlsx"
    book = workbook(path, ("A title",), (), ("question", "answer", "page"), ("Who?", "a", 4), ("What?", "b", None))
    book.active.merge_cells("C4:C5")
    book.active.merge_cells("A1:C1")
    book.save(path)
    assert [row["page"] for row in parts(path)] == ["4", "4"]
    assert "row 3: is taken for the header" in read(path).notes[0]


def test_the_sheet_that_is_read_is_the_one_with_the_columns_and_is_named(tmp_path):
    path = tmp_path / "q.xlsx"
    book = workbook(path, ("notes",), ("x",), title="Remarks")
    for title in ("May", "Hidden"):
        sheet = book.create_sheet(title)
        sheet.append(("question", "answer", "page"))
        sheet.append(("Who?", title, 1))
    book["Hidden"].sheet_state = "hidden"
    book.save(path)
    table = read(path)
    assert [row.parts["answers"] for row in table.rows] == ["May"]
    assert list(table.notes) == ["q.xlsx: read from the sheet May; not read: Remarks"]
    assert table.rows[0].where.endswith("q.xlsx, sheet May, row 2")


def test_empty_sheets_before_the_one_with_data_are_passed_over(tmp_path):
    path = tmp_path / "q.xlsx"
    book = workbook(path)
    book.create_sheet("May").append(("question",))
    book["May"].append(("Who?",))
    book.save(path)
    assert parts(path) == [{"question": "Who?"}]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((("question", "answer"), ("Who?", "=A2")), "row 2: '=A2' has no value: open and save the file"),
        ((("question", "answer"), ("Who?", "#REF!")), "row 2: a cell has the error #REF!"),
        ((("Frage", "Antwort"), ("Wer?", "x")), "row 1: has no column for the question"),
        ((), "is empty"),
    ],
)
def test_a_workbook_that_cannot_be_understood_is_refused(tmp_path, rows, message):
    workbook(tmp_path / "q.xlsx", *rows)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "q.xlsx")


def test_a_workbook_is_known_by_its_content(tmp_path):
    workbook(tmp_path / "q.xlsx", ("question",), ("Who?",))
    (tmp_path / "q.xlsx").rename(tmp_path / "q.csv")
    assert parts(tmp_path / "q.csv") == [{"question": "Who?"}]
    for name, content in (("q.xls", b"\xd0\xcf\x11\xe0..."), ("q.xlsx", b"PK\x03\x04..."), ("r.xlsx", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=r"as \.xlsx or CSV"):
            read(tmp_path / name)


def test_json_is_read_in_the_encoding_of_its_mark(tmp_path):
    (tmp_path / "q.json").write_bytes(json.dumps([{"question": "Qui êtes?"}], ensure_ascii=False).encode("utf-16"))
    assert parts(tmp_path / "q.json") == [{"question": "Qui êtes?"}]


PARTS = {"question": ("question",), "answers": ("answers", "answer"), "contexts": ("contexts",), "id": ("id",)}
ROWS = [
    {"question": "Who?", "answer": "Marsh", "contexts": ["a", "b"]},
    {"question": "When?", "answer": None, "contexts": []},
]


def read_records(path):
    return read_table(path, PARTS, ("question",))


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
    assert [dict(row.parts) for row in read_records(tmp_path / "q.json").rows] == [
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
    assert read_records(path).rows[0].parts == {"question": "Who?"}
    with pytest.raises(DataError, match=r"no column for the question \(question\); its columns are Frage, Antwort"):
        read_records(write(tmp_path / "b.parquet", pyarrow.table({"Frage": ["x"], "Antwort": ["y"]})))
    with pytest.raises(DataError, match="has the column 'question' twice"):
        read_records(write(tmp_path / "c.parquet", pyarrow.table([["x"], ["y"]], names=["question", "question"])))


def test_parquet_that_stands_for_too_many_rows_is_refused(tmp_path):
    many = pyarrow.chunked_array([pyarrow.array([None] * 1000, pyarrow.string())] * 5001)
    path = write(tmp_path / "a.parquet", pyarrow.table({"question": many}))
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"says that it has 5,001,000 rows; a table has at most 5,000,000"):
        read_records(path)


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8), st.booleans())
def test_damaged_parquet_is_read_or_refused(tmp_path_factory, place, other, cut):
    path = tmp_path_factory.mktemp("damaged") / "a.parquet"
    content = write(path, pyarrow.Table.from_pylist(ROWS)).read_bytes()
    at = place % len(content)
    path.write_bytes(content[:at] if cut else content[:at] + other + content[at + len(other) :])
    try:
        read_records(path)
    except DataError as error:
        assert str(error).startswith(str(path))


def test_yaml_keeps_numbers_and_dates_as_they_are_written(tmp_path):
    path = tmp_path / "q.yaml"
    path.write_text("- {question: Who?, answer: 2.0, id: 2024-05-03}\n- {question: When?, answer: 1e3, id: true}\n")
    rows = [row.parts for row in read_records(path).rows]
    assert [text_of(row["answers"]) for row in rows] == ["2.0", "1e3"]
    assert [text_of(row["id"]) for row in rows] == ["2024-05-03", "true"]
    path.write_text("- {question: ")
    with pytest.raises(DataError, match=r"q\.yaml: not readable as YAML"):
        read_records(path)


def test_numbers_of_few_bits_are_written_as_they_are_in_their_own_type(tmp_path):
    columns = {
        "single": pyarrow.array([0.1, None], pyarrow.float32()),
        "half": pyarrow.array([0.1, 2.5], pyarrow.float16()),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "n.parquet")
    rows = read_values(tmp_path / "n.parquet", (tmp_path / "n.parquet").read_bytes()).value
    assert rows == [{"single": 0.1, "half": 0.1}, {"single": None, "half": 2.5}]
