"""The sample: its layout, and the scores of its recorded verdicts and chunks."""

import json
from importlib.util import find_spec
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from ohr.benchmarks.finqa_tablequest.judging import parse_binary_judge
from ohr.benchmarks.finqa_tablequest.published_table import published, rows
from ohr.benchmarks.finqa_tablequest.question_files import notes, read_questions
from ohr.benchmarks.finqa_tablequest.retrieval import measures, misplaced, queries
from samples import tablequest as build

SAMPLE = build.FINQA


def recorded(name):
    """Read replies by their id."""
    lines = (SAMPLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record["reply"] for record in map(json.loads, lines)}


@pytest.fixture(scope="module")
def questions():
    return read_questions(SAMPLE)


@pytest.mark.skipif(not (find_spec("typst") and find_spec("matplotlib")), reason="pages are set with typst")
def test_the_build_draws_the_shipped_page(questions):
    drawn = Image.open(BytesIO(build.page_png("callowridge_2022", build.DPI))).convert("RGB")
    shipped = Image.open(SAMPLE / questions[3].image).convert("RGB")
    assert np.array_equal(np.asarray(drawn), np.asarray(shipped))


def test_the_samples_oddities_are_noted(questions):
    assert [note.split(",")[0] for note in notes(questions)] == [
        "2 questions with the text of another",
        "3 questions with the date of its report as report_type",
    ]


@pytest.mark.parametrize(("protocol", "right"), [("reference", 2 / 9), ("clean", 5 / 7)])
def test_the_repair_of_the_judges_parser_changes_the_accuracy(questions, protocol, right):
    replies = [recorded("judgements").get(question.id) for question in questions]  # one call failed
    verdicts = ["ERROR" if reply is None else parse_binary_judge(reply, protocol).judgment for reply in replies]
    judged = len(verdicts) - (verdicts.count("ERROR") if protocol == "clean" else 0)
    assert verdicts.count("CORRECT") / judged == pytest.approx(right)


def ranked(chunks):
    """Return the pages of some chunks by their best one; of equal scores the last name comes first, as in trec_eval."""
    return list(dict.fromkeys(page for _, page in sorted(((score, page) for page, score in chunks), reverse=True)))


def test_the_merge_of_equal_questions_changes_retrieval_and_reading(questions):
    chunks, found = json.loads((SAMPLE / "chunk_scores.json").read_text("utf-8")), {}
    for protocol in ("reference", "clean"):
        asked = queries(questions, protocol)
        first = [measures(ranked(chunks[query.questions[0]]), query.pages)["P@1"] for query in asked]
        found[protocol] = (len(asked), sum(first) / len(first))
    assert found == {"reference": (8, pytest.approx(5 / 8)), "clean": (9, pytest.approx(5 / 9))}
    assert len(misplaced(questions)) == 9 - 2


def test_published_accuracies_are_whole_numbers_of_169_questions():
    for row in rows("accuracy.csv"):
        assert f"{int(row['correct']) / int(row['questions']):.4f}" == row["accuracy"]
    assert len(published()) == 8
    assert published()[1].setting.count("the 3 best pages") == 1
