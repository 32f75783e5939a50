"""Tables as spreadsheets, pandas and people write them."""

import json
from datetime import date

import pytest

from ohr.errors import DataError
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
