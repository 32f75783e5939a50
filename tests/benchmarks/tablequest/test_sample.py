"""The sample: its pages, its figures, and the scores of its recorded replies and verdicts."""

import json
from collections import Counter
from importlib.util import find_spec
from io import BytesIO
from math import log10

import numpy as np
import pytest
from PIL import Image

from ohr.benchmarks.tablequest.answer_match import deterministic_accuracy, parse_answer
from ohr.benchmarks.tablequest.pairwise import forfeit, parse_pairwise, settle
from ohr.benchmarks.tablequest.question_files import read_questions
from ohr.benchmarks.tablequest.recall import bucket, token_recall
from ohr.benchmarks.tablequest.totals import rating
from samples import tablequest as build

SAMPLE = build.SAMPLE
REPORTS = ("brindlemere_2023", "callowridge_2022", "pennistow_2023")


MODELS = ("baseline", "north", "delta", "plain")


def recorded(name):
    """Read replies by their id."""
    lines = (SAMPLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record["reply"] for record in map(json.loads, lines)}


@pytest.fixture(scope="module")
def questions():
    return {question.id: question for question in read_questions(SAMPLE / "questions.jsonl")}


def test_questions_are_those_of_the_sources(questions):
    written = [json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert written == build.questions()


OTHERS = [pytest.param(report, marks=pytest.mark.acceptance) for report in REPORTS[:-1]]


@pytest.mark.parametrize("report", [*OTHERS, REPORTS[-1]])
@pytest.mark.skipif(not (find_spec("typst") and find_spec("matplotlib")), reason="pages are set with typst")
def test_the_build_draws_the_shipped_page(report):
    drawn = Image.open(BytesIO(build.page_png(report, build.DPI))).convert("RGB")
    shipped = Image.open(SAMPLE / "pages" / f"{report}.png").convert("RGB")
    assert shipped.size == (1275, 1650)
    assert np.array_equal(np.asarray(drawn), np.asarray(shipped))


def test_replies_are_judged_by_rule_where_a_rule_can(questions):
    found = {
        model: [
            deterministic_accuracy(parse_answer(reply), questions[name].answer)
            for name, reply in recorded(f"replies/{model}").items()
            if questions[name].difficulty != "hard"
        ]
        for model in MODELS
    }
    counts = {model: Counter(one.outcome for one in verdicts) for model, verdicts in found.items()}
    assert {model: (count["correct"], count["undecided"]) for model, count in counts.items()} == {
        "baseline": (5, 0), "north": (6, 0), "delta": (1, 3), "plain": (3, 0),
    }  # fmt: skip
    assert [one.rule for one in found["plain"]].count("empty") == 1


def test_verdicts_of_both_orders_make_ratings(questions):
    theirs = recorded("replies/baseline")
    records, ratings = {}, {}
    for model in MODELS[1:]:
        mine, given = recorded(f"replies/{model}"), recorded(f"verdicts/{model}")
        held = []
        for name in questions:
            verdicts = (given.get(f"{name}/{order}", "") for order in ("first", "second"))
            answers = (parse_answer(replies[name]) for replies in (mine, theirs))
            held.append(forfeit(*answers) or settle(*map(parse_pairwise, verdicts)))
        games = [[one.outcome for one in held].count(result) for result in ("win", "tie", "loss")]
        records[model] = (*games, sum(one.disagree for one in held), sum(one.unparsed for one in held))
        ratings[model] = rating([(games[0] + games[1] / 2) / sum(games)], [sum(games)])
    assert records == {"north": (4, 5, 0, 1, 1), "delta": (0, 4, 5, 1, 1), "plain": (0, 4, 5, 1, 2)}
    assert ratings == pytest.approx(
        {
            "north": 1000 + 400 * log10(6.5 / 2.5),
            "delta": 1000 + 400 * log10(2 / 7),
            "plain": 1000 + 400 * log10(2 / 7),
        }
    )


def test_the_pairs_for_recall_are_one_for_each_bucket():
    pytest.importorskip("nltk")
    found = [token_recall(**pair) for pair in json.loads((SAMPLE / "recall.json").read_text("utf-8"))]
    assert [bucket(len(one["answer_tokens"])) for one in found] == ["0-5", "5-10", "10-15", "15-20", "20+"]
    assert found[0]["multiset"] == 1
    assert all(one["multiset"] <= one["membership"] for one in found)
    assert found[2]["multiset"] < found[2]["membership"]
