"""Documents and questions as users have them: copies of a file, and evidence that is cut inside words and numbers."""

import json
from random import Random
from shutil import copy

import pytest
from typer.testing import CliRunner

from ohr.builder.build_set import estimate
from ohr.cli.app import app
from ohr.dataset.misplaced_evidence import misplaced
from ohr.engine.progress import Quiet

from .test_build_set import study

NOTE = (
    "1 document with the text of another, not asked about: documents/lantern_copy has the same text as "
    "documents/drumlow_lantern"
)


@pytest.fixture
def copied(place):
    """The place of a build with one of its two documents a second and a third time."""
    for name in ("lantern_copy", "z_lantern"):
        copy(place.docs / "drumlow_lantern.pdf", place.docs / f"{name}.pdf")
    return place


def test_of_equal_documents_the_first_one_is_asked_about(place):
    alone = place.build()
    copy(place.docs / "drumlow_lantern.pdf", place.docs / "lantern_copy.pdf")
    built = place.build()
    assert NOTE in built.notes
    assert [each.question for each in built.questions] == [each.question for each in alone.questions]
    assert "documents/lantern_copy" not in {each.document for each in built.questions}
    assert built.truth.removed["same_document"] == len(built.truth.texts["documents/lantern_copy"])
    assert not next(row for row in built.funnel.rows if row.rule == "ambiguous_document").removed
    assert list(misplaced(study(place.out))) == []


def test_a_plan_names_equal_documents(copied):
    notes = estimate(copied.job(), progress=Quiet()).notes
    assert any(
        note.startswith("2 documents with the text of another, not asked about: documents/lantern_copy has")
        for note in notes
    )


def test_a_question_that_was_brought_may_name_any_of_equal_documents(copied):
    table = copied.folder / "ours.csv"
    table.write_text(
        "question,answer,document,evidence\n"
        "What do PIANO LESSONS cost in the Lantern?,14,z_lantern,welcome £14 the half hour\n"
    )
    (question,) = copied.build("writer=null", imported=table).questions
    assert question.document == "documents/z_lantern"


def test_a_check_finds_the_evidence_of_a_new_set_on_its_page(place):
    draws, rows = Random(31), []
    for name, pages in place.build().truth.texts.items():
        for text in [line for page in pages for line in page.text.splitlines() if len(line) > 40]:
            start, end = draws.randrange(10), draws.randrange(20, len(text))
            asked = {"question": f"Is it said that {text}", "answer": "Yes", "document": name}
            rows.append(asked | {"evidence": [text[start:end], text[max(0, end - 3) :]]})
    for number, (lesson, evidence) in enumerate((("1", "welcome, £1"), ("14", "beginners welcome, £14 the"))):
        asked = f"What do PIANO LESSONS cost the {number}th beginner?"
        rows.append({"question": asked, "answer": lesson, "task_type": "understanding", "evidence": evidence})
    table = place.folder / "cut.json"
    table.write_text(json.dumps(rows))
    built = place.build("writer=null", imported=table)
    assert len(built.questions) > 40
    assert built.questions[-1].answers == ("14",)
    assert list(misplaced(study(place.out))) == []


def test_a_check_of_a_new_set_warns_of_nothing(place):
    place.build()
    done = CliRunner().invoke(app, ["check", str(place.out / "study.yaml"), "--json"])
    # its pages are short, so that channel noise, which the spec has, says that it was never tried on such
    assert [each for each in json.loads(done.stdout)["warnings"] if not each.startswith("channel: ")] == []
    assert "a set that ohr built: 2 documents" in CliRunner().invoke(app, ["data", "verify", str(place.out)]).stdout
    assert "build and review" in CliRunner().invoke(app, ["data", "--help"]).stdout
