"""`ohr init`, on your own documents."""

import csv

import pytest
from typer.testing import CliRunner

from ohr.cli.app import app
from ohr.contracts import Question
from ohr.new_study.wizard import build_starter, evidence_places

from .conftest import write_incomplete, write_pdf, write_scan


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Two PDFs and a scan in `docs`."""
    monkeypatch.chdir(tmp_path)
    write_pdf(tmp_path / "docs/lease.pdf", "The lease began in 1964. Rent is due in May.", "It ends in 2034.")
    write_pdf(tmp_path / "docs/bylaws/noise.pdf", "Horns may sound at noon.")
    write_scan(tmp_path / "docs/permit.pdf")
    return tmp_path


def ohr(*words):
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def ask(home, *rows):
    with (home / "mine.csv").open("w", newline="") as opened:
        csv.writer(opened).writerows((("question", "answers", "document", "page", "evidence"), *rows))


def test_text_layers_that_are_not_whole_are_counted(home):
    assert "of the text layers" not in ohr("init", "docs").stdout
    write_incomplete(home / "docs/half.pdf")
    done = ohr("init", "docs", "--force")
    assert "of the text layers 3 whole, 1 incomplete: `ohr check` says which, and why" in done.stdout


def test_a_folder_becomes_a_study_that_is_valid(home):
    done = ohr("init", "docs")
    assert done.exit_code == 0
    assert "3 documents with 4 pages; 3 pages have a text layer" in done.stdout
    assert "no text layer: documents/permit" in done.stdout
    assert (
        "no questions yet: name a model in build.yaml that writes them, or write them into questions.csv" in done.stdout
    )
    assert "next:    ohr data build docs --to docs-set --spec build.yaml   # with your model in" in done.stdout
    assert "written: questions.csv, build.yaml, study.yaml" in done.stdout
    assert (home / "build.yaml").read_text() == build_starter(scans=True)
    assert "         ohr check study.yaml   # with your questions in questions.csv\n" in done.stdout
    assert (home / "questions.csv").read_text().splitlines()[0] == "question,answers,document,page,evidence"
    for command in ("check", "run"):
        refused = ohr(command, "study.yaml")
        assert refused.exit_code == 2
        assert "questions.csv:2: is as `ohr init` wrote it, and so are 2 more rows: replace it" in refused.stderr
    assert "no questions yet" in ohr("init", "docs").stdout, "the rows are no questions to the wizard either"
    (home / "questions.csv").write_text("Question,Answer,PDF,Page\nWhen did the lease begin?,1964,lease.pdf,1\n")
    checked = ohr("check", "study.yaml")
    assert checked.exit_code == 0, checked.stderr


def test_evidence_is_proposed_where_the_answer_is_on_the_page(home):
    ask(
        home,
        ("When did the lease begin?", "1964", "lease", 1, ""),
        ("When does it end?", "2034", "lease", 2, "It ends in 2034."),
        ("Who signs?", "Ada Venn", "lease", 1, ""),
        ("What is permitted?", "mooring", "permit", 1, ""),
    )
    done = ohr("init", "docs")
    assert "evidence proposed for 1 of them in mine-with-evidence.csv" in done.stdout
    assert not (home / "build.yaml").exists()
    rows = list(csv.DictReader((home / "mine-with-evidence.csv").read_text().splitlines()))
    assert [row["evidence"] for row in rows] == ["The lease began in 1964.", "It ends in 2034.", "", ""]
    assert [row["evidence_proposed"] for row in rows] == ["yes", "", "", ""]
    assert "mine-with-evidence.csv" in (home / "study.yaml").read_text()
    checked = ohr("check", "study.yaml")
    assert checked.exit_code == 0, checked.stderr
    assert "evidence that is not on its page" not in checked.stdout
    again = ohr("init", "docs")
    assert again.exit_code == 0 and "evidence proposed for 1 of them in mine-with-evidence.csv" in again.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("init", "nothing"), "nothing: no such folder"),
        (("init", "."), "go to the folder above it"),
        (("init", "empty"), "holds no readable PDF and no page images"),
        (("init", "texts"), "1 text file: a corpus of texts is `kind: beir`, docs/tutorials/your-corpus.md"),
        (("init", "docs", "--questions", "wrong.csv"), "the document 'deed' is not in the folder"),
    ],
)
def test_mistakes_are_explained(home, words, message):
    (home / "empty").mkdir()
    (home / "texts").mkdir()
    (home / "texts/pump.txt").write_text("The pump starts.")
    (home / "wrong.csv").write_text("question,document\nWhen?,deed\n")
    done = ohr(*words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_several_files_of_questions_must_be_told_apart(home):
    for name in ("a.csv", "b.csv"):
        (home / name).write_text("question\nWhen?\n")
    assert "has several files of questions, a.csv, b.csv: name one with --questions" in ohr("init", "docs").stderr


TABLE = "Item Price Since\nMooring 12.50 1964\nWinter berth 40.00 1971\nCrane hire 12.75 1980"
PROSE = (
    "The harbour was built by the town in the year 1902 and\nwas widened after the great storm of the year 1911 by\n"
    "the county. Its light is white."
)


@pytest.mark.parametrize(
    ("page", "answer", "places"),
    [
        (TABLE, "40.00", ["Winter berth 40.00 1971"]),
        (TABLE, "Winter berth", ["Winter berth 40.00 1971"]),
        (TABLE + "\n" + TABLE, "40.00", ["Winter berth 40.00 1971"] * 2),
        (TABLE + "\n" + PROSE, "12.75", ["Crane hire 12.75 1980"]),
        (PROSE, "1911", [" ".join(PROSE.split(". ")[0].split()) + "."]),
        (PROSE, "white", ["Its light is white."]),
        (PROSE, "the town", [" ".join(PROSE.split(". ")[0].split()) + "."]),
        (PROSE, "the year", [" ".join(PROSE.split(". ")[0].split()) + "."]),
        (PROSE + " The other is white.", "white", ["Its light is white.", "The other is white."]),
        ("No smoking.", "No", []),
        (TABLE, "41.00", []),
    ],
)
def test_the_evidence_of_an_answer_is_its_sentence_line_or_row(page, answer, places):
    question = Question("q", "?", (answer,), "d", (0,), ("",), "text", "documents")
    assert evidence_places(question, [page]) == places


def test_an_answer_in_several_places_is_ambiguous_and_gets_no_evidence(home):
    write_pdf(home / "docs/fees.pdf", "Mooring 12.50\nCrane 12.50\nWinter berth 40.00")
    ask(home, ("What is the fee?", "12.50", "fees", 1, ""), ("And in winter?", "40.00", "fees", 1, ""))
    done = ohr("init", "docs")
    assert "evidence proposed for 1 of them" in done.stdout
    assert "1 question whose answer is in several places: fill in the evidence, else hit@k" in done.stdout
    rows = list(csv.DictReader((home / "mine-with-evidence.csv").read_text().splitlines()))
    assert [row["evidence"] for row in rows] == ["", "Winter berth 40.00"]
    assert [row["evidence_proposed"] for row in rows] == ["ambiguous: 2 places", "yes"]
    checked = ohr("check", "study.yaml")
    assert "1 of 2 questions without evidence: no LCS, no r_noise (q1)" in checked.output


def test_files_that_are_left_out_are_listed_with_the_reason(home):
    (home / "docs/cut.pdf").write_bytes(b"%PDF-1.4")
    (home / "fragen.csv").write_text("Frage;Antwort\nWer?;Marsh\n")
    done = ohr("init", "docs")
    assert "left out: " in done.stdout and "cut.pdf" in done.stdout
    assert "not taken for questions: fragen.csv:1: has no column for the question" in done.stdout
    assert "its columns are Frage, Antwort" in done.stdout


def test_a_workbook_of_questions_is_found(home):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(("Question", "Answer", "File name", "Page"))
    book.active.append(("When did the lease begin?", 1964, "lease.pdf", 1))
    book.save(home / "mine.xlsx")
    assert "1 question in mine.xlsx" in ohr("init", "docs").stdout
    rows = list(csv.DictReader((home / "mine-with-evidence.csv").read_text().splitlines()))
    assert [row["evidence"] for row in rows] == ["The lease began in 1964."]
