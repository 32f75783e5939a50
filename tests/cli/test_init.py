"""`ohr init`, where its folder or the working folder is not as it should be."""

import json

import pytest
from PIL import Image


@pytest.fixture
def docs(home):
    (home / "docs").mkdir()
    Image.new("RGB", (200, 120), "white").save(home / "docs/scan.png")
    return home / "docs"


def test_the_record_of_what_ohr_wrote_is_no_file_of_questions(docs, ohr):
    (docs.parent / ".ohr-written.json").write_text(json.dumps([{"question": "Who?"}]))
    done = ohr("init", "docs")
    assert done.exit_code == 0
    assert "no questions yet" in done.stdout and "ohr-written" not in done.stdout


def test_a_file_in_place_of_a_folder_is_named(docs, ohr):
    done = ohr("init", "docs/scan.png")
    assert done.exit_code == 2
    assert "scan.png: is a file: name its folder, docs" in done.stderr


def test_an_empty_folder_is_reported_before_wrong_questions(docs, ohr):
    (docs / "scan.png").unlink()
    (docs.parent / "questions.csv").write_text("Frage\nWer?\n")
    done = ohr("init", "docs")
    assert done.exit_code == 2
    assert "docs: holds no readable PDF and no page images" in " ".join(done.stderr.split())
