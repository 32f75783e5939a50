"""Failures are counted, scored 0 and reported, and the rest of the run continues."""

import json
import re
from collections import Counter

import pytest

from ohr.engine.ledger import TooManyFailures
from ohr.results.tables.read_table import read_rows

from .conftest import doses, rows, values, warnings

SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: read, ocr: {kind: pixels, log: reads, bad: BAD}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
generators: [{kind: parrot}]
"""


def spec(bad):
    return SPEC.replace("BAD", bad)


REASONS = {
    "raise": "RuntimeError: paper jam",
    "value": "paper jam",
    "few": "the engine returned no result for 1 image",
    "many": "the engine returned",
    "two_part": "TwoPartError: 3: paper jam",  # an error that cannot be pickled
    "exit": "the worker process died",
    "leave": "the worker process died",
}


@pytest.fixture(scope="module")
def failing(once):
    """A run with a knowledge base for each way in which a page fails."""
    head, clean, read, rest = re.split(r"(?<=\n)(?=  - |chunker)", SPEC)
    smudge = "image_noise: {kind: smudge, severity: 0.00%d}, ocr:"  # changes no pixel, and the key
    lines = [
        read.replace("name: read", f"name: {bad}").replace("BAD", bad).replace("ocr:", smudge % n)
        for n, bad in enumerate(REASONS, 1)
    ]
    return once(head + clean + "".join(lines) + rest, workers=1)


@pytest.mark.parametrize("bad", REASONS)
def test_a_page_that_fails_scores_0_and_the_rest_continues(failing, bad):
    (failure,) = [failure for failure in failing.ledger.failures if failure.item.startswith(f"{bad}:")]
    assert (failure.stage, failure.item) == ("ocr", f"{bad}: law/0 page 2")
    assert failure.reason.startswith(REASONS[bad])
    assert values(failing, kb=bad, stage="overall", metric="f1") == {
        f"q{number}": float(number != 1) for number in (0, 1, 10, 11, 20, 21, 30, 31)
    }
    failed = {row["question_id"] for row in rows(failing, kb=bad) if row["status"] == "failed"}
    assert failed == {"q1"}
    assert set(values(failing, kb="clean", stage="overall", metric="f1").values()) == {1.0}


def test_a_page_that_fails_is_tried_again_as_often_as_asked_and_may_fail_where_failures_are_allowed(home):
    finished = home.run(spec("raise"), "retries=2", "max_failures=1", "evaluate=[retrieval]")
    assert len(finished.ledger.failures) == 1  # as many as allowed
    assert home.log("reads")["[law/0 page 1]"] == 3
    assert home.log("reads")["[law/0 page 0]"] == 1


def test_a_failed_page_is_read_by_the_next_run_and_no_other_and_failures_are_written_again(home):
    first, second = (home.run(spec("raise"), "evaluate=[overall]") for _ in range(2))
    assert first.folder != second.folder
    assert len(second.ledger.failures) == 1
    (home.folder / "reads").unlink()
    again = home.run(spec("''"), "evaluate=[overall]")
    assert home.log("reads") == {"[law/0 page 1]": 1}
    assert again.ledger.failures == []
    assert set(values(again, kb="read", stage="overall", metric="f1").values()) == {1.0}


def test_a_run_stops_when_too_many_items_fail(home):
    with pytest.raises(TooManyFailures) as caught:
        home.run(spec("raise"), "max_failures=0")
    assert str(caught.value) == (
        "stopped: 1 item failed (max_failures: 0), the last: ocr on read: law/0 page 2: RuntimeError: paper jam. "
        "Finished results are kept; run again to resume"
    )


@pytest.mark.parametrize(
    ("bad", "reason"),
    [("raise", "RuntimeError: out of memory"), ("stop", "the generator stopped early"), ("value", "refused")],
)
def test_an_answer_that_fails_scores_0_and_is_asked_again_by_the_next_run(home, bad, reason):
    text = spec("''").replace(
        "{kind: parrot}", f"{{kind: parrot, log: answers, bad: {bad}, question: harbour of law/0}}"
    )
    finished = home.run(text, "evaluate=[generation]", "benchmark.size=1")
    assert {failure.reason for failure in finished.ledger.failures if "harbour of law/0" in failure.item} == {reason}
    assert values(finished, kb="clean", stage="generation", metric="f1")["q0"] == 0.0
    again = home.run(text.replace(f"bad: {bad}", "bad: ''"), "evaluate=[generation]", "benchmark.size=1")
    assert again.ledger.failures == []
    assert 0 < again.ledger.calls["answers"] <= len(finished.ledger.failures)
    assert set(values(again, kb="clean", stage="generation", metric="f1").values()) == {1.0}


def test_a_retriever_that_fails_scores_0_and_the_others_continue(home):
    text = spec("''").replace("[{kind: bm25}]", "[{kind: broken}, {kind: bm25}]")
    finished = home.run(text, "benchmark.size=1")
    assert {(failure.stage, failure.reason) for failure in finished.ledger.failures} == {
        ("retriever", "RuntimeError: no index today")
    }
    assert set(values(finished, kb="clean", stage="overall", metric="f1", retriever="broken").values()) == {0.0}
    assert set(values(finished, kb="clean", stage="overall", metric="f1", retriever="bm25").values()) == {1.0}


def test_an_answer_with_broken_unicode_does_not_break_the_run(home):
    text = spec("''").replace("{kind: parrot}", "{kind: parrot, bad: surrogate}")
    assert home.run(text, "evaluate=[generation]", "benchmark.size=1").folder.is_dir()


def test_a_question_whose_document_is_absent_scores_0_and_is_reported(home):
    finished = home.run(spec("''"), "benchmark.stranger=true", "benchmark.size=1")
    assert "1 question about an absent document, scored 0 in a run: lost (law/lost)" in warnings(finished)
    assert values(finished, kb="clean", stage="overall", metric="f1")["lost"] == 0.0
    assert values(finished, kb="clean", stage="retrieval", metric="lcs")["lost"] == 0.0


def test_a_page_without_text_is_no_failure(home):
    finished = home.run(spec("''"), "benchmark.blank=law/0 page 1", "benchmark.size=1")
    assert finished.ledger.failures == []
    assert values(finished, kb="read", stage="retrieval", metric="lcs")["q1"] == 0.0
    assert values(finished, kb="read", stage="overall", metric="f1")["q0"] == 1.0


def test_a_page_that_recorded_results_lack_is_counted_and_is_no_failure_of_the_run(home):
    (home.folder / "recorded" / "law").mkdir(parents=True)
    (home.folder / "recorded" / "law" / "0.json").write_text(json.dumps([{"page_idx": 0, "text": "The harbour."}]))
    text = spec("''").replace("{kind: pixels, log: reads, bad: ''}", "{kind: precomputed, root: recorded}")
    finished = home.run(text, "benchmark.size=1")
    assert {row["question_id"] for row in rows(finished, kb="read") if row["status"] == "failed"} == {"q1"}
    assert [dose["failed_pages"] for dose in doses(finished)] == [0, 1]
    assert finished.ledger.failures == []
    assert [(row["item"], row["kind"]) for row in rows(finished, "failures")] == [("read: law/0 page 2", "missing")]
    again = home.run(text, "benchmark.size=1")
    assert (again.folder, again.fresh) == (finished.folder, False)


def test_a_damaged_file_of_recorded_results_is_a_failure(home):
    (home.folder / "recorded" / "law").mkdir(parents=True)
    (home.folder / "recorded" / "law" / "0.json").write_text("[{")
    text = spec("''").replace("{kind: pixels, log: reads, bad: ''}", "{kind: precomputed, root: recorded}")
    assert len(home.run(text, "benchmark.size=1").ledger.failures) == 2


METRIC = """\
import os
import sys
from typing import Literal

from ohr.contracts import Metric


class Exits(Metric):
    kind: Literal["exits"] = "exits"

    def score(self, prediction: str, reference: str) -> float:
        return sys.exit() if reference == "1901" else 0.5
"""


@pytest.mark.parametrize("way", ["sys.exit()", "os._exit(0)"])
def test_a_metric_that_ends_the_program_costs_its_scores_and_failures_are_counted_the_same_everywhere(home, way):
    text = spec("raise") + "metrics: [{kind: exits}]\n"
    finished = home.run_file(home.write(text, exits=METRIC.replace("sys.exit()", way)))
    scores = read_rows(finished.folder / "scores.parquet")
    rows = [row for row in scores if row["metric"] == "exits"]
    wrong = {row["question_id"] for row in rows if row["status"] == "failed" and row["kb"] == "clean"}
    assert 0 < len(wrong) < 8 and {row["value"] for row in rows} == {0.0, 0.5}
    assert {row["status"] for row in scores if row["metric"] == "f1" and row["kb"] == "clean"} == {"ok"}
    counted = Counter(failure.stage for failure in finished.ledger.failures)
    failed = [row for row in rows if row["status"] == "failed"]
    other = [row for row in failed if row["kb"] == "read" and row["question_id"] == "q1"]  # its page failed
    assert counted == {"ocr": 1, "metric": len(failed) - len(other)}
    table = read_rows(finished.folder / "failures.parquet")
    assert [(row["stage"], row["item"], row["reason"]) for row in table] == [
        (failure.stage, failure.item, failure.reason) for failure in finished.ledger.failures
    ]
    said = json.loads((finished.folder / "manifest.json").read_text())["failures"]
    assert said["items"] == len(table) == sum(reason["items"] for reason in said["reasons"])
    assert {reason["stage"]: reason["items"] for reason in said["reasons"]} == counted
