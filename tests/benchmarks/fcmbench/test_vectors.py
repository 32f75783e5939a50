"""Values of another implementation, which does not import ohr: one test for each vector of fcmbench.json."""

import json
import os
from math import nan
from pathlib import Path

import pytest

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.aggregates import ratio_of_two
from ohr.benchmarks.fcmbench.items import TASKS
from ohr.benchmarks.fcmbench.layout import question_file
from ohr.benchmarks.fcmbench.reply_scores import CLEAN, REFERENCE, extract_json, f1, flatten, normalize_val
from ohr.report.leaderboard.answers import read_answers, score_answers

FOLDER = os.environ.get("OHRBENCH_VECTORS")
PATH = Path(FOLDER or ".") / "fcmbench.json"
VECTORS = json.loads(PATH.read_text(encoding="utf-8"))["vectors"] if FOLDER and PATH.is_file() else []
pytestmark = pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with fcmbench.json")
SHIPPED = os.environ.get("FCMBENCH_ROOT")


def of_flatten(value, repairs):
    return sorted(([path, list(v) if isinstance(v, tuple) else v] for path, v in flatten(value, repairs)), key=str)


def of_f1(given, repairs):
    return f1(given["pred"], given["gt"], given["subtask"], repairs)


def of_relative_f1(given, repairs):
    known = as_numbers(given["artifacts"])
    return {name: float(ratio_of_two([value, as_numbers(given["normal"])], None)) for name, value in known.items()}


def of_aggregate_example(given, repairs):
    replies, items = (Path(name) for name in given.split(" vs "))
    folder = Path(SHIPPED) / replies.parent
    assert question_file(folder).name == items.name
    benchmark = FcmBench(root=folder, protocol="clean" if repairs else "reference")
    found = score_answers(benchmark, read_answers(folder / replies.name), "example")
    count = found.scores["fcmbench_parsed"]["evidence_source"]["all"].n
    return {name: found.aggregates[name][1].mean for name in (*TASKS, "overall")} | {"n_scored": count}


FUNCTIONS = {
    "extract_json": lambda given, repairs: extract_json(given),
    "normalize_val": normalize_val,
    "flatten": of_flatten,
    "f1": of_f1,
    "relative_f1": of_relative_f1,
    "aggregate_example": of_aggregate_example,
}


def as_numbers(value):
    """Write null as nan, which is how ohr writes what is undefined."""
    if isinstance(value, dict):
        return {name: as_numbers(each) for name, each in value.items()}
    return nan if value is None else value


def mode(vector):
    given = vector["input"] if isinstance(vector["input"], dict) else {}
    named = vector.get("mode") or given.get("mode")
    return CLEAN if named in ("strict", "clean") else REFERENCE


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vector(vector):
    name, wanted = vector["function"], vector["expected"]
    if name.endswith("_example") and not SHIPPED:
        pytest.skip("FCMBENCH_ROOT names no copy of the published repository")
    assert name in FUNCTIONS, f"no function for {name}"
    found = FUNCTIONS[name](vector["input"], mode(vector))
    if name in ("extract_json", "normalize_val"):
        assert found == wanted
    elif name == "flatten":
        assert found == sorted(wanted, key=str)
    else:
        assert found == pytest.approx(as_numbers(wanted), abs=1e-6, nan_ok=True)
