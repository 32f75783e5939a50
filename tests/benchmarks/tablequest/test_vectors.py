"""Test vectors of the protocol: any file `tablequest*.json` in the folder that OHRBENCH_VECTORS names."""

import json
import os
from math import isnan
from pathlib import Path

import pytest

from ohr.benchmarks.finqa_tablequest.judging import accuracy, parse_binary_judge
from ohr.benchmarks.tablequest.answers import parse_answer
from ohr.benchmarks.tablequest.elo import elo_raw_unanchored, elo_vs_baseline_mle
from ohr.benchmarks.tablequest.pairwise import parse_pairwise
from ohr.benchmarks.tablequest.recall import token_recall

FOLDER = os.environ.get("OHRBENCH_VECTORS")
FILES = sorted(Path(FOLDER).glob("tablequest*.json")) if FOLDER else []
VECTORS = [vector for file in FILES for vector in json.loads(file.read_text(encoding="utf-8"))["vectors"]]
pytestmark = pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with tablequest*.json")

AVERAGES = ("avg_confidence", "avg_judgment_time")


def elo(given, expected):
    found = elo_vs_baseline_mle(**given)
    assert isnan(found) if expected is None else found == pytest.approx(expected, abs=0.005)


def raw(given, expected):
    assert elo_raw_unanchored(given) == pytest.approx(expected, abs=0.005)


def recall(given, expected):
    found = token_recall(**given)
    assert found["answer_tokens"] == expected["answer_tokens"]
    assert [found["membership"], found["multiset"]] == pytest.approx(
        [expected["membership"], expected["multiset"]], abs=1e-6
    )


def binary(given, expected):
    assert list(parse_binary_judge(given)) == expected


def accuracies(given, expected):
    found = accuracy(given)
    assert found.keys() == expected.keys()
    # a vector has the verdicts alone, without the confidences and times that the averages are made of
    assert {k: v for k, v in found.items() if k not in AVERAGES} == pytest.approx(
        {k: v for k, v in expected.items() if k not in AVERAGES}
    )


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
