"""Values of another implementation, which does not import ohr: one test for each vector of fincriticaled.json."""

import json
import os
from math import nan
from pathlib import Path

import pytest

from ohr.benchmarks.fincriticaled.facts import extract_entities, strip_entity_tags
from ohr.benchmarks.fincriticaled.judging import judge_postprocess
from ohr.benchmarks.fincriticaled.lexical import edit_distance_norm, rouge_f1
from ohr.benchmarks.fincriticaled.texts import html_to_text, strip_html_tags
from ohr.benchmarks.fincriticaled.totals import aggregate, ffa_recall_style
from ohr.statistics.agreement import cohen_kappa, fleiss_kappa

FOLDER = os.environ.get("OHRBENCH_VECTORS")
PATH = Path(FOLDER or ".") / "fincriticaled.json"
VECTORS = json.loads(PATH.read_text(encoding="utf-8"))["vectors"] if FOLDER and PATH.is_file() else []
pytestmark = pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with fincriticaled.json")

OF_ONE_VALUE = (
    extract_entities, strip_entity_tags, strip_html_tags, html_to_text, aggregate, ffa_recall_style, fleiss_kappa,
)  # fmt: skip
OF_SEVERAL = (edit_distance_norm, rouge_f1, cohen_kappa, judge_postprocess)


def called(name, given):
    """Call a function with its one value, or with the values of a list or an object."""
    for function in OF_ONE_VALUE:
        if function.__name__ == name:
            return function(given)
    for function in OF_SEVERAL:
        if function.__name__ == name:
            return function(**given) if isinstance(given, dict) else function(*given)
    raise AssertionError(f"no function for {name}")


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vector(vector):
    found, wanted = called(vector["function"], vector["input"]), vector["expected"]
    if vector["function"] == "judge_postprocess":
        found = {name: found[name] for name in wanted}
    if isinstance(wanted, float | int) or wanted is None:
        assert found == pytest.approx(nan if wanted is None else wanted, abs=1e-9, nan_ok=True)
    elif isinstance(wanted, dict):
        assert found == pytest.approx(wanted, abs=1e-9)
    else:
        assert found == wanted
