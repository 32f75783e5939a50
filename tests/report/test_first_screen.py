"""The first screen of runs in which engines clash, fail, or win in one place only."""

import pytest

from ohr.report.engines import read_engines
from ohr.report.summary import headline_losses, summarize

from ..results.conftest import RunTables
from ..results.test_summary import add, bases, engines, finished, halved


@pytest.fixture
def run(tmp_path):
    """120 questions about 12 documents."""
    return RunTables(tmp_path, 120)


def failing(run, conditions):
    """Append clean text, and conditions that engines read: condition to its score and the questions that fail."""
    add(run, {})
    for condition, (score, failed) in conditions.items():
        base = run.base(condition, kind="semantic", level=condition.partition("-")[2])
        values = [0.0 if number in failed else score for number in range(run.count)]
        run.score(base, {"lcs": values}, failed={f"q{number}" for number in failed})


# --- engines ----------------------------------------------------------------------------------------------


def test_engines_of_which_no_two_can_be_compared_are_said_to_be_so(run):
    failing(run, {"a-0": (1.0, range(9)), "b-0": (0.5, range(9, 18)), "d-0": (0.2, range(60))})
    summary = summarize(finished(run, knowledge_bases=bases("a-0", "b-0", "d-0")))
    assert summary.lead == (
        "No engine can be compared with another: too much failed on one side or the other. "
        "d cannot be judged: too much failed."
    )
    cells = {row[0]: row[1] for row in summary.tables[0].rows}
    assert cells["d"] == "failed" and cells["a"].startswith("92, costs") and cells["b"].startswith("46, costs")


@pytest.mark.parametrize("clean", [True, False])
def test_a_pair_that_cannot_be_compared_is_no_engine_that_failed(run, clean):
    conditions = {"a-0": (1.0, range(9)), "b-0": (0.5, range(9, 18))}
    if clean:
        failing(run, conditions)
    else:
        for condition, (score, failed) in conditions.items():
            base = run.base(condition, kind="semantic", level="0")
            run.score(base, {"lcs": [score] * 120}, failed={f"q{number}" for number in failed})
    study = finished(run, knowledge_bases=bases("a-0", "b-0"))
    assert "cannot be judged" not in summarize(study).lead
    assert not read_engines(study, headline_losses(study), None).failed


def test_engines_that_were_not_compared_with_the_pick_are_not_said_to_be_like_it(run):
    failing(run, {"a-0": (1.0, range(9)), "b-0": (0.9, range(9, 18)), "c-0": (0.2, ())})
    lead = summarize(finished(run, knowledge_bases=bases("a-0", "b-0", "c-0"))).lead
    assert lead.startswith("Pick a: ")
    assert lead.endswith("; b cannot be compared with it.")


def test_engines_of_one_kind_are_called_by_their_own_names(run):
    add(run, {"fast-0": halved(120, 0.1), "tesseract-0": halved(120, 0.6), "easy-0": halved(120, 0.3)})
    known = [
        {"name": name, "condition": f"{name}-0", "ocr": {"kind": kind, "psm": psm}, "image_noise": []}
        for name, kind, psm in (("fast", "tesseract", 1), ("tesseract", "tesseract", 3), ("easy", "easyocr", 0))
    ]
    (table,) = summarize(finished(run, knowledge_bases=known)).tables
    assert [row[:2] for row in table.rows] == [
        ("fast", "90, costs 10"),
        ("tesseract", "40, costs 60"),
        ("easyocr", "70, costs 30"),
    ]


def test_engines_of_recorded_results_are_called_by_their_folders(run):
    add(run, {"mineru-0": halved(120, 0.1), "marker-0": halved(120, 0.6)})
    known = [
        {"name": name, "condition": f"{name}-0", "ocr": {"kind": "precomputed", "root": name}, "image_noise": []}
        for name in ("mineru", "marker")
    ]
    lead = summarize(finished(run, knowledge_bases=known)).lead
    assert lead.startswith("Pick mineru: it loses 50 points of retrieval less than marker ")
    assert lead.endswith("], and nowhere is it shown to lose more.")


def test_an_engine_in_no_shown_difference_is_not_said_to_lose(run):
    mixed = [float(number % 3 != 0) if number % 2 else float(number % 10 >= 3) for number in range(120)]
    add(run, {"one-0": halved(120, 0.1), "two-0": halved(120, 0.6), "third-0": mixed})
    known = bases("one-0", "two-0", "third-0") + engines(run, {"one": 0.6, "two": 0.1}, "blur")
    lead = summarize(finished(run, knowledge_bases=known)).lead
    assert lead == (
        "No engine is best: one, two each lose more than another somewhere, and third is not shown to differ from any."
    )


def test_pages_found_beside_engines_are_of_the_pipeline_of_their_scores_and_say_of_which_noise(run):
    known = bases("one-0", "two-0")
    known += [{**base, "condition": f"{base['name']}-b", "image_noise": [{"kind": "blur"}]} for base in known]
    for retriever, lost, hits in (("bm25", 0.3, 0.5), ("dense", 0.0, 0.8)):
        for condition in ("clean", "one-0", "two-0", "one-b", "two-b"):
            base = run.base(condition, kind="none" if condition == "clean" else "semantic", level=condition[-1])
            score = halved(120, 0.9 if (retriever, condition) == ("bm25", "one-b") else lost)
            hit = halved(120, 0.1 if condition == "clean" and retriever == "dense" else hits)
            run.score(base, {"lcs": score, "hit@1": hit}, retriever=retriever)
    (table,) = summarize(finished(run, knowledge_bases=known)).tables
    place = table.headers.index("right page found")
    assert [row[place] for row in table.rows] == ["60 of 120", "60 of 120"]
    assert table.how.endswith(" Right page found: with bm25 on pages as they are.")
