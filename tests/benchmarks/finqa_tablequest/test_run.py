"""Whole runs: the shipped pipeline, reduced, and the recorded judge."""

import shutil
from pathlib import Path

import pytest
from PIL import Image

from ohr.benchmarks.finqa_tablequest.report_questions import SAMPLE
from ohr.results.tables.read_table import read_rows

from ..whole_runs import finished

pytestmark = pytest.mark.acceptance
PIPELINE = Path(__file__).parents[3] / "pipelines" / "finqa-tablequest-mini.yaml"


def accuracies(folder, stage):
    return {row["condition"]: row["value"] for row in read_rows(folder / "aggregates.parquet", stage=stage)}


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    """The pipeline over the two pages of the easy questions."""
    home = tmp_path_factory.mktemp("finqa")
    shutil.copytree(SAMPLE, home / "easy")
    for level in ("medium", "hard"):
        (home / f"easy/qa_pairs/{level}.json").write_text("[]")
    return finished(PIPELINE, home, f"benchmark.root={home / 'easy'}", "knowledge_bases.1.image_noise.severity=0.4")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """All questions, and pages that are only a dot: their texts do not count."""
    folder = tmp_path_factory.mktemp("finqa")
    shutil.copytree(SAMPLE, folder / "dots")
    for path in (folder / "dots/sampled_pages").rglob("*.png"):
        Image.new("L", (20, 20), "white").save(path)
    return folder


def test_blur_takes_the_answers_before_the_page(mini):
    found = accuracies(mini, "generation")
    assert found["tesseract"] > 0.5 > found["blur"]  # builds of Tesseract read one of three answers, or none
    ranks = read_rows(mini / "summary.parquet", stage="retrieval", metric="RR", group="all")
    assert all(row["mean"] > 0.6 for row in ranks)


def test_retrieval_is_measured_as_trec_eval_does(mini):
    names = {row["metric"] for row in read_rows(mini / "summary.parquet", stage="retrieval")}
    assert {"nDCG@1", "P@3", "R@10", "RR", "Rprec"} <= names


def test_reference_counts_a_merged_query_once(home):
    only = (
        f"benchmark.root={home / 'dots'}",
        "benchmark.protocol=reference",
        "knowledge_bases=[{name: read, ocr: {kind: tesseract}}]",
    )
    folder = finished(PIPELINE, home, *only, "evaluate=[retrieval]", "generators=[]", "metrics=[]")
    (row,) = read_rows(folder / "summary.parquet", stage="retrieval", metric="RR", group="all")
    assert row["n"] == 8


@pytest.mark.parametrize(("protocol", "right", "failed"), [("reference", 2, 1), ("clean", 5, 2)])
def test_recorded_verdicts_are_counted_by_each_protocol(home, protocol, right, failed):
    spec = home / f"{protocol}.yaml"
    spec.write_text(
        "benchmark: {kind: finqa_tablequest, root: dots}\n"
        "knowledge_bases: [{name: read, ocr: {kind: tesseract}}]\n"
        f"generators: [{{kind: canned, replies: {SAMPLE}/replies.jsonl}}]\nevaluate: [generation]\n"
        f"metrics: [{{kind: finqa_judge, protocol: {protocol}, generator: "
        f"{{kind: canned, replies: {SAMPLE}/judgements.jsonl}}}}]\n"
    )
    folder = finished(spec, home)
    assert accuracies(folder, "generation") == {"read": pytest.approx(right / 9)}
    scores = read_rows(folder / "scores.parquet", stage="generation", metric="finqa_judge")
    assert sum(row["status"] == "failed" for row in scores) == failed
