"""The first screen of runs in which engines clash, fail, or win in one place only."""

from dataclasses import replace

import pytest

from ohr.report.engines import read_engines
from ohr.report.first_screen import cell, headline_losses, summarize

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


def test_engines_of_which_no_two_can_be_compared_have_a_sentence_that_says_why(run):
    failing(run, {"a-0": (1.0, range(9)), "b-0": (0.5, range(9, 18)), "d-0": (0.2, range(60))})
    summary = summarize(finished(run, knowledge_bases=bases("a-0", "b-0", "d-0")))
    assert summary.lead == (
        "No engine can be compared with another: too much failed on both sides together. "
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


def test_scores_of_engines_name_what_they_are_compared_with(run):
    known = engines(run, {"one": 0.1, "two": 0.6}) + engines(run, {"one": 0.9, "two": 0.3}, "blur")
    study = finished(run, knowledge_bases=known)
    assert study.reference == "the plain scan"
    how = summarize(study).tables[0].how
    assert "clean text" not in how and "Costs: a loss against the plain scan that is shown" in how


def test_scores_of_engines_without_clean_text_speak_of_none(run):
    for condition, share in (("a-0", 0.1), ("b-0", 0.5)):
        run.score(run.base(condition, kind="semantic", level="0"), {"lcs": halved(120, share)})
    assert summarize(finished(run, knowledge_bases=bases("a-0", "b-0"))).tables[0].how == "Points of scores."


# --- conditions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "gain"), [(0.8, "With b (0), 30 points of retrieval are gained. "), (0.5, "")])
def test_a_condition_that_failed_is_not_said_to_cost_nothing(run, score, gain):
    add(run, {"clean": 0.5, "b-0": score})
    broken = {f"q{number}" for number in range(60)}
    run.score(run.base("a-0", kind="semantic", level="0"), {"lcs": [1.0] * 120}, failed=broken)
    assert summarize(finished(run)).lead == (
        f"{gain}No judged condition costs more than the margin of 2 points of retrieval; 1 condition could not be "
        "judged."
    )


def test_a_bar_says_in_words_what_failed_and_that_a_shown_loss_is_above_0(run):
    add(run, {"some-1": halved(120, 0.3)})
    broken = {f"q{number}" for number in range(60)}
    run.score(run.base("broken-1", kind="semantic", level="1"), {"lcs": [1.0] * 120}, failed=broken)
    study = finished(run)
    pictures = {line.noise: line.cells[0].picture for line in summarize(study).lines}
    assert pictures["broken"] == "not judged: too much failed"
    (some,) = [loss for loss in headline_losses(study) if loss.condition == "some-1"]
    nearly = cell(replace(some, wide_low=0.0), "", 0.02)
    assert nearly.picture == f"70 points left of 100; 95% interval of the loss above 0 to {nearly.high * 100:.0f}"


# --- pages that are found ---------------------------------------------------------------------------------


def found_under(run, hits):
    """Append conditions: each to whether each question finds its page."""
    for condition, found in hits.items():
        base = run.base(condition, kind="none" if condition == "clean" else "semantic", level=condition[-1])
        run.score(base, {"lcs": [0.5] * run.count, "hit@1": found})
    return summarize(finished(run))


def hit(found, asked, count=120):
    """So many questions that find their page, of those that name one."""
    return [1.0] * found + [0.0] * (asked - found) + [float("nan")] * (count - asked)


def test_pages_that_are_found_under_noise_alone_are_said(run):
    lead = found_under(run, {"clean": hit(50, 120), "blur-2": hit(50, 120), "tilt-1": hit(100, 120)}).lead
    assert lead.startswith(
        "The right page is bm25's first hit for 50 of 120 questions on clean text, for no fewer under any condition, "
        "and for 100 of 120 under tilt (1)."
    )


def test_pages_are_counted_of_the_questions_that_a_condition_defines(run):
    summary = found_under(run, {"clean": hit(60, 60), "blur-2": hit(60, 120)})
    assert summary.lead.startswith(
        "The right page is bm25's first hit for 60 of 60 questions on clean text, and for 60 of 120 under blur (2)."
    )
