"""Sets that ohr built from somebody's documents."""

import json

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.ohrbench import OhrBench
from ohr.cli.app import app
from ohr.files.built_set import FORMAT, page_digest


@pytest.fixture
def built(folder):
    """The folder of a test, as if ohr had built it: its second page is silver, and its language is known."""
    pages = {
        "0": {"origin": "text_layer", "sha256": page_digest("The lease began in 1964.")},
        "1": {"origin": "silver", "sha256": page_digest("Rent is due in May.")},
    }
    content = {
        "format": FORMAT,
        "truth": {"engine": "rapidocr 3.4.1"},
        "documents": {"law/lease": {"language": "de", "images": "", "pages": pages}},
    }
    (folder.root / "set.json").write_text(json.dumps(content))
    return folder


SILVER = (
    "ground truth of 1 of 2 pages is silver: read by rapidocr 3.4.1, not corrected; scores against it measure "
    "agreement with that engine"
)


def test_notes_say_how_much_of_the_ground_truth_is_silver(built):
    assert OhrBench(root=built.root).notes() == [SILVER]
    reference = OhrBench(root=built.root, protocol="reference")
    assert reference.notes() == ["questions of qas.json, protocol reference", SILVER]


def test_pages_and_documents_that_came_later_are_counted(built):
    built.document("gt", "law/lease", "The lease began in 1965.", "Rent is due in May.", "Signed.")
    built.document("gt", "law/note", "Rent is due in June.")
    notes = OhrBench(root=built.root).notes()
    assert notes[:2] == [
        SILVER.replace("1 of 2", "1 of 4"),
        "1 page whose ground truth was changed after the set was built: law/lease page 1",
    ]
    assert notes[2] == "2 pages that the set was built without: law/lease page 3, law/note page 1"


def test_the_language_of_a_document_is_that_of_the_set(built):
    assert [document.language for document in OhrBench(root=built.root).documents()] == ["de"]


def test_other_folders_say_nothing_of_it(folder):
    assert OhrBench(root=folder.root).notes() == ["questions of qas.json, protocol clean"]


def test_verify_gives_its_counts_and_compares_none(built):
    printed = CliRunner().invoke(app, ["data", "verify", str(built.root)])
    assert printed.exit_code == 0
    assert "a set that ohr built: 1 document, 2 pages of truth (1 silver, 1 text_layer)" in printed.output
    assert "no counts of this data set are published: it has 1 document and 1 question" in printed.output
    assert "differ" not in printed.output


def test_verify_reports_a_damaged_set(built):
    (built.root / "set.json").write_text(json.dumps({"format": FORMAT}))
    printed = CliRunner().invoke(app, ["data", "verify", str(built.root)])
    assert printed.exit_code != 0
    assert "set.json: not as it was built" in f"{printed.output}{printed.exception}"
