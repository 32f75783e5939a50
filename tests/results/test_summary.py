"""The summary of runs that never were: what it says, and what it does not."""

from dataclasses import replace
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.cli.display.screen import print_summary
from ohr.messages.wording import ranged
from ohr.report.engines import read_engines
from ohr.report.figures.panels import NothingToDraw
from ohr.report.first_screen import ROWS, headline_losses, summarize
from ohr.report.headlines import headline
from ohr.report.lead import in_points, rounded
from ohr.report.views.loss_tables import against_clean_text
from ohr.results.derived.losses import read_losses
from ohr.results.run import Run
from ohr.results.tables.table_files import Tables
from ohr.runner.power import design_of_run, enough, finds, hardest, pilots

from .conftest import PROTOCOL, RunTables

RNG = np.random.default_rng(3)


def add(run, scores, stage="retrieval", metric="lcs", **pipeline):
    """Append the clean text and conditions of a pipeline: condition to the score of each question, or of all."""
    has_pages = stage == "retrieval" and pipeline.get("retriever", "bm25") == "bm25"
    for condition, values in {"clean": 1.0, **scores}.items():
        run.condition(condition, {metric: values}, values if has_pages else None, stage=stage, **pipeline)


def finished(run, **spec):
    return run.finish(spec=spec)


def halved(count, share):
    """Scores of which a share is lost, spread over all documents."""
    return [0.0 if number % 10 < 10 * share else 1.0 for number in range(count)]


def words(summary):
    return {line.name: [cell and cell.words for cell in line.cells] for line in summary.lines}


def test_the_lead_is_the_largest_loss_that_is_shown_of_all_stages(runs):
    run = runs.make(120)
    add(run, {"blur-0.2": halved(120, 0.2), "blur-0.7": halved(120, 0.6)})
    add(run, {"blur-0.2": 1.0, "blur-0.7": halved(120, 0.3)}, "overall", "f1", generator="model")
    summary = summarize(run.finish())
    assert summary.lead.startswith("Blur (0.7) costs 60 of 100 points of retrieval with bm25 [95% interval ")
    assert summary.lead.endswith(", holds for all 2].")
    assert summary.leading == "blur-0.7"
    assert summary.stages == ("retrieval", "answers end to end")
    assert words(summary) == {
        "blur 0.2": ["costs 20 points", "no question changed"],
        "blur 0.7": ["costs 60 points", "costs 30 points"],
    }
    assert summary.lines[1].cells[1].picture.startswith("70 points left of 100; 95% interval of the loss ")
    assert summary.compared == "12 documents, 120 questions; with bm25"


def test_the_lead_is_of_the_last_stage_where_that_loses_most(runs):
    run = runs.make(120)
    add(run, {"blur-0.2": halved(120, 0.2), "blur-0.7": halved(120, 0.3)})
    add(run, {"blur-0.2": halved(120, 0.5), "blur-0.7": 1.0}, "overall", "f1", generator="model")
    lead = summarize(run.finish()).lead
    assert lead.startswith("Blur (0.2) costs 50 of 100 points of answers end to end with bm25 [95% interval ")


def test_right_pages_come_first(runs):
    run = runs.make(120)
    for condition, found in (("clean", 0.1), ("blur-0.2", 0.3), ("blur-0.7", 0.8)):
        scores = halved(120, found)
        run.condition(condition, {"lcs": scores, "hit@1": scores}, scores)
    summary = summarize(run.finish())
    assert summary.lead.startswith(
        "The right page is bm25's first hit for 108 of 120 questions on clean text, and for 24 of 120 under blur (0.7)."
        " Blur (0.7) costs 70 of 90 points of retrieval with bm25 [95% interval "
    )
    assert [summary.found.of(condition) for condition in ("clean", "blur-0.2")] == ["108 of 120", "84 of 120"]
    assert summary.found.of("other") == ""


def test_as_many_pages_are_found_whatever_the_condition(runs):
    run = runs.make(12)
    for condition in ("clean", "blur-0.2"):
        run.condition(condition, {"lcs": 0.5, "hit@5": halved(12, 0.5)}, page=None)
    assert summarize(run.finish()).lead.startswith(
        "The right page is among bm25's first 5 hits for 5 of 12 questions, whatever the condition."
    )


def test_the_pipelines_of_stages_are_named_where_they_differ(runs):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.6)})
    add(run, {"blur-0.7": halved(120, 0.5)}, "overall", "f1", retriever="", generator="react")
    add(run, {"blur-0.7": halved(120, 0.5)}, "overall", "f1", generator="model")
    compared = summarize(run.finish()).compared
    assert compared == "12 documents, 120 questions; retrieval with bm25; answers end to end with react"


def test_answers_that_show_nothing_are_said_beside_retrieval_that_does(runs):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.6)})
    noise = [float(value) for value in RNG.random(120) > 0.5]
    add(run, {"clean": [1 - value for value in noise], "blur-0.7": noise}, "overall", "f1", generator="model")
    lead = summarize(run.finish()).lead
    assert lead.startswith("Blur (0.7) costs 60 of 100 points of retrieval with bm25 [")
    assert lead.endswith(
        " 12 documents are too few to show whether blur (0.7) costs more than 2 points of answers end to end."
    )


def test_the_lead_is_of_the_pipeline_that_loses_most_and_others_that_differ_are_named(runs):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.2)}, retriever="bm25")
    add(run, {"clean": halved(120, 0.1), "blur-0.7": 0.0}, retriever="dense")
    add(run, {"clean": 0.5, "blur-0.7": 0.5}, retriever="other")
    summary = summarize(run.finish())
    assert summary.lead.startswith("Blur (0.7) costs 90 of 90 points of retrieval with dense")
    (line,) = summary.lines
    assert line.cells[0].words == "costs 90 points"
    assert line.cells[0].others == "other: no question changed"  # bm25 loses too


def test_where_no_loss_is_shown_the_pipeline_is_the_best_on_clean_text(runs):
    run, random = runs.make(120), np.random.default_rng(5)
    for retriever, top in (("bm25", 1.0), ("dense", 0.6)):
        before, after = (top * random.random(120) for _ in range(2))
        add(run, {"clean": before, "blur-0.7": after - 0.02 * (retriever == "dense")}, retriever=retriever)
    summary = summarize(run.finish())
    assert summary.compared == "12 documents, 120 questions; with bm25"
    assert "too few to show whether blur (0.7) costs more than 2 points of retrieval" in summary.lead


def test_a_loss_that_may_be_nearly_0_leads_only_where_no_other_is_shown(runs):
    run = runs.make(120)
    # all documents lose a little, or six of the twelve lose all: p is 2/64, too much for .05/2
    add(run, {"even-1": 0.8, "few-1": [float(number % 12 > 5) for number in range(120)]})
    study = run.finish()
    known = {loss.condition: loss for loss in read_losses(study)}
    assert known["few-1"].is_loss and known["few-1"].wide_low == 0
    assert summarize(study).lead.startswith("Even (1) costs 20 of 100 points")


def test_every_verdict_is_that_of_the_comparisons_judged_together(runs):
    run = runs.make(240, 24)
    lost = [0.9 * value for value in halved(240, 0.4)]
    few = [0.0 if number == 5 else 0.9 for number in range(240)]
    even = [0.91 if number % 2 else 0.89 for number in range(240)]
    add(run, {"clean": 0.9, "lost-1": lost, "open-1": few, "even-1": even, "tiny-1": 0.895, "none-1": 0.9})
    found = run.finish()
    assert words(summarize(found)) == {
        "lost 1": ["costs 36 points"],
        "open 1": ["unclear: 90 to 90"],
        "even 1": ["does not cost more than 2 points"],
        "tiny 1": ["costs less than 2 points"],
        "none 1": ["no question changed"],
    }
    assert headline(found)[0].startswith("Retrieval (LCS): 2 of 5 comparisons with clean text show a loss")


def test_a_gain_is_no_loss(runs):
    run = runs.make(120)
    add(run, {"clean": halved(120, 0.5), "sharp-1": 1.0})
    summary = summarize(run.finish())
    assert words(summary) == {"sharp 1": ["gains 50 points"]}
    assert summary.lead == (
        "With sharp (1), 50 points of retrieval are gained. No condition costs more than the margin of "
        "2 points of retrieval."
    )


def test_a_metric_that_is_not_usual_is_named(runs):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.3)}, "overall", "accuracy", generator="model")
    summary = summarize(run.finish(protocol={**PROTOCOL, "answer": ["accuracy"]}))
    assert summary.lead.startswith("Blur (0.7) costs 30 of 100 points of answers end to end (accuracy) with bm25 [")
    assert summary.compared.endswith("; scored by accuracy")


# --- runs of which little can be said ---------------------------------------------------------------------


def test_a_run_without_clean_text_says_what_helps(runs):
    run = runs.make(12)
    run.condition("blur-0.5", 0.5, page=0.5)
    summary = summarize(run.finish())
    assert summary.lead == "This run cannot show a cost of noise: it has no condition without noise."
    assert summary.lines == () and "- name: ground_truth" in summary.advice[-1]


def pages_alone(runs, scores, metrics=("facts",)):
    run = runs.make(24)
    for condition, score in scores.items():
        run.condition(condition, dict.fromkeys(metrics, score), page=None, stage="page", retriever=None)
    return run.finish(protocol={**PROTOCOL, "page": list(metrics)})


def test_a_run_that_scores_pages_alone_says_what_the_noise_costs_them(runs):
    run = pages_alone(runs, {"clean": 0.9, "blur-0.5": 0.4}, ("facts", "tables"))
    summary = summarize(run)
    row = run.rows("summary", stage="page", metric="facts", condition="blur-0.5", by="evidence_source", group="all")[0]
    assert row["lost"] == 0.5 and 0 < row["lost_wide_low"] < 0.5  # paired by document
    low = f"{100 * row['lost_wide_low']:.0f}"
    assert summary.lead == (
        f"Blur (0.5) costs 50 of 90 points of the text of the pages (facts) [95% interval {low} to 50]."
    )
    assert words(summary) == {"blur 0.5": ["costs 50 points"]}
    assert summary.compared == "12 documents, 24 parts of pages; scored by facts"
    (view,) = against_clean_text(run)
    assert [row[1] for row in view.long] == ["facts", "tables"]
    assert headline(run)[-1].endswith("24 of 24 parts of pages score less and 0 more.")


def test_pages_that_lose_nothing_are_said_to_lose_nothing(runs):
    assert summarize(pages_alone(runs, {"clean": 0.9, "blur-0.5": 0.9})).lead == (
        "No condition changes the text of the pages (facts)."
    )


def test_a_run_of_pages_alone_without_clean_text_says_how_they_score(runs):
    summary = summarize(pages_alone(runs, {"fax-0.5": 0.9, "blur-0.5": 0.4}))
    assert summary.lead == (
        "The text of the pages (facts) scores 90 points under fax-0.5, and 40 points under blur-0.5. This run cannot "
        "show a cost of noise: it has no condition without noise."
    )


def test_one_document_shows_nothing_and_the_documents_that_would_are_said(runs):
    run = runs.make(10, 1)
    add(run, {"blur-0.5": 0.5})
    summary = summarize(run.finish())
    assert summary.lead == (
        "1 document is too few to show any loss of retrieval: at least 6 documents must change to show anything."
    )
    assert words(summary) == {"blur 0.5": ["unclear: 100 to 50"]}
    ten, five, _ = enough(*pilots(None, design_of_run(Run(run.folder))), design_of_run(Run(run.folder)))
    assert (ten.loss, five.loss) == (0.1, 0.05)
    assert summary.advice == (
        f"{ranged(ten.documents, 'document')} would show a loss of 10 points of retrieval, "
        f"{ranged(five.documents, 'document')} one of 5 points, in four of five studies, if they vary as in other "
        "studies.",
    )
    assert not summary.lines[0].cells[0].has_interval


def test_a_run_of_which_all_is_open_claims_nothing(runs):
    run = runs.make(48)
    before, after = (RNG.random(48) for _ in range(2))
    add(run, {"clean": before, "blur-0.2": after, "blur-0.5": after[::-1]})
    summary = summarize(run.finish())
    assert summary.lead.startswith("12 documents are too few to show whether blur (0.")
    assert summary.lead.endswith(") and 1 other condition cost more than 2 points of retrieval.")
    assert "costs" not in " ".join(cell.words for line in summary.lines for cell in line.cells)


def test_documents_are_those_of_a_plan_from_the_run_and_losses_are_fixed_whatever_was_seen(runs):
    said = []
    for shift in (0.0, 0.1):  # the largest of several differences is too large on average
        run = runs.make(48)
        before, after = (0.8 * np.random.default_rng(seed).random(48) for seed in (1, 2))
        add(run, {"clean": before, "blur-0.2": after, "blur-0.5": after[::-1] - shift + 0.1})
        study = run.finish()
        size = design_of_run(study)
        assert (size.documents, size.per_document, size.draws, size.comparisons) == (12, 4, 1, {"retrieval": 2})
        (decides,) = hardest(pilots(study, size), size)
        first, second, *_ = [each for each in enough(decides, size) if each.documents.high > 12]
        (advice,) = summarize(study).advice
        assert advice == (
            f"{ranged(first.documents, 'document')} would show a loss of {100 * first.loss:.0f} points of retrieval, "
            f"{ranged(second.documents, 'document')} one of {100 * second.loss:.0f} points, in four of five studies "
            "with 2 conditions."
        )
        alone = replace(size, comparisons={})
        assert enough(decides, alone)[0].documents.high < enough(decides, size)[0].documents.high
        said.append((first.loss, second.loss))
    assert said == [(0.1, 0.05)] * 2


def test_documents_are_those_of_the_loss_that_is_hardest_to_find_at_an_unclear_stage(runs):
    run, random = runs.make(48), np.random.default_rng(3)
    clean, change = 0.5 + 0.5 * random.random(48), 0.1 * random.standard_normal(48)
    add(run, {"clean": clean, "blur-0.2": clean - change, "blur-0.8": 0.1 * clean * random.integers(0, 2, 48)})
    study = run.finish()
    size = design_of_run(study)
    by_condition = {pilot.condition: pilot for pilot in pilots(study, size)}
    (decides,) = hardest(by_condition.values(), size)
    assert finds(decides, size).high == max(finds(pilot, size).high for pilot in by_condition.values())
    first = next(each for each in enough(decides, size) if each.documents.high > 12)
    advice = summarize(study).advice[-1]
    begins = f"{ranged(first.documents, 'document')} would show a loss of {100 * first.loss:.0f} points of retrieval"
    assert advice.startswith(begins)


def test_failures_are_no_pilot(runs):
    run = runs.make(60)
    broken = {f"q{number}" for number in range(0, 60, 2)}
    some = [float(number % 7 != 0) for number in range(60)]
    run.condition("clean", 1.0, page=None)
    run.condition("blur-0.5", some, page=None)
    run.condition("blur-0.9", [float(number % 2) for number in range(60)], page=None, failed=broken)
    study = run.finish()
    assert [pilot.name for pilot in pilots(study, design_of_run(study))] == ["retrieval / blur-0.5 / bm25"]


def test_failures_in_half_of_the_pages_are_said_before_anything_else(runs, capsys):
    run = runs.make(60)
    broken = {f"q{number}" for number in range(0, 60, 2)}
    run.condition("clean", 1.0)
    run.condition("blur-0.5", [float(number % 2) for number in range(60)], failed=broken)
    reasons = [{"stage": "ocr", "reason": "out of memory", "items": 6, "first": "a page 1"}]
    summary = summarize(run.finish(failures={"items": 6, "reasons": reasons}))
    first, second = summary.failed
    assert first.startswith("6 items failed, ocr: out of memory. Repair that and run the spec again")
    assert second.startswith("1 of 1 comparison cannot be judged: more than 10% of the questions failed on a side")
    assert summary.lead == ""
    assert words(summary) == {"blur 0.5": ["not judged: too much failed"]}
    assert not summary.lines[0].cells[0].is_judged  # a bar would measure the failures
    assert summary.advice == ()
    print_summary(Run(run.folder))
    assert capsys.readouterr().out.startswith("6 items failed, ocr: out of memory.")


# --- what to do -------------------------------------------------------------------------------------------


def decomposed(folder, **quantities):
    about = {"stage": "retrieval", "condition": "blur-0.7", "chunker": None, "retriever": "bm25", "generator": None}
    rest = {"se": 0.1, "df": 9.0, "n": 120, "failed": 0, "documents": 12, "note": "", "metric": "lcs"}
    with Tables(folder, ("decomposition",)) as tables:
        for name, (value, low, high) in quantities.items():
            row = {**about, **rest, "evidence_source": "all", "quantity": name}
            tables.append_rows("decomposition", [{**row, "value": value, "low": low, "high": high}])


GAINS = {
    "gain_of_repairing_index": (0.5, 0.4, 0.6),
    "gain_of_repairing_reading": (0.05, -0.02, 0.1),
    "overlap": (0.05, -0.1, 0.2),
}


@pytest.mark.parametrize(
    ("text", "index", "both", "said"),
    [
        (0.16, 0.045, 0.515, ": 16 points come back with the text alone, 4.5 with the index alone, 52 only with both."),
        (0.3, 0.2, 0.1, ": 30 points come back with the text alone, 20 with the index alone, 10 only with both."),
        (0.01, 0.55, 0.04, ": 1 point comes back with the text alone, 55 with the index alone, 4 only with both."),
        (-0.02, 0.6, 0.02, ": none (-2 points) come back with the text alone, 60 with the index alone, 2 only with"),
        (0.5, 0.3, -0.2, ": 50 points come back with the text alone, 30 with the index alone, and 60 with both."),
    ],
)
def test_the_parts_that_repairs_bring_back_are_the_loss(runs, text, index, both, said):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.6)})
    study = run.finish()
    parts = {"gain_of_repairing_reading": text, "gain_of_repairing_index": index, "overlap": both}
    total = sum(parts.values())
    decomposed(study.folder, total=(total, 0.5, 0.7), **{name: (each, nan, nan) for name, each in parts.items()})
    assert said in summarize(study).lead


def test_a_loss_whose_interval_holds_0_has_no_parts(runs):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.6)})
    study = run.finish()
    decomposed(study.folder, total=(0.6, -0.1, 0.7), **GAINS)
    assert summarize(study).lead.endswith("].")


@pytest.mark.parametrize(
    ("quantities", "said"),
    [
        (
            {**GAINS, "index_part": (0.91, 0.84, 0.98)},
            "First repair the index: that alone brings back 50 of the 60 points that blur (0.7) costs [95% interval "
            "40 to 60]; repairing only the text that is read brings back 5.",
        ),
        (
            {**GAINS, "index_part": (0.91, 0.45, 1.4)},
            "Repairing only the index brings back 50 of the 60 points that blur (0.7) costs [95% interval 40 to 60]; "
            "repairing only the text that is read brings back 5 [95% interval -2 to 10].",
        ),
        (
            {**GAINS, "gain_of_repairing_index": (0.02, -0.1, 0.1), "gain_of_repairing_reading": (0.4, 0.3, 0.5)},
            "Repairing only the text that is read brings back 40 of the 60 points that blur (0.7) costs [95% interval "
            "30 to 50]; repairing only the index brings back 2 [95% interval -10 to 10].",  # an older run has no part
        ),
    ],
)
def test_a_repair_is_first_only_where_it_is_shown_to_bring_back_more(runs, quantities, said):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.6)})
    study = run.finish()
    decomposed(study.folder, total=(0.6, 0.5, 0.7), **quantities)
    assert summarize(study).advice == (said,)


def test_a_gain_whose_interval_holds_0_is_no_advice(runs):
    run = runs.make(120)
    add(run, {"blur-0.7": halved(120, 0.6)})
    study = run.finish()
    unclear = dict.fromkeys(GAINS, (0.3, -0.1, 0.7))
    decomposed(study.folder, total=(0.6, -0.1, 0.7), index_part=(0.9, 0.8, 1.0), **unclear)
    summary = summarize(study)
    assert summary.advice == () and summary.lead.endswith("].")


def bases(*engines):
    kinds = [name.partition("-")[0] for name in engines]
    return [
        {"condition": name, "ocr": {"kind": kind}, "image_noise": [], "name": kind}
        for name, kind in zip(engines, kinds, strict=True)
    ]


def engines(run, losses, noise=""):
    """Append conditions that engines read, each with the share that it loses; returns their knowledge bases."""
    add(run, {f"{name}-{noise or 0}": halved(run.count, share) for name, share in losses.items()})
    images = [{"kind": noise, "severity": 0.5}] if noise else []
    return [
        {"condition": f"{name}-{noise or 0}", "ocr": {"kind": name}, "image_noise": images, "name": name}
        for name in losses
    ]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        (
            (0.1, 0.5, 0.8),
            "Pick good: it loses 70 points of retrieval less than bad on pages as they are [95% interval ",
        ),
        (
            (0.3, 0.3, 0.9),
            "Pick good: it loses 60 points of retrieval less than bad on pages as they are [95% interval ",
        ),
        ((0.3, 0.3, 0.3), "No engine is shown to lose less than another with 12 documents."),
    ],
)
def test_an_engine_is_picked_only_where_a_difference_is_shown(runs, shares, said):
    run = runs.make(120)
    known = engines(run, dict(zip(("good", "poor", "bad"), shares, strict=True)))
    study = finished(run, knowledge_bases=known)
    summary = summarize(study)
    assert summary.lead.startswith(said)
    if said.startswith("Pick"):
        rest = "; poor does not differ clearly from it" if shares[0] == shares[1] else ""
        assert summary.lead.endswith(f", holds for all 3], and nowhere is it shown to lose more{rest}.")
        lost = read_engines(study, headline_losses(study), None).pairs
        assert [(pair.first.condition, pair.second.condition) for pair in lost if not pair.shown] == (
            [("good-0", "poor-0")] if rest else []
        )
    assert summary.further.startswith(f"{'Bad' if shares[2] > 0.3 else 'Good'} (0) costs {100 * shares[2]:.0f} of 100")


def test_engines_that_do_not_differ_clearly_say_what_difference_would_be_shown(runs):
    run = runs.make(120)
    scores = {"good-0": halved(run.count, 0.3), "poor-0": np.random.default_rng(1).permutation(halved(run.count, 0.3))}
    add(run, scores)
    bases = [{"condition": name, "ocr": {"kind": name}, "image_noise": [], "name": name} for name in scores]
    study = finished(run, knowledge_bases=bases)
    (pair,) = read_engines(study, headline_losses(study), None).pairs
    assert not pair.shown and 0.01 < pair.found.detectable < 1
    takes = f"it takes a difference of {rounded(pair.found.detectable)} points to be shown"
    assert summarize(study).lead == f"No engine is shown to lose less than another with 12 documents; {takes}."


def test_the_interval_of_a_pick_is_that_of_the_comparisons_of_engines(runs):
    run = runs.make(120)
    study = finished(run, knowledge_bases=engines(run, {"bad": 0.7, "good": 0.2}))
    (pair,) = read_engines(study, headline_losses(study), None).pairs
    assert (pair.first.condition, pair.found.difference.mean) == ("bad-0", pytest.approx(-0.5))
    ends = f"[95% interval {rounded(-pair.found.difference.high)} to {rounded(-pair.found.difference.low)}]"
    lost = f"it loses 50 points of retrieval less than bad on pages as they are {ends}"
    assert summarize(study).lead == f"Pick good: {lost}, and nowhere is it shown to lose more."


def test_engines_that_win_under_other_noises_are_no_pick_and_their_scores_are_a_table(runs):
    run = runs.make(120)
    known = engines(run, {"one": 0.1, "two": 0.6}) + engines(run, {"one": 0.9, "two": 0.3}, "blur")
    summary = summarize(finished(run, knowledge_bases=known))
    assert summary.lead == "No engine is best: each loses more than another somewhere."
    (table,) = summary.tables
    assert (table.title, table.headers) == ("Engines", ("engine", "as they are", "blur 0.5"))
    assert [row[:3] for row in table.rows] == [
        ("one", "90, costs 10", "10, costs 90"),
        ("two", "40, costs 60", "70, costs 30"),
    ]
    assert table.how.startswith("Points of retrieval with bm25 of 100 on the plain scan.")


def test_an_engine_of_which_too_much_failed_is_no_pick(runs):
    run = runs.make(120)
    known = engines(run, {"good": 0.1, "poor": 0.5})
    run.condition("broken-0", 0.0, page=None, failed={f"q{number}" for number in range(120)})
    known.append({"condition": "broken-0", "ocr": {"kind": "broken"}, "image_noise": [], "name": "broken"})
    summary = summarize(finished(run, knowledge_bases=known))
    assert summary.lead.startswith("Pick good: it loses 40 points of retrieval less than poor on pages as they are ")
    assert summary.lead.endswith(" broken cannot be judged: too much failed.")
    assert {row[0]: row[1] for row in summary.tables[0].rows}["broken"] == "failed"


def test_the_terminal_has_the_verdicts_that_the_table_of_engines_does_not_have(runs, capsys):
    run = runs.make(120)
    known = engines(run, {"good": 0.1, "poor": 0.5})
    print_summary(finished(run, knowledge_bases=known))
    said = capsys.readouterr().out.splitlines()
    assert not any(line.startswith("condition") for line in said)  # the table of engines says it all
    more = runs.make(120)
    for condition, share in (("clean", 0.0), ("good-0", 0.1), ("poor-0", 0.5), ("typos-0.3", 0.3)):
        more.condition(condition, {"lcs": halved(120, share), "hit@1": 1.0}, page=None)
    print_summary(finished(more, knowledge_bases=known))
    said = capsys.readouterr().out.splitlines()
    assert next(line for line in said if line.startswith("typos 0.3")).endswith("costs 30 points")


@pytest.mark.parametrize(("text", "ranked"), [("clean", False), ("another", True)])
def test_a_copy_of_the_clean_text_is_not_ranked_among_engines(runs, text, ranked):
    run = runs.make(120)
    add(run, {"precomputed-1": 1.0, "poor-1": halved(120, 0.5)})
    for condition, words_of in {"clean": "clean", "precomputed-1": text}.items():
        page = {"kb": condition, "condition": condition, "replicate": 0, "document": "a", "page": 0, "error": None}
        run.tables.append_rows("texts", [{**page, "text": words_of}])
    truth = {"condition": "clean", "ocr": {"kind": "ground_truth"}, "image_noise": []}
    summary = summarize(finished(run, knowledge_bases=[truth, *bases("precomputed-1", "poor-1")]))
    assert summary.lead.startswith("Pick precomputed: ") == ranked


def test_noises_read_by_one_engine_are_no_engines(runs):
    run = runs.make(120)
    add(run, {"blur-0.2": halved(120, 0.2), "blur-0.7": halved(120, 0.6)})
    known = [
        {**base, "ocr": {"kind": "tesseract"}, "image_noise": [{"kind": "blur", "severity": level}]}
        for base, level in zip(bases("blur-0.2", "blur-0.7"), (0.2, 0.7), strict=True)
    ]
    summary = summarize(finished(run, knowledge_bases=known))
    assert summary.advice == () and summary.tables == ()
    assert summary.lead.startswith("Blur (0.7) costs 60 of 100 points of retrieval")


# --- many conditions, and the surfaces --------------------------------------------------------------------


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    run = RunTables(tmp_path_factory.mktemp("many"), 60)
    levels = {f"{noise}-{level}": halved(60, level / 20) for noise in ("blur", "tilt") for level in range(20)}
    add(run, levels)
    return run.finish()


def test_of_forty_conditions_the_first_screen_has_each_noise_at_both_ends(many):
    summary = summarize(many)
    assert len(summary.lines) == 40
    assert [line.name for line in summary.first(ROWS)] == ["blur 0", "blur 19", "tilt 0", "tilt 19"]
    assert summary.left_out(ROWS) == "blur 1, blur 2, blur 3 and 33 more"
    assert [line.name for line in summary.first(1)] == ["blur 19"]  # the lead's


def test_the_terminal_has_25_lines_of_100_columns(many, capsys):
    print_summary(many, further=5)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) + 5 <= 25
    assert max(map(len, lines[:-1])) <= 100  # the last has a path
    assert lines[-1] == f"all tables: ohr show {many.folder} --details"
    assert "not in this list: blur 1, blur 2, blur 3 and 33 more" in lines


def test_the_terminal_has_the_scores_of_what_is_unclear(runs, capsys):
    run = runs.make(4, 4)
    add(run, {"clean": 0.8, "blur-0.2": [0.8, 0.8, 0.8, 0.0], "blur-0.7": 0.8})
    print_summary(run.finish())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("blur")] == [
        ["blur", "0.2", "unclear:", "80", "to", "60"],
        ["blur", "0.7", "no", "question", "changed"],
    ]


def test_names_of_any_length_and_script_fit_the_lines(runs, capsys):
    run = runs.make(60)
    names = ["n" * 120 + f"-{level}" for level in (1, 2)] + ["扫描件-1"]
    add(run, {name: halved(60, share) for name, share in zip(names, (0.2, 0.5, 0.3), strict=True)})
    print_summary(run.finish())
    *lines, _ = capsys.readouterr().out.splitlines()
    long = [line for line in lines if "nnn…nnn" in line]
    assert [line.split("  ")[0][-2:] for line in long] == [" 1", " 2"]
    assert max(len(line) for line in lines if line.startswith(("nnn", "扫描件"))) <= 100


def test_the_legend_names_what_is_drawn_and_all_stages_have_one_scale(runs):
    run = runs.make(120)
    add(run, {"clean": 0.5, "blur-0.7": halved(120, 0.6)})
    add(run, {"clean": halved(120, 0.5), "blur-0.7": 0.9}, "overall", "f1", generator="model")
    gained = summarize(run.finish())
    assert gained.legend == (
        "Solid: what is left of the score on clean text; hatched: what is lost; hollow: what is gained; "
        "line: 95% interval of what is left."
    )
    retrieval, answers = gained.lines[0].cells
    assert gained.top == answers.top > retrieval.top
    few = runs.make(4, 4)
    add(few, {"blur-0.7": halved(4, 0.5)})
    assert summarize(few.finish()).legend == "Solid: what is left of the score on clean text; hatched: what is lost."


def test_the_figure_has_the_lead_and_a_panel_for_each_stage(many, tmp_path):
    pytest.importorskip("matplotlib")
    from ohr.report.figures.choices import Wanted
    from ohr.report.figures.summary_figure import summary

    figure = summary(many, Wanted())
    assert " ".join(figure.texts[0].get_text().split()) == summarize(many).lead
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["retrieval"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "blur 0",
        "blur 19",
        "tilt 0",
        "tilt 19",
    ]
    with pytest.raises(NothingToDraw, match="no loss in the headline metric"):
        summary(many, Wanted(metric="f1"))


@given(st.floats(-1, 1))
def test_points_are_whole_from_ten_on_and_never_minus_zero(share):
    text = rounded(share)
    assert abs(float(text) - 100 * share) <= (0.5 if abs(share) >= 0.0995 else 0.05) + 1e-9
    assert not text.startswith("-0") or float(text) != 0
    assert in_points(share).endswith("point" if text == "1" else "points")
