"""The script that reads many files, each in a process of its own."""

import json
import sys

import pytest

from studies.bulk.__main__ import Limits, examined, files, lost_words, main
from studies.seven_engines import questions, write_set
from tests.files.test_pdf_text import CATALOG, FONT, ONE_PAGE, page, shown, stream, written

LIMITS = Limits(30, 2 << 30, ("pdfplumber",))
WORDS = "Gulls nest on the pier at dusk"


@pytest.fixture
def pdf(tmp_path):
    content = stream(shown(WORDS))
    return written(tmp_path / "pdfs/log.pdf", CATALOG, ONE_PAGE, FONT, page(5), content)


@pytest.mark.parametrize(
    ("ours", "theirs", "lost"),
    [
        ("Gulls nest", "Gulls  nest here", ["here"]),
        ("Gullsnest", "Gulls nest", []),
        ("Gulls nest", "Gullsnest", []),
        ("\ufb01sh", "fish", []),
        ("Boat", "BBooaatt", []),
        ("ab", "xy", []),
        ("שלום", "םולש", []),
        ("海の灯台", "海の上", ["上"]),
        ("one column of words. another column of words.", "onecolumnofwordsanothercolumnofwords", []),
        ("one column", "acolumnthatnobodyhasreadbefore", ["acolumnthatnobodyhasreadbefore"]),
    ],
)
def test_a_word_is_lost_where_its_letters_are_not_there(ours, theirs, lost):
    assert lost_words(ours, theirs)[0] == lost


def test_a_pdf_is_whole_where_both_readers_have_its_words(pdf):
    pytest.importorskip("pdfplumber")
    row = examined(pdf, "pdf", LIMITS)
    assert (row.outcome, row.pages, row.lost_words) == ("whole", 1, 0)
    assert row.megabytes > 10


@pytest.mark.parametrize(
    ("limits", "outcome"),
    [(Limits(30, 1 << 20, ()), "too much memory"), (Limits(0.01, 2 << 30, ()), "too slow")],
)
def test_limits_end_a_process(pdf, limits, outcome):
    assert examined(pdf, "pdf", limits).outcome == outcome


def test_a_run_fails_by_a_loss_without_a_warning(tmp_path, monkeypatch, capsys):
    whole = [{"type": "text", "text": WORDS, "page_idx": 0}]
    lost = [*whole, {"type": "text", "text": "x", "others": "Seals sleep below every red lighthouse", "page_idx": 0}]
    for name, blocks in (("whole", whole), ("lost", lost)):
        (tmp_path / f"{name}_content_list.json").write_text(json.dumps(blocks))
    (tmp_path / "torn_content_list.json").write_text("[")
    assert [path.name.partition("_")[0] for path, _ in files([], [tmp_path])] == ["lost", "torn", "whole"]
    table = tmp_path / "table.csv"
    monkeypatch.setattr(sys, "argv", ["bulk", "--results", str(tmp_path), "--out", str(table)])
    assert not main()
    outcomes = [line.split(",")[1] for line in table.read_text().splitlines()[1:]]
    assert outcomes == ["lost words", "refused", "whole"]
    assert "lost words: " in capsys.readouterr().out


def test_questions_are_written_from_the_rarest_words_that_two_pages_share(tmp_path):
    truth = {
        "a": "The harbor master keeps lanterns beside every northern berth at dusk.",
        "b": "Northern lanterns of the harbor shine.\n\n|berth|rent|\n|---|---|\n|lanterns of the harbor|9|",
    }
    (tmp_path / "ground-truth/markdown").mkdir(parents=True)
    for name, text in truth.items():
        (tmp_path / f"ground-truth/markdown/{name}.md").write_text(text)
    (asked,) = questions(write_set(tmp_path, tmp_path / "set"))
    assert (asked["questions"], asked["doc_name"]) == ("harbor lanterns northern berth", "pages/a")
    assert (tmp_path / "set/retrieval_base/gt/pages/b.json").is_file()
