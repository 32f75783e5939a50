"""Test vectors of the protocol: any file `tablequest*.json` in the folder that OHRBENCH_VECTORS names."""

import json
import os
from pathlib import Path

import pytest

from ohr.benchmarks.finqa_tablequest.judging import parse_binary_judge
from ohr.benchmarks.tablequest.answer_match import parse_answer
from ohr.benchmarks.tablequest.binary import Judged
from ohr.benchmarks.tablequest.elo import BASE
from ohr.benchmarks.tablequest.judges import judged_score
from ohr.benchmarks.tablequest.pairwise import parse_pairwise
from ohr.benchmarks.tablequest.recall import token_recall
from ohr.benchmarks.tablequest.totals import rating

FOLDER = os.environ.get("OHRBENCH_VECTORS")
FILES = sorted(Path(FOLDER).glob("tablequest*.json")) if FOLDER else []
VECTORS = [vector for file in FILES for vector in json.loads(file.read_text(encoding="utf-8"))["vectors"]]
pytestmark = pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with tablequest*.json")


def elo(given, expected):
    """All won has no rating without the clip at half a game."""
    clipped = rating([1 - 0.5 / sum(given.values())], [sum(given.values())])
    assert rating_of(**given) == (clipped if expected is None else pytest.approx(expected, abs=0.005))


def rating_of(win, tie, loss):
    games = win + tie + loss
    return float(rating([(win + tie / 2) / games], [games]))


def raw(given, expected):
    """A regression without an anchor: the mean of all ratings, with the opponent's, is 1000."""
    against = {name: rating_of(*games) for name, games in given.items()} | {"gpt-4o": BASE}
    mean = sum(against.values()) / len(against)
    assert {name: BASE + rating - mean for name, rating in against.items()} == pytest.approx(expected, abs=0.005)


def recall(given, expected):
    found = token_recall(**given)
    assert found["answer_tokens"] == expected["answer_tokens"]
    assert [found["membership"], found["multiset"]] == pytest.approx(
        [expected["membership"], expected["multiset"]], abs=1e-6
    )


def binary(given, expected):
    assert list(parse_binary_judge(given)) == expected


def accuracies(given, expected):
    """A failed call counts as 0, as a failed score does in a run."""
    scores = [0.0 if one == "ERROR" else judged_score(Judged(one, 1.0, ""), "") for one in given]
    assert expected.get("accuracy") == (pytest.approx(sum(scores) / len(scores)) if scores else None)


def pairwise(given, expected):
    choice = parse_pairwise(given)
    # a reply without a verdict is scored as a tie
    assert choice == expected if expected is None else (choice or "tie") == expected


def answer(given, expected):
    assert parse_answer(given) == expected


CHECKS = {
    "elo_vs_baseline_mle": elo,
    "elo_raw_unanchored": raw,
    "token_recall": recall,
    "parse_binary_judge": binary,
    "accuracy": accuracies,
    "parse_pairwise": pairwise,
    "parse_answer": answer,
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_the_protocols_vectors_hold(vector):
    CHECKS[vector["function"]](vector["input"], vector["expected"])
