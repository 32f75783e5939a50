"""Artifacts in the texts of a run: the table of them, and what a first screen says where they are many."""

import pytest

from ohr.report.analyses import ANALYSES
from ohr.report.first_screen import summarize
from ohr.report.views.hygiene import hygiene_sentences, views
from ohr.results.derived import hygiene_rows

LOOP = "Pay at the quay.\n" * 20
FENCE = "```\nPay here.\n```"


@pytest.fixture
def run(runs):
    """Make a run whose conditions have one text a page, the same in each draw."""

    def make(**texts):
        study = runs.make()
        for condition, pages in texts.items():
            study.condition(condition, 0.5)
            for replicate in range(2):
                numbers = list(range(len(pages)))
                about = {"kb": f"{condition}#{replicate}", "condition": condition, "replicate": replicate}
                rows = {**about, "document": "law/lease", "page": numbers, "text": list(pages), "error": None}
                study.tables.append("texts", rows)
        return study.finish()

    return make


def test_each_page_has_a_row_for_each_kind_of_artifact(run):
    rows = run(clean=["Pay here."], vlm=[LOOP, FENCE, None, "Pay here."]).rows("hygiene")
    assert [(row["kb"], row["page"], row["kind"], row["count"]) for row in rows] == [
        (f"vlm#{replicate}", *found) for replicate in (0, 1) for found in ((0, "loop", 1), (1, "fence", 1))
    ]
    assert rows[0]["characters"] == len(LOOP.strip()) - len("Pay at the quay.")
    assert rows[0]["share"] == pytest.approx(rows[0]["characters"] / len(LOOP))
    assert (rows[0]["kb_pages"], rows[0]["kb_characters"]) == (4, len(LOOP) + len(FENCE) + len("Pay here."))
    assert rows[0]["excerpt"].startswith("Pay at the quay. Pay")


def test_a_text_that_several_pages_have_is_looked_at_once(run, monkeypatch):
    looked_at = []
    monkeypatch.setattr(hygiene_rows, "artifacts", lambda text: looked_at.append(text) or [])
    run(clean=["Pay here.", FENCE, FENCE], vlm=["Pay here.", LOOP])
    assert looked_at == ["Pay here.", FENCE, LOOP]


def test_an_analysis_and_a_table_have_each_kind(run):
    found = run(clean=["Pay here."], vlm=[LOOP, FENCE])
    (loop, _) = sorted(ANALYSES["hygiene"](found), key=lambda row: -row["share_of_characters"])
    assert (loop["condition"], loop["kind"], loop["pages"], loop["of_pages"]) == ("vlm", "loop", 2, 4)
    assert loop["example"].startswith("law/lease page 1: Pay at the quay.")
    assert [row[1] for view in views(found) for row in view.rows] == ["fence", "loop"]
    assert "Pay at" in str(views(found)) and "Pay at" not in str(views(found, texts=False))


@pytest.mark.parametrize(
    ("pages", "is_said"),
    [
        (["Pay here."] * 99 + [FENCE], True),  # a page of a hundred
        (["Pay here."] * 199 + [FENCE], False),
        (["Pay here."] * 199 + [LOOP], True),  # 5% of the characters
        (["Pay here."] * 9, False),
    ],
)
def test_artifacts_are_on_the_first_screen_where_they_are_many(run, pages, is_said):
    found = run(clean=["Pay here."], vlm=pages)
    said = hygiene_sentences(found)
    assert bool(said) == is_said
    assert summarize(found).failed[-1:] == tuple(said)
