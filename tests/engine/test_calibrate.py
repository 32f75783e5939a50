"""A spec that asks for a dose gets it, as the mean over its replicates, and the store knows it from then on."""

import json

import numpy as np
import pytest

from ohr.errors import SpecError
from ohr.runner.plan import plan
from ohr.runner.run import calibrated
from ohr.runner.run_options import RunOptions
from ohr.spec.read import read_spec

from .conftest import continued, doses, rows

MINI = "benchmark: {kind: mini, domains: [law], languages: [en], max_pages: 2}"
TEXT = f"""\
{MINI}
knowledge_bases:
  - {{name: f, text_noise: {{kind: formatting, markdown: 0, target_r_noise: [0.2, 0.4]}}}}
retrievers: [{{kind: bm25}}]
evaluate: [retrieval]
"""
PIXELS = """\
benchmark: {kind: tiny, size: 12}
knowledge_bases:
  - {name: p, image_noise: {kind: salt_and_pepper, target_evidence_loss: 0.25}, ocr: {kind: pixels}}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


def manifest(finished):
    return json.loads((finished.folder / "manifest.json").read_text())


@pytest.fixture(scope="module")
def first(once):
    return once(TEXT, "replicates=2")


def mean_dose(finished, measure, target):
    found = [dose[measure] for dose in doses(finished) if dose["knob_value"] == target]
    assert found
    return np.mean(found)


def test_a_run_has_the_dose_that_was_asked_for(first):
    for calibration in manifest(first)["calibration"]:
        target = calibration["target"]["value"]
        assert mean_dose(first, "r_noise", f"{target:g}") == pytest.approx(calibration["achieved"])
        assert abs(calibration["achieved"] - target) <= max(0.01, 1 / calibration["questions"])
        assert calibration["seeds"] == [0, 1] and calibration["met"]
        assert [calibration["value"], calibration["achieved"]] in calibration["passes"]
    bases = manifest(first)["spec"]["knowledge_bases"]
    assert len({base["text_noise"][0]["rate"] for base in bases}) == 2
    assert {base["name"] for base in bases} == {f"f-{t}#{n}" for t in (0.2, 0.4) for n in range(2)}


def test_the_calibrated_level_is_an_ordinary_one_to_the_store(first, home):
    bases = manifest(first)["spec"]["knowledge_bases"]
    rates = list(dict.fromkeys(base["text_noise"][0]["rate"] for base in bases))
    again = continued(home, first).run(TEXT.replace("target_r_noise: [0.2, 0.4]", f"rate: {rates}"), "replicates=2")
    assert not again.ledger.calls["documents"]


def test_nothing_is_measured_twice(first, home):
    def planned():
        return plan(read_spec(home.write(TEXT), ["replicates=2"], trust_plugins=True), home.store, 1).steps

    assert planned()["levels to calibrate"].left == 2 * 2
    assert first.ledger.calls["probes"] > 0
    second = continued(home, first).run(TEXT, "replicates=2")
    assert not second.ledger.calls.total() and second.folder.name == first.folder.name
    left = planned()
    assert "levels to calibrate" not in left
    assert left and all(count.left == 0 for count in left.values())


def test_image_noise_is_calibrated_through_the_engine_within_eight_readings(home):
    finished = home.run(PIXELS)
    (calibration,) = manifest(finished)["calibration"]
    assert calibration["met"] and abs(calibration["achieved"] - 0.25) <= max(0.03, 1 / 24)
    assert len(calibration["passes"]) <= 8
    assert mean_dose(finished, "evidence_loss", "0.25") == pytest.approx(calibration["achieved"])


@pytest.mark.acceptance
def test_a_target_may_be_about_one_evidence_source(home):
    spec = TEXT.replace("target_r_noise: [0.2, 0.4]", "target_r_noise: 0.3, target_source: [text, multimodal]")
    finished = home.run(spec.replace("domains: [law], ", ""))
    found = {one["target"]["source"]: one for one in manifest(finished)["calibration"]}
    assert set(found) == {"text", "multimodal"}
    for source, sources in (("text", {"text"}), ("multimodal", {"table", "formula", "chart"})):
        damaged = [
            row["value"]
            for row in rows(finished, metric="damaged", noise=f"f target_source={source}")
            if row["evidence_source"] in sources
        ]
        assert np.mean(damaged) == pytest.approx(found[source]["achieved"])


@pytest.mark.acceptance
def test_placed_noise_can_be_calibrated_too(home):
    spec = TEXT.replace("[0.2, 0.4]", "0.3, where: evidence")
    finished = home.run(spec)
    (calibration,) = manifest(finished)["calibration"]
    assert mean_dose(finished, "r_noise", "0.3") == pytest.approx(calibration["achieved"])


SHARED = """\
benchmark: {kind: tiny, size: 12}
knowledge_bases: [{name: s, text_noise: {kind: shared, target_evidence_loss: 0.2}}]
questions: {evidence_source: table}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


def test_noise_that_is_shared_over_a_document_is_measured_on_all_its_pages(home):
    finished = home.run(SHARED)
    (calibration,) = manifest(finished)["calibration"]
    assert {q.pages for q in home.keys(SHARED).inputs.questions} == {(1,)}  # of two pages, one has evidence
    assert mean_dose(finished, "evidence_loss", "0.2") == pytest.approx(calibration["achieved"])


def test_a_loss_of_few_questions_is_searched_as_closely_as_that_of_many(home):
    finished = home.run(SHARED.replace("questions: {evidence_source: table}", "sample: 1"))
    (calibration,) = manifest(finished)["calibration"]
    assert calibration["questions"] == 1
    assert calibration["achieved"] == pytest.approx(2 / 11, abs=0.02)  # of its 10 to 12 words: nothing is nearer


def test_targets_out_of_reach_are_all_reported_with_the_doses_in_reach(home):
    spec = TEXT.replace("markdown: 0, target_r_noise: [0.2, 0.4]", "markdown: 1, target_r_noise: [0.001, 0.8, 0.9]")
    with pytest.raises(SpecError) as caught:
        home.run(spec)
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(
        "f: target_r_noise 0.8 cannot be reached: formatting with rate from 0 to 1 gives 0.000 to"
    )


def test_a_source_without_questions_is_reported(home):
    spec = PIXELS.replace("target_evidence_loss: 0.25", "target_evidence_loss: 0.25, target_source: chart")
    with pytest.raises(SpecError, match="no question of chart can be counted"):
        home.run(spec)


@pytest.mark.slow
def test_workers_find_the_same(home):
    spec = read_spec(home.write(TEXT.replace("[0.2, 0.4]", "0.2")), trust_plugins=True)
    one = calibrated(spec, RunOptions(store=home.folder / "a", workers=1))
    two = calibrated(spec, RunOptions(store=home.folder / "b", workers=2))
    assert one.calibrations == two.calibrations


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("{kind: formatting, target_r_noise: 1.5}", "target_r_noise: must be a number between 0 and 1 (got 1.5)"),
        ("{kind: formatting, target_r_noise: []}", "target_r_noise: must have at least one value to sweep"),
        ("{kind: formatting, target_r_noise: 0.2, rate: 0.1}", "target_r_noise: either a target or rate"),
        ("{kind: formatting, target_r_noise: 0.2, target_evidence_loss: 0.1}", "either this or target_r_noise"),
        ("{kind: formatting, target_source: text}", "target_source: needs target_r_noise or target_evidence_loss"),
        ("{kind: formatting, target_r_noise: 0.2, target_source: tabel}", "Did you mean 'table'?"),
        (
            "[{kind: formatting, target_r_noise: 0.2}, {kind: formatting, target_r_noise: 0.2}]",
            "only one noise of a knowledge base can have a target",
        ),
    ],
)
def test_a_wrong_target_is_reported_before_any_work(home, noise, message):
    text = (
        f"{MINI}\nknowledge_bases:\n  - {{text_noise: {noise}}}\nretrievers: [{{kind: bm25}}]\nevaluate: [retrieval]\n"
    )
    with pytest.raises(SpecError) as raised:
        read_spec(home.write(text), trust_plugins=True)
    assert message in str(raised.value)
