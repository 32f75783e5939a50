"""Values of other implementations, which do not import ohr: one test for each vector of the finance benchmarks."""

import json
import os
import re
from math import nan
from pathlib import Path

import pytest

from ohr.benchmarks.fcmbench import FcmBench, reply_scores
from ohr.benchmarks.fcmbench.aggregates import ratio_of_two
from ohr.benchmarks.fcmbench.items import TASKS
from ohr.benchmarks.fcmbench.layout import question_file
from ohr.benchmarks.fincriticaled.facts import extract_entities, strip_entity_tags
from ohr.benchmarks.fincriticaled.judging import judge_postprocess
from ohr.benchmarks.fincriticaled.lexical import edit_distance_norm, rouge_f1
from ohr.benchmarks.fincriticaled.texts import html_to_text, strip_html_tags
from ohr.benchmarks.fincriticaled.totals import aggregate, ffa_recall_style
from ohr.benchmarks.finmmdocr.metrics import PageMrr, PageRecall, last_rank
from ohr.benchmarks.finmmdocr.numbers import cot_accuracy, pot_accuracy, within_tolerance
from ohr.benchmarks.finmmdocr.programs import extract_program
from ohr.benchmarks.finqa_tablequest.judging import parse_binary_judge
from ohr.benchmarks.tablequest.answer_match import parse_answer
from ohr.benchmarks.tablequest.binary import Judged
from ohr.benchmarks.tablequest.elo import BASE
from ohr.benchmarks.tablequest.judges import judged_score
from ohr.benchmarks.tablequest.pairwise import parse_pairwise
from ohr.benchmarks.tablequest.recall import token_recall
from ohr.benchmarks.tablequest.totals import rating
from ohr.contracts import Ranking
from ohr.report.leaderboard.answers import read_answers, score_answers
from ohr.statistics.agreement import cohen_kappa, fleiss_kappa

FOLDER = os.environ.get("OHRBENCH_VECTORS")
SHIPPED = os.environ.get("FCMBENCH_ROOT")


def mean(values):
    return sum(values) / len(values) if values else nan


def as_numbers(value):
    """Write null as nan, which is how ohr writes what is undefined."""
    if isinstance(value, dict):
        return {name: as_numbers(each) for name, each in value.items()}
    return nan if value is None else value


def assert_equal(value, expected, tolerance):
    """Compare values, numbers in mappings too; null is nan."""
    if isinstance(expected, dict):
        assert value.keys() == expected.keys()
        for name, part in expected.items():
            assert_equal(value[name], part, tolerance)
    elif isinstance(expected, str | list):
        assert value == expected
    else:
        assert value == pytest.approx(as_numbers(expected), abs=tolerance, nan_ok=True)


# --- FCMBench ---------------------------------------------------------------------------------------------


def fcmbench_flatten(value, repairs):
    pairs = reply_scores.flatten(value, repairs)
    return sorted(([path, list(v) if isinstance(v, tuple) else v] for path, v in pairs), key=str)


def fcmbench_relative_f1(given, repairs):
    known = as_numbers(given["artifacts"])
    return {name: float(ratio_of_two([value, as_numbers(given["normal"])], None)) for name, value in known.items()}


def fcmbench_aggregate_example(given, repairs):
    if not SHIPPED:
        pytest.skip("FCMBENCH_ROOT names no copy of the published repository")
    replies, items = (Path(name) for name in given.split(" vs "))
    folder = Path(SHIPPED) / replies.parent
    assert question_file(folder).name == items.name
    benchmark = FcmBench(root=folder, protocol="clean" if repairs else "reference")
    scores = score_answers(benchmark, read_answers(folder / replies.name), "example")
    count = scores.scores["fcmbench_parsed"]["evidence_source"]["all"].n
    return {name: scores.aggregates[name][1].mean for name in (*TASKS, "overall")} | {"n_scored": count}


OF_FCMBENCH = {
    "extract_json": lambda given, repairs: reply_scores.extract_json(given),
    "normalize_val": reply_scores.normalize_val,
    "flatten": fcmbench_flatten,
    "f1": lambda given, repairs: reply_scores.f1(given["pred"], given["gt"], given["subtask"], repairs),
    "relative_f1": fcmbench_relative_f1,
    "aggregate_example": fcmbench_aggregate_example,
}


def fcmbench(vector):
    given, name, expected = vector["input"], vector["function"], vector["expected"]
    named = vector.get("mode") or (given.get("mode") if isinstance(given, dict) else None)
    repairs = reply_scores.CLEAN if named in ("strict", "clean") else reply_scores.REFERENCE
    value = OF_FCMBENCH[name](given, repairs)
    if name in ("extract_json", "normalize_val"):
        assert value == expected
    else:
        assert_equal(value, sorted(expected, key=str) if name == "flatten" else expected, 1e-6)


# --- FinCriticalED ----------------------------------------------------------------------------------------

OF_ONE_VALUE = (
    extract_entities, strip_entity_tags, strip_html_tags, html_to_text, aggregate, ffa_recall_style, fleiss_kappa,
)  # fmt: skip
OF_SEVERAL = (edit_distance_norm, rouge_f1, cohen_kappa, judge_postprocess)


def fincriticaled(vector):
    name, given, expected = vector["function"], vector["input"], vector["expected"]
    (function,) = [function for function in OF_ONE_VALUE + OF_SEVERAL if function.__name__ == name]
    if function in OF_ONE_VALUE:
        value = function(given)
    else:
        value = function(**given) if isinstance(given, dict) else function(*given)
    if name == "judge_postprocess":
        value = {name: value[name] for name in expected}
    assert_equal(value, expected, 1e-9)


# --- FinMMDocR --------------------------------------------------------------------------------------------


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


OF_FINMMDOCR = {
    "extract_program": extract_program,
    "pot_accuracy": lambda given: pot_accuracy(**given),
    "cot_accuracy": lambda given: cot_accuracy(**given),
    "within_0.2pct": lambda given: within_tolerance(**given),
    "golden_k": golden_k,
}


def finmmdocr(vector):
    cut = re.fullmatch(r"retrieval@(\d+)", vector["function"])
    given = vector["input"]
    value = retrieval_at(given, int(cut[1])) if cut else OF_FINMMDOCR[vector["function"]](given)
    assert_equal(value, vector["expected"], 1e-12)


# --- TableQuest -------------------------------------------------------------------------------------------


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
    center = mean(against.values())
    assert {name: BASE + rating - center for name, rating in against.items()} == pytest.approx(expected, abs=0.005)


def binary(given, expected):
    assert list(parse_binary_judge(given)) == expected


def accuracies(given, expected):
    """A failed call counts as 0, as a failed score does in a run."""
    scores = [0.0 if verdict == "ERROR" else judged_score(Judged(verdict, 1.0, ""), "") for verdict in given]
    assert expected.get("accuracy") == (pytest.approx(mean(scores)) if scores else None)


def pairwise(given, expected):
    choice = parse_pairwise(given)
    # a reply without a verdict is scored as a tie
    assert choice == expected if expected is None else (choice or "tie") == expected


def answer(given, expected):
    assert parse_answer(given) == expected


OF_TABLEQUEST = {
    "elo_vs_baseline_mle": elo,
    "elo_raw_unanchored": raw,
    "token_recall": lambda given, expected: assert_equal(token_recall(**given), expected, 1e-6),
    "parse_binary_judge": binary,
    "accuracy": accuracies,
    "parse_pairwise": pairwise,
    "parse_answer": answer,
}


def tablequest(vector):
    OF_TABLEQUEST[vector["function"]](vector["input"], vector["expected"])


# ----------------------------------------------------------------------------------------------------------

CHECKS = (fcmbench, fincriticaled, finmmdocr, tablequest)
VECTORS = [
    pytest.param(check, vector, id=f"{check.__name__} {vector['id']}")
    for check in CHECKS
    for path in (sorted(Path(FOLDER).glob(f"{check.__name__}*.json")) if FOLDER else ())
    for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]
]


@pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with vectors of these benchmarks")
@pytest.mark.parametrize(("check", "vector"), VECTORS)
def test_vector(check, vector):
    check(vector)
