"""Whole runs: the shipped pipeline, reduced; predictions in the published layout; the recorded judge."""

import csv
import json
import shutil
from math import isnan
from pathlib import Path

import pytest

from ohr.report.leaderboard.result_folders import as_base
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from samples.fincriticaled import SAMPLE

from ..whole_runs import finished, scored

pytestmark = pytest.mark.usefixtures("one_process")
PIPELINE = Path(__file__).parents[3] / "pipelines" / "fincriticaled-mini.yaml"
WITHOUT_COMMAS = SAMPLE / "results/without_commas_zero-shot"


def means(folder, condition, stage="page", by="evidence_source", group="all"):
    rows = read_rows(folder / "summary.parquet", condition=condition, stage=stage, by=by, group=group)
    return {row["metric"]: row["mean"] for row in rows}


def numbers(folder, **wanted):
    return {row["name"]: row for row in read_rows(folder / "aggregates.parquet", **wanted)}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A store that all runs share, so that each page is read once, and a copy of two small pages."""
    folder = tmp_path_factory.mktemp("home")
    shutil.copytree(SAMPLE, folder / "copy")
    with (SAMPLE / "raw_input.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[0] in ("id", "1", "3")]
    with (folder / "copy/raw_input.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder


@pytest.fixture(scope="module")
def mini(home):
    levels = ("knowledge_bases.2.image_noise.severity=[0.0, 0.6]", "knowledge_bases.1.text_noise.rate=0.3")
    return finished(PIPELINE, home, f"benchmark.root={home / 'copy'}", *levels)


def test_clean_pages_keep_all_facts_and_words(mini):
    clean = means(mini, "clean")
    assert [clean[name] for name in ("ffa_strict", "ffa_strict_found", "rouge1", "rougeL", "edit_similarity")] == [
        1
    ] * 5
    assert clean["ffa"] == 88 / 89  # the published search misses a short joined amount


def test_facts_are_lost_where_words_hardly_are(mini):
    read, blurred = means(mini, "blur-0"), means(mini, "blur-0.6")
    assert read["rouge1"] > 0.84
    assert read["ffa_strict"] < 0.75
    assert blurred["ffa_strict"] < 0.35 < blurred["rouge1"]
    assert means(mini, "formatting")["ffa_strict"] > 0.9


def test_aggregates_are_the_protocols_numbers_and_a_share_of_clean(mini):
    found = numbers(mini, condition="blur-0.6", stage="page")
    assert set(found) == {"ffa_strict", "acc_found", "missing_rate", "edit_distance"}
    assert found["ffa_strict"]["ratio"] == found["ffa_strict"]["value"]
    assert found["edit_distance"]["value"] == pytest.approx(1 - means(mini, "blur-0.6")["edit_similarity"])


@pytest.mark.parametrize(
    "field", ["sample=12", pytest.param("questions.evidence_source=table", marks=pytest.mark.acceptance)]
)
def test_a_part_of_the_facts_has_the_scores_of_all(mini, home, field):
    chosen = (f"benchmark.root={home / 'copy'}", field, "knowledge_bases.2.image_noise.severity=0.0")
    part = finished(PIPELINE, home, *chosen, "evaluate=[page]")
    some = read_rows(part / "scores.parquet", metric="ffa_strict", condition="blur")
    every = {
        row["question_id"]: row for row in read_rows(mini / "scores.parquet", metric="ffa_strict", condition="blur-0")
    }
    there = [row for row in some if not isnan(row["value"])]
    assert len(there) == (12 if field == "sample=12" else 84)
    assert all(row["value"] == every[row["question_id"]]["value"] for row in there)


def score(folder, tmp_path, protocol):
    places = ["--store", str(tmp_path / "store"), "--runs", str(tmp_path / "runs")]
    return scored("ocr", folder, "fincriticaled", "--protocol", protocol, *places)


@pytest.mark.parametrize(
    ("model", "ffa", "strict"),
    [
        pytest.param("exact", 0.9943, 1.0, marks=pytest.mark.acceptance),
        ("without_commas", 0.608, 0.6136),
        pytest.param("merged_cells", 0.9943, 0.5682, marks=pytest.mark.acceptance),
        pytest.param("truncated", 0.6193, 0.5852, marks=pytest.mark.acceptance),
    ],
)
def test_published_predictions_are_scored_and_placed_among_the_systems(tmp_path, model, ffa, strict):
    status, report = score(SAMPLE / f"results/{model}_zero-shot", tmp_path, "reference")
    assert status == 0
    (board,) = [one for one in report["leaderboards"] if one["stage"] == "page"]
    types = ["ffa Number", "ffa Temporal", "ffa Monetary Unit", "ffa Reporting Entity", "ffa Financial Concepts"]
    assert board["groups"] == ["rouge1", "rougeL", "edit_distance", *types, "ffa"]
    (mine,) = [row for row in board["rows"] if row["own"] and row["system"] == f"{model}_zero-shot"]
    assert mine["scores"]["ffa"] == pytest.approx(ffa, abs=1e-9)
    assert len(board["rows"]) == 15
    assert sum("part of the data" in warning for warning in board["warnings"]) == 2
    _, clean = score(SAMPLE / f"results/{model}_zero-shot", tmp_path, "clean")
    found = means(Path(clean["run"]), f"{model}_zero-shot")
    assert found["ffa_strict"] == pytest.approx(strict, abs=5e-5)
    assert found["ffa"] == pytest.approx(ffa, abs=5e-5)


@pytest.fixture
def part(tmp_path):
    """Predictions of four pages, of which one is empty; two pages have none."""
    folder = tmp_path / "part"
    folder.mkdir()
    for index in (0, 1, 3):
        shutil.copy(SAMPLE / f"results/exact_zero-shot/pred_{index}.txt", folder)
    (folder / "pred_4.txt").touch()
    return folder


def test_pages_without_a_prediction_are_left_out_as_published(part, tmp_path):
    status, report = score(part, tmp_path, "reference")
    assert status == 1
    assert sum("not among the precomputed results" in one["reason"] for one in report["failures"]) == 2
    found = means(Path(report["run"]), "part")
    assert found["coverage"] == pytest.approx(4 / 6)
    assert found["rouge1"] == 0.75  # the empty prediction counts
    assert found["ffa"] == pytest.approx(123 / 124)


def test_pages_without_a_prediction_score_0_in_the_clean_protocol(part, tmp_path):
    status, report = score(part, tmp_path, "clean")
    assert status == 1
    found = means(Path(report["run"]), "part")
    assert (found["coverage"], found["rouge1"]) == (pytest.approx(4 / 6), 0.5)
    assert found["ffa_strict"] == pytest.approx(124 / 176)
    assert numbers(Path(report["run"]), condition="part")["edit_distance"]["value"] == pytest.approx(0.5, abs=0.001)


JUDGED = """\
name: judged
benchmark: {kind: fincriticaled, root: sample, protocol: PROTOCOL}
knowledge_bases:
  - {name: clean}
  - {name: without_commas, ocr: {kind: precomputed, root: BASE}}
chunker: {kind: page}
metrics:
  - &judge {kind: ffa_judge, protocol: PROTOCOL, generator: {kind: canned, replies: REPLIES}}
  - {<<: *judge, name: ffa_judge_found, count: found}
evaluate: [page]
"""


def judged(tmp_path, protocol, replies):
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps({"id": name, "reply": reply}) + "\n" for name, reply in replies.items()))
    with as_base(WITHOUT_COMMAS, {"kind": "fincriticaled", "root": "sample"}) as base:
        text = JUDGED.replace("PROTOCOL", protocol).replace("BASE", str(base)).replace("REPLIES", str(path))
        (tmp_path / "spec.yaml").write_text(text)
        return finished(tmp_path / "spec.yaml", tmp_path)


def recorded():
    return {path.stem.partition("_")[2]: path.read_text(encoding="utf-8") for path in SAMPLE.glob("judge/reply_*.txt")}


@pytest.mark.parametrize(
    ("protocol", "rates"), [("reference", (0.517, 0.6741, 0.233)), ("clean", (0.6023, 0.7067, 0.1477))]
)
def test_a_recorded_judge_gives_the_published_rates(tmp_path, protocol, rates):
    folder = judged(tmp_path, protocol, recorded())
    assert means(folder, "without_commas")["ffa_judge"] == pytest.approx(rates[0], abs=6e-5)
    found = numbers(folder, condition="without_commas")
    assert found["acc_found_judge"]["value"] == pytest.approx(rates[1], abs=6e-5)
    assert found["missing_rate_judge"]["value"] == pytest.approx(rates[2], abs=6e-5)
    if protocol == "reference":
        assert found["ffa_judge"]["value"] == 0.517
    (dose,) = read_rows(folder / "doses.parquet", condition="clean")
    assert (dose["r_noise"], dose["r_content"]) == pytest.approx((14 / 176, 0))  # not word for word on their pages
    kept = read_rows(folder / "judgements.parquet", condition="without_commas", metric="ffa_judge")
    assert {row["question_id"].partition("-")[0] for row in kept} == {"0", "1", "2", "3", "5"}
    assert "entity_diagnostics" in kept[0]["reply"]
    assert len(Run(folder).manifest["prompt_sha256"]["ffa_judge (judge)"]) == 64
