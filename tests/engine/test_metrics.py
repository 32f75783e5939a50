"""Metrics of rankings and cases, and judges, in whole runs."""

import re

import pytest

from ohr.errors import SpecError
from ohr.results.run import Run

from .conftest import rows, values

SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: read, ocr: {kind: pixels}}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
generators: [{kind: parrot}]
metrics:
  - {kind: ndcg, k: 2, name: "ndcg@2"}
  - {kind: success, k: 1}
  - {kind: grounded}
  - {kind: judge, generator: {kind: grader, log: LOG, bad: "BAD"}}
"""
ALL = {f"q{number}" for number in (0, 1, 10, 11, 20, 21, 30, 31)}


REASONS = {
    "mute": "ValueError: no `Score:` in the judge's reply: 'I would rather not say.'",
    "high": "ValueError: the judge's grade 7 is not on the scale from 1 to 5",
    "error": "ValueError: the judge gave no reply",
}


@pytest.fixture(scope="module")
def finished(once):
    """A run with judges that give grades, and some that do not."""
    bad = "".join(f"  - {{kind: judge, name: {bad}, generator: {{kind: grader, bad: {bad}}}}}\n" for bad in REASONS)
    return once(SPEC.replace("LOG", "graded").replace("BAD", "") + bad)


def test_every_metric_is_scored_in_its_own_stage(finished):
    assert set(values(finished, kb="clean", stage="retrieval", metric="success")) == ALL
    assert set(values(finished, kb="clean", stage="retrieval", metric="ndcg@2").values()) == {1.0}
    for stage in ("generation", "overall"):
        assert set(values(finished, kb="clean", stage=stage, metric="judge").values()) == {1.0}
        assert set(values(finished, kb="clean", stage=stage, metric="grounded").values()) == {1.0}
        assert not rows(finished, stage=stage, metric="ndcg@2")
    assert not rows(finished, stage="retrieval", metric="judge")
    assert set(values(finished, stage="reference", kb="closed_book", metric="judge").values()) == {0.0}
    assert rows(finished, "summary", stage="overall", metric="judge", condition="read", group="all")[0]["mean"] == 1


def test_each_prompt_about_a_reply_is_judged_once_and_kept(home):
    text = SPEC.replace("LOG", str(home.folder / "graded")).replace("BAD", "")
    finished = home.run(text, workers=1)
    asked = home.log("graded")
    # per question: one reply on the right page, one without, and one from another page
    assert max(asked.values()) <= 3
    found = rows(finished, "judgements", kb="clean", stage="overall")
    assert {row["question_id"]: (row["reply"], row["score"], row["error"]) for row in found} == dict.fromkeys(
        ALL, ("It fits or not. Score: 5", 1.0, None)
    )
    digest = Run(finished.folder).manifest["prompt_sha256"]["judge (judge)"]
    assert re.fullmatch("[0-9a-f]{64}", digest)
    assert {(row["metric"], row["judge"], row["prompt_sha256"]) for row in found} == {("judge", "grader", digest)}
    again = home.run(text, "replicates=2")
    assert home.log("graded") == asked
    assert len(rows(again, "judgements")) >= len(rows(finished, "judgements"))


@pytest.mark.parametrize("bad", REASONS)
def test_a_judge_that_gives_no_grade_is_a_failed_score_with_its_reason(finished, bad):
    overall = rows(finished, kb="clean", stage="overall", metric=bad)
    assert {row["question_id"]: (row["status"], row["value"]) for row in overall} == {
        name: ("failed", 0.0) if name == "q0" else ("ok", 1.0) for name in ALL
    }
    (kept,) = rows(finished, "judgements", kb="clean", stage="overall", question_id="q0", metric=bad)
    assert (kept["error"], kept["score"], kept["reply"] is None) == (REASONS[bad], 0.0, bad == "error")
    assert REASONS[bad] in {failure.reason for failure in finished.ledger.failures if failure.stage == "metric"}
    assert set(values(finished, kb="clean", stage="overall", metric="f1").values()) == {1.0}


def test_a_metric_of_rankings_needs_no_generator_and_one_of_answers_does(home):
    rankings = SPEC.partition("  - {kind: grounded}")[0].replace("generators: [{kind: parrot}]\n", "")
    finished = home.run(rankings + "evaluate: [retrieval]\n")
    assert set(values(finished, kb="clean", metric="ndcg@2").values()) == {1.0}
    with pytest.raises(SpecError, match="metrics score answers: `evaluate` must have generation or overall"):
        home.run(rankings + "  - {kind: grounded}\nevaluate: [retrieval]\n")
    with pytest.raises(SpecError, match="'ndcg@2' scores rankings: `evaluate` must have retrieval"):
        home.run(SPEC.replace("LOG", "x").replace("BAD", "") + "evaluate: [overall]\n")


def test_a_judge_on_a_server_is_sent_only_keys(home, monkeypatch):
    monkeypatch.setenv("HOME_SECRET", "x")
    judge = "{kind: openai, base_url: 'http://localhost:1', model: m, api_key_env: HOME_SECRET}"
    with pytest.raises(SpecError, match="would send the environment variable 'HOME_SECRET' to a server"):
        home.run(SPEC.replace('{kind: grader, log: LOG, bad: "BAD"}', judge))
