import json
from dataclasses import replace
from time import process_time
from unicodedata import normalize

import pytest

from ohr.errors import DataError

ROWS = [
    {"question": "When?", "answers": "1964", "document": "lease", "page": 1, "evidence": "began, in 1964"},
    {"question": "Where; and why?", "answers": ["here", "there"], "document": "lease", "page": [1, 2],
     "evidence": ["a", "b"]},
]  # fmt: skip
CSV = """\
Question,Answers,Document,Page,Evidence
When?,1964,lease,1,"began, in 1964"
Where; and why?,"[""here"", ""there""]",lease,"1, 2","[""a"", ""b""]"
"""


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "semicolons", "bom", "tsv"])
def test_every_form_gives_the_same_questions(two, form):
    name = {"semicolons": "q.csv", "bom": "q.csv"}.get(form, f"q.{form}")
    text = {
        "json": json.dumps(ROWS),
        "jsonl": "\n\n".join(map(json.dumps, ROWS)),
        "csv": CSV,
        "semicolons": CSV.replace(",lease,", ";lease;").replace("Question,Answers,Document,Page,Evidence",
            "Question;Answers;Document;Page;Evidence").replace("When?,", "When?;").replace("1,\"began", "1;\"began")
            .replace("Where; and why?,", '"Where; and why?";').replace('"1, 2",', '"1, 2";'),
        "bom": "\ufeff" + CSV,
        "tsv": "question\tanswers\tdocument\tpage\tevidence\nWhen?\t1964\tlease\t1\tbegan, in 1964\n"
               'Where; and why?\t["here", "there"]\tlease\t1;2\t["a", "b"]\n',
    }[form]  # fmt: skip
    (two.home / name).write_text(text, encoding="utf-8")
    first, second = two.benchmark(name).questions()
    assert (first.text, first.answers, first.document, first.pages) == ("When?", ("1964",), "documents/lease", (0,))
    assert first.evidence == ("began, in 1964",)
    assert (second.answers, second.pages, second.evidence) == (("here", "there"), (0, 1), ("a", "b"))
    assert [first.id, second.id] == ["q1", "q2"]


@pytest.mark.parametrize(
    "name", ["lease", "lease.pdf", "documents/lease", "documents/lease.PDF", normalize("NFD", "lease")]
)
def test_a_document_is_found_by_any_of_its_names(two, name):
    two.ask({"question": "?", "document": name})
    assert two.benchmark().questions()[0].document == "documents/lease"


def test_pages_may_count_from_0(two):
    two.ask({"question": "?", "document": "lease", "page": 0})
    assert two.benchmark(first_page=0).questions()[0].pages == (0,)
    with pytest.raises(DataError, match=r"page 0: pages count from 1 \(see first_page\)"):
        two.benchmark().questions()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"answers": "x"}, r"for the question \(question or .*; its columns are answers"),
        ({"question": "?", "document": "leese"}, "'leese' is not in the folder; did you mean 'documents/lease'?"),
        ({"question": "?", "document": "lease", "page": 3}, "page 3 of 'documents/lease', whose last page is 2"),
        ({"question": "?", "document": "lease", "page": "two"}, r"a page must be a whole number \(got 'two'\)"),
        ({"question": "?", "document": "lease", "page": 1.5}, r"a page must be a whole number \(got 1.5\)"),
        ({"question": "?", "document": "lease", "page": True}, "a page must be a whole number"),
        ({"question": "?", "document": "", "page": 1}, "names a page, but not of which document"),
        ({"question": "?", "evidence_source": "tabel"}, "evidence_source must be one of text, table"),
    ],
)
def test_a_wrong_question_is_reported(two, record, message):
    two.ask(record)
    with pytest.raises(DataError, match=message):
        two.benchmark().check()


@pytest.mark.parametrize("name", ["PDF", "pdf", "File", "FILENAME", "file-name", "Document", "PDF name"])
def test_the_column_of_the_document_has_many_names(two, name):
    (two.home / "q.csv").write_text(f"question,{name},page\nWhen?,lease.pdf,2\n")
    two.ask({"question": "When?", name: "lease.pdf", "page": 2})
    for file in ("q.csv", "q.json"):
        (question,) = two.benchmark(file).questions()
        assert (question.document, question.pages) == ("documents/lease", (1,))


def test_a_workbook_may_name_documents_in_a_column_pdf(two):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(("Question", "PDF", "Page"))
    book.active.append(("When?", "lease.pdf", 2))
    book.save(two.home / "q.xlsx")
    assert two.benchmark("q.xlsx").questions()[0].document == "documents/lease"


@pytest.mark.parametrize("file", ["q.csv", "q.json"])
def test_a_file_without_documents_is_reported_once_with_its_columns(two, file):
    rows = [{"Question": "When?", "Akte": "lease", "Page": 1}] * 13
    two.ask(*rows)
    (two.home / "q.csv").write_text("Question,Akte,Page\n" + "When?,lease,1\n" * 13)
    with pytest.raises(DataError) as caught:
        two.benchmark(file).check()
    assert str(caught.value) == (
        f"{two.home / file}: names pages, but has no column for the document "
        "(document or file or file_name or pdf or doc); its columns are Question, Akte, Page"
    )


def test_a_row_that_ohr_init_wrote_is_refused_once_with_its_line(two):
    row = "Replace this by a question about lease, and fill in its answer and its page"
    (two.home / "q.csv").write_text(f'question,document,page\nWhen?,lease,1\n"{row}",lease,1\n"{row}",noise,1\n')
    with pytest.raises(DataError) as caught:
        two.benchmark("q.csv").check()
    assert str(caught.value) == (
        f"{two.home / 'q.csv'}:3: is as `ohr init` wrote it, and so is 1 more row: replace it by a question of yours"
    )


def test_all_faults_are_reported_at_once(two):
    two.ask({"question": ""}, {"question": "?", "document": "x"}, *[{"question": "?", "id": "same"}] * 2)
    with pytest.raises(DataError) as raised:
        two.benchmark().check()
    assert len(str(raised.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.json", b"{", "not readable as JSON"),
        ("q.json", b"{}", "must be a list of questions"),
        ("q.json", b"[]", "holds no question"),
        ("q.json", b"[3]", "question 0: must be a mapping"),
        ("q.json", b"\xff", "not UTF-8"),
        ("q.jsonl", b'{"question": "?"}\n{', r"q\.jsonl:2: not readable as JSON"),
        ("q.csv", b"question,page\nwhat, then,1\n", r"q\.csv:2: has more cells than the header"),
        ("q.csv", b'question\n"open', "not readable as CSV"),
        ("none.csv", None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_is_wrong_is_reported(two, name, content, message):
    if content is not None:
        (two.home / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        two.benchmark(name).check()


def test_missing_parts_of_a_question_are_left_open_and_reported(two):
    two.ask(
        {"question": "a?", "color": "red"},
        {"question": "b?", "answers": "x", "evidence": "y"},
        {"question": "c?", "answers": "x", "document": "lease", "page": 2},
    )
    benchmark = two.benchmark()
    bare, floating, located = benchmark.questions()
    assert (bare.answers, bare.pages, bare.evidence, bare.is_located) == ((), (), (), False)
    assert floating.is_located is False
    assert (located.evidence, located.is_located) == (("",), True)
    notes = "\n".join(benchmark.notes())
    assert "1 of 3 questions without an answer: replies are kept, not scored (q1)" in notes
    assert "2 of 3 questions without a document or page: no retrieval score, no generation stage (q1, q2)" in notes
    assert "1 of 3 questions without evidence: no LCS, no r_noise (q3)" in notes
    assert "q.json: not used: color" in notes


def test_with_one_document_a_question_need_not_name_it(two):
    (two.root / "bylaws/noise.pdf").unlink()
    two.ask({"question": "?", "page": 2})
    (question,) = two.benchmark().questions()
    assert replace(question, text="") == replace(question, text="", document="documents/lease", pages=(1,))


def test_one_mistake_is_reported_once(two):
    two.ask({"question": "?", "document": "leese", "page": 1})
    with pytest.raises(DataError) as caught:
        two.benchmark().questions()
    assert len(str(caught.value).splitlines()) == 1


def test_the_header_of_a_csv_is_read_once_however_wide_it_is(two):
    header = ",".join(["question", *(f"column{number}" for number in range(30_000))])
    (two.home / "q.csv").write_text("\n".join([header, *[f"When {number}?" + "," * 30_000 for number in range(5)]]))
    benchmark = two.benchmark("q.csv")
    began = process_time()
    assert len(benchmark.questions()) == 5
    assert process_time() - began < 5
    assert "q.csv: not used: column0, column1, column10 and 29,997 more" in benchmark.notes()


def test_a_changed_file_is_read_again(two):
    assert len(two.benchmark().questions()) == 3
    two.ask({"question": "?"})
    assert len(two.benchmark().questions()) == 1


@pytest.mark.parametrize(
    ("page", "pages"),
    [
        ("1.0", (0,)), (1.0, (0,)), ("p. 2", (1,)), ("P.2", (1,)), ("page 2", (1,)), ("pp. 1-2", (0, 1)),
        ("1\N{EN DASH}2", (0, 1)), ("1 - 2", (0, 1)), ("1;2", (0, 1)), ("1 2", (0, 1)), ("p. 1, p. 2", (0, 1)),
        (["1", 2.0], (0, 1)), ("[1, 2]", (0, 1)), ("2-2", (1,)), ("none", ()), (float("nan"), ()), (None, ()),
    ],
)  # fmt: skip
def test_a_page_is_read_as_people_and_programs_write_it(two, page, pages):
    two.ask({"question": "When?", "document": "lease", "page": page})
    assert two.benchmark().questions()[0].pages == pages


@pytest.mark.parametrize("page", ["2-1", "1.5", "1964-05-03", "1-99999999", "ii", "1--2", "-1", True])
def test_a_page_that_is_no_number_or_range_is_refused(two, page):
    two.ask({"question": "When?", "document": "lease", "page": page})
    with pytest.raises(DataError, match=r"a page must be a whole number \(got .*several are written 3; 5 or 3-5"):
        two.benchmark().questions()


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ('"[""a"", ""b""]"', ("a", "b")), ("\"['a', 'b']\"", ("a", "b")), ("[1]", ("[1]",)),
        ("[sic] a", ("[sic] a",)), ('"1.234,50"', ("1.234,50",)), ("None", ("None",)), ("nan", ()),
    ],
)  # fmt: skip
def test_an_answer_in_a_cell_is_a_list_only_where_it_is_one_of_texts(two, cell, answers):
    (two.home / "q.csv").write_text(f"question,answer\nWhich?,{cell}\n")
    assert two.benchmark("q.csv").questions()[0].answers == answers


def test_questions_may_be_the_only_list_of_a_mapping(two):
    (two.home / "q.json").write_text(json.dumps({"version": 1, "questions": ROWS}))
    assert len(two.benchmark().questions()) == 2


def test_answers_of_any_type_are_text_and_a_nan_is_none(two):
    two.ask({"question": "How many?", "answers": 1200}, {"question": "And?", "answers": float("nan"), "page": None})
    assert [question.answers for question in two.benchmark().questions()] == [("1200",), ()]


def test_a_no_break_space_in_a_name_of_a_document_is_a_space(two):
    two.ask({"question": "When?", "document": "lease.pdf\N{NO-BREAK SPACE}", "page": 1})
    assert two.benchmark().questions()[0].document == "documents/lease"


def test_what_to_know_of_a_table_is_among_the_notes(two):
    (two.home / "q.csv").write_bytes("Remarks\n\nquestion;Notes\nQui êtes-vous?;x\n".encode("cp1252"))
    notes = [note for note in two.benchmark("q.csv").notes() if "q.csv" in note]
    assert [note.split(":", 1)[1].strip()[:24] for note in notes] == [
        "is not UTF-8; read as Wi", "3: is taken for the header"[:24], "not used: Notes",
    ]  # fmt: skip


def test_rows_with_a_blank_document_are_reported_once(two):
    (two.home / "q.csv").write_text("Question,PDF,Page\n" + "When?,,1\n" * 13)
    with pytest.raises(DataError) as caught:
        two.benchmark("q.csv").check()
    fault = f"{two.home / 'q.csv'}:2: names a page, but not of which document, and so do 12 more rows"
    assert str(caught.value) == fault
