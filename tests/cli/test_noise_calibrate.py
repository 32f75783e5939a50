"""`ohr noise calibrate`: the transcript of a calibration."""

import json

import pytest

SPEC = """\
name: aimed
replicates: 2
benchmark: {kind: mini, domains: [law], languages: [en], max_pages: 1}
knowledge_bases:
  - {name: f, text_noise: {kind: formatting, markdown: 0, target_evidence_loss: TARGET}}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


def calibrate(ohr, home, target, *words):
    (home / "aimed.yaml").write_text(SPEC.replace("TARGET", target))
    return ohr("noise", "calibrate", "aimed.yaml", "--workers", 1, *words)


@pytest.mark.acceptance
def test_the_transcript_shows_every_measurement_and_the_run_finds_it_in_the_store(ohr, home):
    said = calibrate(ohr, home, "[0.05, 0.1]")
    assert said.exit_code == 0, said.stderr
    assert "f: target_evidence_loss 0.05" in said.stdout and "f: target_evidence_loss 0.1" in said.stdout
    assert said.stdout.count("met at rate") == 2 and "over seeds 0, 1" in said.stdout
    found = json.loads(calibrate(ohr, home, "[0.05, 0.1]", "--json").stdout)
    for one in found:
        assert abs(one["achieved"] - one["target"]["value"]) <= one["tolerance"]
        assert f"{one['value']:.5g}" in said.stdout
        assert [one["value"], one["achieved"]] in one["passes"]
    done = json.loads(ohr("run", "aimed.yaml", "--no-figures", "--workers", 1, "--json").stdout)
    assert "probes" not in done["calls"]
    manifest = json.loads((home / done["folder"] / "manifest.json").read_text())
    assert manifest["calibration"] == found


def test_a_target_out_of_reach_ends_with_status_2_and_the_range(ohr, home):
    said = calibrate(ohr, home, "0.99")
    assert said.exit_code == 2
    assert "cannot be reached: formatting with rate from 0 to 1 gives 0.000 to 0." in said.stderr
    assert said.stdout == ""


def test_a_spec_without_targets_has_nothing_to_calibrate(ohr):
    said = ohr("noise", "calibrate", "small.yaml")
    assert said.exit_code == 2 and "nothing to calibrate" in said.stderr
