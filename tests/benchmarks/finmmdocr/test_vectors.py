"""Values of the published code, from a file that is kept apart."""

import json
import os
import re
from math import nan
from pathlib import Path

import pytest

from ohr.benchmarks.finmmdocr.metrics import PageMrr, PageRecall, last_rank
from ohr.benchmarks.finmmdocr.numbers import cot_accuracy, pot_accuracy, within_tolerance
from ohr.benchmarks.finmmdocr.programs import extract_program
from ohr.contracts import Ranking

FOLDER = os.environ.get("OHRBENCH_VECTORS")
PATH = Path(FOLDER or ".") / "finmmdocr.json"
VECTORS = json.loads(PATH.read_text("utf-8"))["vectors"] if FOLDER and PATH.is_file() else []
pytestmark = pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with finmmdocr.json")


def golden_k(given):
    ranks = [last_rank(each["ranking"], each["gold"], each.get("pages_num")) for each in given]
    return {"per_question": ranks, "mean": mean([rank for rank in ranks if rank is not None])}


def retrieval_at(given, k):
    rankings = [ranking([hit["page"] for hit in each["retrieved_results"]], each["evidence_pages"]) for each in given]
    measures = (("MRR", PageMrr(k=k, protocol="reference")), ("Recall", PageRecall(k=k, protocol="reference")))
    return {f"{name}@{k}": mean([measure.score_ranking(each) for each in rankings]) for name, measure in measures}


def ranking(pages, gold):
    gold = frozenset(("d", page) for page in gold)
    return Ranking("?", tuple((("d", page),) for page in pages), ("",) * len(pages), gold, ("it",) * len(gold))


def mean(values):
    return sum(values) / len(values) if values else nan


FUNCTIONS = {
    "extract_program": extract_program,
    "pot_accuracy": lambda given: pot_accuracy(**given),
    "cot_accuracy": lambda given: cot_accuracy(**given),
    "within_tolerance": lambda given: within_tolerance(**given),
    "golden_k": golden_k,
}


def call(function, given):
    """Call the function that a vector names: `within_0.2pct` and `retrieval@10` are no names of Python."""
    if cut := re.fullmatch(r"retrieval@(\d+)", function):
        return retrieval_at(given, int(cut[1]))
    return FUNCTIONS["within_tolerance" if function == "within_0.2pct" else function](given)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors(vector):
    assert_equal(call(vector["function"], vector["input"]), vector["expected"])


def assert_equal(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert_equal(found[name], value)
    elif isinstance(expected, str | list):
        assert found == expected
    else:
        assert found == pytest.approx(nan if expected is None else expected, abs=1e-12, nan_ok=True)
