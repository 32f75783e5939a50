"""Thoughts that a model wrote before its answer: every door by which answers come in leaves them out."""

import csv
import json

import pytest

from ohr.contracts import ScoringProtocol
from ohr.files.foreign_answers.answer_rows import AnswerRow
from ohr.files.foreign_answers.layouts import _WRITERS, written
from ohr.registry import Registry
from ohr.report.leaderboard.answer_files import score_file
from ohr.spec.read import make_benchmark
from ohr.steps.answers.generate import as_answered

SAID, ANSWER = "<think>Milan? No.</think>Rome", "Rome"


def f1(path, layout=None, benchmark=None):
    """Score a file of answers; the benchmark is named where the file has no accepted answers."""
    return (
        score_file(path, lambda: benchmark, layout=layout, is_named=benchmark is not None)
        .scores["f1"]["evidence_source"]["all"]
        .mean
    )


@pytest.mark.parametrize("layout", _WRITERS)
def test_files_of_other_programs_are_scored_without_thoughts(tmp_path, layout):
    rows = [AnswerRow(f"row {n}", f"Which city is {n}?", SAID, str(n), ("Rome is old.",), (ANSWER,)) for n in (1, 2)]
    text, suffix = written(layout, rows, {})
    path = tmp_path / f"answers{suffix}"
    path.write_text(text)
    assert f1(path, layout) == 1


@pytest.mark.parametrize("form", ["json", "list", "jsonl", "csv"])
def test_own_files_are_scored_without_thoughts(tmp_path, form):
    benchmark = make_benchmark({"kind": "mini", "languages": ["en"], "domains": ["law"]}, "a test")
    asked = [question for question in benchmark.questions() if question.asked]
    answers = {question.id: f"<think>maybe not</think>{question.answers[0]}" for question in asked}
    records = [{"question_id": name, "prediction": answer} for name, answer in answers.items()]
    path = tmp_path / f"answers.{'json' if form == 'list' else form}"
    if form == "csv":
        with path.open("w", newline="") as opened:
            csv.writer(opened).writerows([records[0].keys(), *(record.values() for record in records)])
    elif form == "jsonl":
        path.write_text("\n".join(map(json.dumps, records)))
    else:
        path.write_text(json.dumps(answers if form == "json" else records))
    assert f1(path, benchmark=benchmark) == 1


def test_replies_of_systems_and_agents_are_scored_without_thoughts():
    found = {"answer": SAID, "end": "answered", "reply": SAID, "steps": [], "shown": []}
    assert as_answered(found, ScoringProtocol()).answer == ANSWER
    # each kind of system gives its replies to that step; one that does not needs a test of its own here
    assert set(Registry().names("system")) == {"files", "http", "python"}
