"""`ohr init`, on your own documents."""

import csv
import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ohr.cli.app import app

_spec = importlib.util.spec_from_file_location("folder_files", Path(__file__).with_name("conftest.py"))
files = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(files)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Two PDFs and a scan in `docs`."""
    monkeypatch.chdir(tmp_path)
    files.write_pdf(tmp_path / "docs/lease.pdf", "The lease began in 1964. Rent is due in May.", "It ends in 2034.")
    files.write_pdf(tmp_path / "docs/bylaws/noise.pdf", "Horns may sound at noon.")
    files.write_scan(tmp_path / "docs/permit.pdf")
    return tmp_path


def ohr(*words):
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def ask(home, *rows):
    with (home / "mine.csv").open("w", newline="") as opened:
        csv.writer(opened).writerows((("question", "answers", "document", "page", "evidence"), *rows))


def test_a_folder_becomes_a_study_that_is_valid(home):
    done = ohr("init", "docs")
    assert done.exit_code == 0
    assert "3 documents with 4 pages; 3 pages have a text layer" in done.stdout
    assert "no text layer: documents/permit" in done.stdout
    assert "next:    ohr check study.yaml" in done.stdout
    assert (home / "questions.csv").read_text().splitlines()[0] == "question,answers,document,page,evidence"
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
    rows = list(csv.DictReader((home / "mine-with-evidence.csv").read_text().splitlines()))
    assert [row["evidence"] for row in rows] == ["The lease began in 1964.", "It ends in 2034.", "", ""]
    assert [row["evidence_proposed"] for row in rows] == ["yes", "", "", ""]
    assert "mine-with-evidence.csv" in (home / "study.yaml").read_text()
    checked = ohr("check", "study.yaml")
    assert checked.exit_code == 0, checked.stderr
    assert "evidence that is not on its page" not in checked.stdout


def test_nothing_is_replaced_unless_it_is_asked_for(home):
    ohr("init", "docs")
    (home / "study.yaml").write_text("mine")
    again = ohr("init", "docs")
    assert (again.exit_code, (home / "study.yaml").read_text()) == (2, "mine")
    assert "there already; --force replaces" in again.stderr
    assert ohr("init", "docs", "--force").exit_code == 0
    assert (home / "study.yaml").read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("init", "nothing"), "nothing: no such folder"),
        (("init", "."), "go to the folder above it"),
        (("init", "empty"), "holds no readable PDF and no page images"),
        (("init", "docs", "--questions", "wrong.csv"), "the document 'deed' is not in the folder"),
    ],
)
def test_mistakes_are_explained(home, words, message):
    (home / "empty").mkdir()
    (home / "wrong.csv").write_text("question,document\nWhen?,deed\n")
    done = ohr(*words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_several_files_of_questions_must_be_told_apart(home):
    for name in ("a.csv", "b.csv"):
        (home / name).write_text("question\nWhen?\n")
    assert "has several files of questions: name one with --questions" in ohr("init", "docs").stderr
