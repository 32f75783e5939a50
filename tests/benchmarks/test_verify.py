import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.ohrbench.published_scores import S1, tallies
from ohr.cli.app import app
from ohr.contracts import Question


def whole() -> tuple[dict[str, int], list[Question]]:
    """A copy with exactly the published counts."""
    truth, questions = {}, []
    for domain, (documents, pages, asked) in S1.items():
        for number in range(documents):
            truth[f"{domain}/{number}"] = 1 if number else pages - documents + 1
        for _ in range(asked):
            place = len(questions)
            task = "Understanding" if place < 6114 else "Reasoning"
            where = (0,) if place < 7656 else (0, 1)
            questions.append(
                Question(str(place), "?", ("x",), f"{domain}/0", where, ("e",), "text", domain, task_type=task)
            )
    return truth, questions


def off(truth, questions):
    return {
        tally.what: tally.found - tally.published
        for tally in tallies(truth, questions)
        if tally.found is not None and tally.found != tally.published
    }


def test_a_whole_copy_is_as_published():
    truth, questions = whole()
    assert off(truth, questions) == {}
    assert {"all: documents", "all: pages", "all: questions"} <= {tally.what for tally in tallies(truth, questions)}


def test_what_is_missing_or_beyond_is_off():
    truth, questions = whole()
    del truth["law/3"]
    truth["notes/1"] = 4
    assert off(truth, questions[1:]) == {
        "law: documents": -1, "law: pages": -1, "law: questions": -1, "other domains": 1,
        "all: pages": 3, "all: questions": -1, "questions: understanding": -1, "questions: single-page": -1,
    }  # fmt: skip


def test_a_partial_copy_is_held_against_its_own_domains():
    truth, questions = whole()
    part = {name: pages for name, pages in truth.items() if name.startswith(("law/", "manual/"))}
    held = [q for q in questions if q.domain in ("law", "manual")]
    assert off(part, held) == {}
    absent = {tally.what for tally in tallies(part, held) if tally.found is None}
    assert absent == {f"{d}: {w}" for d in set(S1) - {"law", "manual"} for w in ("documents", "pages", "questions")}


def test_what_a_copy_leaves_out_does_not_differ(tmp_path):
    gt = tmp_path / "retrieval_base" / "gt" / "law"
    gt.mkdir(parents=True)
    (gt / "a.json").write_text('[{"page_idx": 0, "text": "Rent is due."}]')
    asked = {"ID": "1", "doc_name": "law/a", "questions": "?", "answers": "x", "doc_type": "law"}
    asked |= {"evidence_source": "text", "evidence_page_no": 0, "evidence_context": "Rent"}
    (tmp_path / "qas.json").write_text(json.dumps([asked]))
    found = CliRunner().invoke(app, ["data", "verify", str(tmp_path)])
    assert found.exit_code == 1
    assert "law: documents             1      95         -94" in found.stdout
    assert "finance: documents                65         not here" in found.stdout
    assert found.stdout.endswith(
        "3 of 4 counts differ from the published ones\n18 counts of parts that this copy leaves out\n"
    )


def test_old_names_of_domains_are_known():
    truth, questions = whole()
    old = {name.replace("newspaper/", "news/"): pages for name, pages in truth.items()}
    assert off(old, questions) == {}


@pytest.mark.ohrbench
def test_the_real_partial_copy_is_verified():
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    found = CliRunner().invoke(app, ["data", "verify", os.environ["OHRBENCH_DATA"], "--json"])
    assert found.exit_code == 1
    report = json.loads(found.stdout)
    counts = {tally["what"]: (tally["found"], tally["published"]) for tally in report["tallies"]}
    assert counts["law: documents"] == (95, 95)
    assert counts["finance: documents"] == (None, 65)
    different = {"law: questions", "textbook: documents", "textbook: pages", "textbook: questions", "manual: questions"}
    assert set(report["different"]) == different


def test_no_copy_or_no_benchmark_is_one_sentence(tmp_path: Path):
    for words, message in (
        (["data", "verify", str(tmp_path)], "retrieval_base/gt"),
        (["data", "verify", str(tmp_path), "--benchmark", "ohrbensh"], "Did you mean 'ohrbench'?"),
        (["data", "get", "mini"], "it cannot be fetched"),
        (["data", "get", "ohrbench", "--set", "law"], "it has one data set: leave out --set"),
    ):
        found = CliRunner().invoke(app, words)
        assert (found.exit_code, message in found.stderr) == (2, True), found.stderr
