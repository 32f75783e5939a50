"""Losses, curves, repeats and hypotheses of runs that never were, against the same numbers by hand."""

import json
import shutil
from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest
import scipy

from ohr.report.analyses.robustness import robustness
from ohr.report.headlines import counts, headline
from ohr.results.derived.derive import derive
from ohr.results.derived.losses import distinctive, has_sweep, left_out, read_losses, read_points
from ohr.results.run import Run

from .conftest import RunTables

RNG = np.random.default_rng(8)
WHOLE = {"lcs": 1.0, "lcs_floor": 0.0}


def curve(run, noise, levels, score, retriever="bm25"):
    """Append the levels of a noise: question i is damaged from level i // 12 on, and then has this score."""
    for level in levels:
        held = [0.5 if number // 12 < 10 * level else 1.0 for number in range(run.count)]
        scores = {"lcs": [score if share < 1 else 1.0 for share in held], "lcs_floor": 0.0}
        run.condition(f"{noise}-{level}", scores, held if retriever == "bm25" else None, retriever=retriever)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A clean base and one noise at four levels; a damaged question keeps .4 of its score."""
    run = RunTables(tmp_path_factory.mktemp("swept"), 120)
    for retriever, page, score in (("bm25", 1.0, 0.4), ("dense", None, 0.7)):
        run.condition("clean", WHOLE, page, retriever=retriever)
        curve(run, "blur", (0.1, 0.3, 0.5, 0.8), score, retriever)
    return run.finish()


def test_a_loss_is_the_clean_score_less_the_noisy_one(swept):
    found = {(loss.condition, loss.retriever): loss for loss in read_losses(swept)}
    loss = found["blur-0.5", "bm25"]
    assert (loss.clean, loss.mean, loss.lost) == pytest.approx((1.0, 0.7, 0.3))
    assert (loss.questions_lost, loss.questions_gained, loss.pairs, loss.left_out) == (60, 0, 120, 0)
    assert loss.verdict == "worse"
    assert loss.low <= 0.3 <= loss.high


def test_a_noise_with_levels_is_a_sweep_and_two_engines_are_none(swept):
    conditions = [(point.noise, point.condition) for point in read_points(swept)]
    assert has_sweep(conditions)
    assert not has_sweep([("clean", "clean"), ("tesseract", "tesseract"), ("rapidocr", "rapidocr")] * 2)
    assert not has_sweep([])


def test_names_that_all_losses_share_are_left_away(swept):
    assert {loss.system for loss in distinctive(read_losses(swept))} == {"bm25", "dense"}


def test_the_headline_names_the_largest_loss(swept):
    first, largest = headline(swept)
    together = TOGETHER.replace(")", ", for each pipeline by itself)")
    assert first == f"Retrieval (LCS): all 8 comparisons with clean text show a loss{together}."
    assert "blur at 0.8 with bm25 costs 48.0 points (100.0 to 52.0" in largest
    assert ", holds for all 4 comparisons)" in largest
    assert "96 of 120 questions score less and 0 more" in largest


def test_the_comparisons_of_one_pipeline_are_one_family(swept):
    losses = read_losses(swept)
    assert {loss.among for loss in losses} == {4}  # four levels; the other retriever does not count
    for retriever in ("bm25", "dense"):
        mine = sorted((loss for loss in losses if loss.retriever == retriever), key=lambda loss: loss.p)
        steps = [(4 - place) * loss.p for place, loss in enumerate(mine)]  # Holm's, by hand
        assert [loss.p_holm for loss in mine] == pytest.approx(np.maximum.accumulate(steps))
    rows = {row["stage"]: row["comparisons"] for row in swept.rows("summary", group="all", metric="lcs")}
    assert rows == {"retrieval": 4}


def test_identical_scores_count_in_their_family(runs):
    run = runs.make(24)
    for condition, share in (("clean", 0.0), ("blur-1", 0.5), ("blur-2", 0.0), ("blur-3", 0.0)):
        run.condition(condition, [1.0 - share * (number % 12 < 7) for number in range(24)])
    losses = {loss.condition: loss for loss in read_losses(run.finish())}
    assert {loss.among for loss in losses.values()} == {3}
    assert [losses[f"blur-{level}"].verdict for level in (1, 2, 3)] == ["worse", "identical", "identical"]
    lost = losses["blur-1"]
    assert (lost.p, lost.p_holm) == pytest.approx((2 / 128, 6 / 128))  # seven documents lose, and none gains
    assert lost.is_loss and lost.fewest == 7 and isnan(losses["blur-2"].p_holm)


def test_questions_without_clean_text_are_in_no_pair(runs):
    run = runs.make(30, clean_text=[number >= 5 for number in range(30)])
    # what has no clean text fails on the clean side, and an engine reads it well
    run.condition("clean", [float(number >= 5) for number in range(30)])
    run.condition("blur-0.5", 0.5, page=0.5)
    study = run.finish()
    (loss,) = read_losses(study)
    assert (loss.pairs, loss.left_out, loss.lost, loss.questions_gained) == (25, 5, 0.5, 0)
    assert left_out(study) == 5
    assert headline(study)[-1].startswith("5 questions left out of every mean and comparison")


@pytest.mark.parametrize(
    ("condition", "missing"), [("blur-0.5", "condition without noise"), ("clean", "condition but the clean text")]
)
def test_a_run_with_one_side_alone_says_so(runs, condition, missing):
    run = runs.make(12)
    run.condition(condition, 0.5, page=0.5)
    study = run.finish()
    assert read_losses(study) == []
    assert headline(study) == [f"This run cannot show a cost of noise: it has no {missing}."]


def scans(run, values, noise="blur"):
    """Write a run of scans: pages as they are, and with noise, each read by the same engine; no clean text."""
    bases = []
    for condition, score in values.items():
        base = run.base(condition, kind="semantic", level=condition.partition("-")[2] or None)
        run.page_scores(base, run.each(0.5))
        run.score(base, {"lcs": run.each(score)})
        engine, _, level = condition.partition("-")
        image = [{"kind": noise, "severity": float(level)}] if level else []
        bases.append({"condition": condition, "ocr": {"kind": engine}, "image_noise": image})
    return run.finish(spec={"knowledge_bases": bases})


def test_without_clean_text_a_noise_is_compared_with_the_plain_scan_of_its_engine(runs):
    run = scans(runs.make(24), {"one": 0.8, "one-1": 0.5, "two": 0.6, "two-1": 0.5})
    assert dict(run.choices.plain) == {"one-1": "one", "two-1": "two"}
    losses = {loss.condition: (loss.clean, loss.lost, loss.among) for loss in read_losses(run)}
    assert losses == {"one-1": pytest.approx((0.8, 0.3, 2)), "two-1": pytest.approx((0.6, 0.1, 2))}
    assert run.reference != "clean text"
    assert headline(run)[0].startswith(f"Retrieval (LCS): all 2 comparisons with {run.reference} show a loss")


def test_the_floor_of_a_verdict_is_that_of_the_first_side(runs):
    run = runs.make(48)
    for condition, floor in (("clean", 0.14), ("blur-1", 0.13), ("blur-2", 0.02)):
        scores = [0.0] * 24 + [0.3] * 24 if condition == "clean" else [0.0, 0.0, 0.3, 0.3] * 12
        run.condition(condition, {"lcs": scores, "lcs_floor": floor})
    study = run.finish()
    assert [loss.verdict for loss in read_losses(study)] == ["floor", "floor"]  # a point is nothing to lose
    rows = study.rows("summary", stage="retrieval", group="all", metric="lcs")
    assert {row["condition"]: row["floor"] for row in rows}["blur-2"] == pytest.approx(0.02)


def test_scores_that_hardly_leave_their_floor_are_not_judged(runs):
    run, random = runs.make(48), np.random.default_rng(1)
    low = [0.05 * (number % 3 == 0) for number in range(48)]
    for condition, scores in (("clean", low), ("blur-1", low[1:] + low[:1]), ("blur-2", low)):
        run.condition(condition, {"lcs": scores, "lcs_floor": 0.01 + 0.001 * random.random(48)})
    study = run.finish()
    losses = read_losses(study)
    assert [loss.verdict for loss in losses] == ["floor", "identical"]  # 1.7 points, of which one is the floor
    assert not any(loss.is_shown for loss in losses)
    pages = study.rows("summary", stage="page", group="all", condition="blur-1")
    assert {row["verdict"] for row in pages} == {"identical"}  # no damage is no low score
    assert headline(study)[0] == (
        f"Retrieval (LCS): none of 2 comparisons with clean text shows a loss{TOGETHER}, "
        "1 has the same scores, 1 is of scores near their floor."
    )


def test_a_loss_that_is_shown_is_judged_however_low_the_score(runs):
    run = runs.make(48)
    for condition, score in (("clean", 0.05), ("blur-1", 0.0)):
        run.condition(condition, {"lcs": score, "lcs_floor": 0.04})
    (loss,) = read_losses(run.finish())
    assert (loss.verdict, loss.is_loss) == ("worse", True)


@pytest.mark.parametrize("documents", [1, 4])
def test_few_documents_give_no_interval_and_no_verdict(runs, documents):
    run = runs.make(10, documents)
    for condition, score in (("clean", 1.0), ("blur-0.5", 0.5)):
        run.condition(condition, score, page=score)
    study = run.finish()
    (loss,) = read_losses(study)
    assert (loss.lost, loss.verdict) == (0.5, "")
    assert isnan(loss.low)
    assert headline(study)[0] == f"Retrieval (LCS): too few documents ({documents}) for intervals."


def test_a_comparison_of_which_more_than_a_tenth_failed_has_no_verdict(runs):
    run = runs.make(60)
    for condition, broken in (("clean", 0), ("half-1", 48), ("few-1", 6)):
        failed = {f"q{number}" for number in range(broken)}
        run.condition(condition, [float(number >= broken) for number in range(60)], failed=failed)
    reasons = [{"stage": "ocr", "reason": "out of memory", "items": 8, "first": "a page 1"}]
    study = run.finish(failures={"items": 9, "reasons": reasons})
    half, few = read_losses(study)
    assert (half.verdict, half.pairs_failed, half.lost) == ("failed", 48, 0.8)
    assert (few.verdict, few.pairs_failed) != ("failed", 48)
    first, second, third, *_ = headline(study)
    assert first.startswith(
        "9 items failed, most often (8 times) ocr: out of memory. Repair that and run the spec again"
    )
    assert second.startswith("1 of 2 comparisons cannot be judged: more than 10% of the questions failed")
    assert "48 of 60 in retrieval under half-1" in second
    assert third.endswith(", 1 cannot be judged.")
    assert not any("costs 80" in line for line in headline(study))


def test_failures_of_the_clean_side_count_too(runs):
    run = runs.make(60)
    run.condition("clean", 0.0, failed={f"q{number}" for number in range(60)})
    run.condition("noisy-1", 0.0)
    (loss,) = read_losses(run.finish())
    assert (loss.verdict, loss.pairs_failed, loss.failed) == ("failed", 60, 0)


TOGETHER = " (judged together by Holm's method)"


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (["worse"], "the comparison with clean text shows a loss"),
        (["open"], "the comparison with clean text leaves open whether there is a loss"),
        (["identical"], "the comparison with clean text has the same scores"),
        (["worse", "worse"], f"all 2 comparisons with clean text show a loss{TOGETHER}"),
        (
            ["worse", "open"],
            f"1 of 2 comparisons with clean text shows a loss{TOGETHER}, 1 leaves open whether there is one",
        ),
        (
            ["worse"] * 7 + ["open"] * 5,
            f"7 of 12 comparisons with clean text show a loss{TOGETHER}, 5 leave open whether there is one",
        ),
        (
            ["same", "same"],
            f"none of 2 comparisons with clean text shows a loss{TOGETHER}, 2 show no difference that matters",
        ),
        (
            ["failed", "better"],
            f"none of 2 comparisons with clean text shows a loss{TOGETHER}, 1 shows a gain, 1 cannot be judged",
        ),
    ],
)
def test_the_counts_are_a_sentence(swept, verdicts, sentence):
    loss = read_losses(swept)[0]
    losses = [
        replace(
            loss,
            verdict=verdict,
            lost=-0.1 if verdict == "better" else 0.1,
            p_holm=0.01 if verdict in ("worse", "better") else nan,
        )
        for verdict in verdicts
    ]
    assert counts(losses) == sentence


def test_a_loss_that_only_holds_by_itself_is_open_among_others(swept):
    loss = replace(read_losses(swept)[0], verdict="worse", p=0.03, p_holm=0.06)
    assert counts([loss, loss]) == (
        "none of 2 comparisons with clean text shows a loss (judged together by Holm's method; 2 do by themselves), "
        "2 leave open whether there is one"
    )


# --- curves -----------------------------------------------------------------------------------------------


def curves(study, **wanted):
    return study.rows("curves", **{"group": "all", "axis": "r_noise_clean"} | wanted)


def only(study, **wanted):
    (row,) = curves(study, **wanted)
    return row


def test_area_slope_and_half_loss_are_those_of_the_line(swept):
    # the share damaged is the level, so the score of bm25 is 1 - .6 r_noise
    row = only(swept, retriever="bm25", quantity="area")
    assert row["value"] == pytest.approx(1 - 0.6 * 0.35)
    assert row["low"] <= row["value"] <= row["high"]
    assert (row["from"], row["to"], row["levels"]) == (0.1, 0.6, 5)
    assert only(swept, retriever="bm25", quantity="slope")["value"] == pytest.approx(-0.6)
    half = only(swept, retriever="bm25", quantity="r50")
    assert (half["value"], half["note"]) == (inf, "beyond the largest dose")  # .8 keeps .52


def test_the_analysis_of_robustness_leaves_out_what_is_undefined(swept):
    rows = robustness(swept)
    assert {row["quantity"] for row in rows} == {"area", "slope", "r50", "crossing"}
    assert all(not isnan(row["value"]) for row in rows)
    assert {row["over"] for row in rows if row["quantity"] == "area"} == {"0.10 to 0.60", "0.00 to 0.30"}


def test_bands_that_hold_together_are_wider_than_each_alone(runs):
    run = runs.make(120, 40)
    for condition in ("clean", "blur-0.2", "blur-0.5"):
        run.condition(condition, RNG.random(120), page=0.9)
    (row,) = curves(run.finish(), quantity="critical", axis="")
    assert scipy.stats.t.ppf(1 - 0.025, 39) < row["value"] <= scipy.stats.t.ppf(1 - 0.025 / 3, 39) + 0.05


def test_two_systems_that_never_meet_have_no_crossing(swept):
    row = only(swept, quantity="crossing")
    assert (row["retriever"], row["other"]) == ("bm25", "dense")
    assert row["value"] == inf


def test_two_noises_are_compared_at_equal_dose(runs):
    run = runs.make(120)
    run.condition("clean", WHOLE)
    curve(run, "blur", (0.3, 0.8), 0.4)
    curve(run, "format", (0.4, 0.7), 0.9)
    run.condition("engine", {"lcs": 0.82, "lcs_floor": 0.0}, page=0.9)
    study = run.finish()
    row = only(study, quantity="difference")
    assert (row["noise"], row["other"]) == ("blur", "format")
    # over the doses that both reach: 1 - .1 x less 1 - .6 x
    middle = (row["from"] + row["to"]) / 2
    assert row["value"] == pytest.approx(0.5 * middle)
    same = only(study, quantity="equal_score", noise="blur")
    assert (same["other"], same["value"], same["interval"]) == ("engine", pytest.approx(0.3), "")
    assert isnan(same["low"]) and same["range_low"] <= same["value"] <= same["range_high"]


def test_levels_that_do_not_cover_the_doses_have_no_area(runs):
    run = runs.make(120)
    run.condition("clean", WHOLE)
    curve(run, "blur", (0.1, 0.2), 0.4)
    curve(run, "format", (0.3, 0.8), 0.4)
    study = run.finish()
    row = only(study, quantity="area", noise="blur")
    assert isnan(row["value"])
    assert row["note"] == "reaches dose 0.20 of 0.60"
    few = only(study, quantity="area", noise="format")
    assert (few["value"], few["note"]) == (pytest.approx(1 - 0.6 * 0.35), "from 3 levels")
    assert not curves(study, quantity="difference")
    shown = [row for row in robustness(study) if row["quantity"] == "area"]
    assert "reaches dose 0.20 of 0.60" in {row["note"] for row in shown}


# --- variance, repeats, hypotheses ------------------------------------------------------------------------


def test_the_parts_of_an_error_add_up(runs):
    run = runs.make(60)
    run.condition("clean", RNG.random(60))
    for number in range(3):
        run.condition("blur-0.5", RNG.random(60), page=0.5, replicate=number)
    study = run.finish()
    rows = study.rows("variance", condition="blur-0.5")
    assert [(row["of"], row["draws"]) for row in rows] == [("score", 3), ("lost", 3)]
    for row in rows:
        parts = row["from_documents"] + row["from_questions"] + row["from_draws"]
        assert parts >= row["total"] or parts == pytest.approx(row["total"])
    (summary,) = study.rows("summary", condition="blur-0.5", metric="lcs", group="all")
    assert rows[0]["total"] == pytest.approx(summary["se"] ** 2)


def test_a_copy_is_compared_with_its_original(runs):
    run = runs.make(12)
    values = RNG.random(12)
    for condition, change in (("clean", 0.0), ("clean again", 0.25)):
        run.condition(condition, np.where(np.arange(12) == 3, change, values), kind="none")
    bases = [{"condition": "clean"}, {"condition": "clean again", "again_of": "clean"}]
    study = run.finish(spec={"knowledge_bases": bases})
    (row,) = study.rows("repeats")
    assert (row["kind"], row["scores_that_differ"], row["largest"]) == ("twice", 1, 0.25)
    assert read_losses(study) == []  # a copy is no condition of its own
    assert study.choices.repeats == {"clean again": "clean"}


def test_draws_are_compared_pair_by_pair(runs):
    run = runs.make(24)
    for number in range(3):
        run.condition("blur-0.5", 0.5 + 0.1 * number, page=0.5, replicate=number)
    (row,) = run.finish().rows("repeats")
    assert (row["kind"], row["pairs"], row["missed"], row["largest"]) == ("draws", 3, 1.0, pytest.approx(0.2))


def test_draws_on_few_documents_have_no_interval_that_could_miss(runs):
    run = runs.make(4)
    for number in range(2):
        run.condition("blur-0.5", 0.5 + 0.1 * number, page=0.5, replicate=number)
    assert run.finish().rows("repeats") == []


def test_hypotheses_are_judged_as_one_family(swept, tmp_path):
    changed = shutil.copytree(swept.folder, tmp_path / "run")
    wanted = {"stage": "retrieval", "metric": None, "chunker": None, "generator": None, "group": "all", "margin": None}
    hypotheses = [
        {"name": "a", "compare": ["clean", "blur-0.8"], "expect": "worse", "retriever": "bm25", **wanted},
        {"name": "b", "compare": ["blur-0.3", "blur-0.3"], "expect": "better", "retriever": "dense", **wanted},
    ]
    (changed / "manifest.json").write_text(
        json.dumps({**swept.manifest, "spec": {**swept.manifest["spec"], "hypotheses": hypotheses}})
    )
    derive(changed, {})
    first, second = Run(changed).rows("hypotheses")
    assert (first["verdict"], first["held"], first["difference"]) == ("worse", True, pytest.approx(0.48))
    assert first["p_holm"] == pytest.approx(2 * first["p"])  # the other has no p value, and is a comparison
    assert (second["held"], second["difference"]) == (False, 0.0)
    assert isnan(second["p"])
    assert nan not in (first["low"], first["high"])
