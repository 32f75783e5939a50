"""Values of other implementations, which do not import ohr: one test for each vector of the finance benchmarks."""

import json
import os
import re
from math import nan
from pathlib import Path

import numpy as np
import pytest

from ohr.benchmarks.fcmbench import FcmBench, reply_metrics
from ohr.benchmarks.fcmbench.capture_items import TASKS
from ohr.benchmarks.fcmbench.item_files import question_file
from ohr.benchmarks.fcmbench.macro_means import ratio_of_two
from ohr.benchmarks.fincriticaled.fact_metrics import judge_postprocess, page_scores, rouge_f1
from ohr.benchmarks.fincriticaled.facts import TYPES, extract_entities, strip_entity_tags
from ohr.benchmarks.fincriticaled.page_texts import html_to_text, strip_html_tags
from ohr.benchmarks.fincriticaled.protocols import published_rate
from ohr.benchmarks.finmmdocr.answer_numbers import cot_accuracy, pot_accuracy, within_tolerance
from ohr.benchmarks.finmmdocr.metrics import PageMrr, PageRecall, last_rank
from ohr.benchmarks.finmmdocr.reply_programs import extract_program
from ohr.benchmarks.finqa_tablequest.metrics import parse_binary_judge
from ohr.benchmarks.tablequest.answer_match import parse_answer
from ohr.benchmarks.tablequest.judges import Judged, judged_score, parse_pairwise
from ohr.benchmarks.tablequest.ratings import BASE, rating
from ohr.benchmarks.tablequest.recall import token_recall
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
    pairs = reply_metrics.flatten(value, repairs)
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
    "extract_json": lambda given, repairs: reply_metrics.extract_json(given),
    "normalize_val": reply_metrics.normalize_val,
    "flatten": fcmbench_flatten,
    "f1": lambda given, repairs: reply_metrics.f1(given["pred"], given["gt"], given["subtask"], repairs),
    "relative_f1": fcmbench_relative_f1,
    "aggregate_example": fcmbench_aggregate_example,
}


def fcmbench(vector):
    given, name, expected = vector["input"], vector["function"], vector["expected"]
    named = vector.get("mode") or (given.get("mode") if isinstance(given, dict) else None)
    repairs = reply_metrics.CLEAN if named in ("strict", "clean") else reply_metrics.REFERENCE
    value = OF_FCMBENCH[name](given, repairs)
    if name in ("extract_json", "normalize_val"):
        assert value == expected
    else:
        assert_equal(value, sorted(expected, key=str) if name == "flatten" else expected, 1e-6)


# --- FinCriticalED ----------------------------------------------------------------------------------------

RATES = {"acc": "acc_found", "missing_rate": "missing_rate", "error": "ffa"}
"""The rates of a run, by the endings of the published names."""


def rates(records, names):
    """Return rates from the counts of pages, over all facts or those of a type, as a run makes them of its scores."""
    values = {}
    for name in names:
        of = next((of for of in TYPES.values() if name.startswith(of.lower().replace(" ", "_"))), "")
        ending = f"_with_{of.replace(' ', '_')}_type" if of else ""
        total, found, correct = (
            sum(record.get(f"{count}_entities{ending}", 0) for record in records)
            for count in ("total", "found", "correct")
        )
        rate = next(rate for ending, rate in RATES.items() if name.endswith(ending))
        values[name] = 100 * float(published_rate(rate, np.array([correct, found]) / max(total, 1), [total, total]))
    return values


def judged(gold, pred, judge_diagnostics):
    verdicts = judge_postprocess(gold, pred, judge_diagnostics)
    found, correct = (sum(verdict[name] for verdict in verdicts) for name in ("found_in_prediction", "correct"))
    return {"total_entities": len(verdicts), "found_entities": found, "correct_entities": correct}


OF_FINCRITICALED = {
    "extract_entities": extract_entities,
    "strip_entity_tags": strip_entity_tags,
    "strip_html_tags": strip_html_tags,
    "html_to_text": html_to_text,
    "fleiss_kappa": fleiss_kappa,
    "edit_distance_norm": lambda given: page_scores(*given)["edit_distance"],
    "rouge_f1": lambda given: rouge_f1(**given),
    "cohen_kappa": lambda given: cohen_kappa(*given),
    "judge_postprocess": lambda given: judged(**given),
}


def fincriticaled(vector):
    name, given, expected = vector["function"], vector["input"], vector["expected"]
    if name == "ffa_recall_style":  # of the rates of another vector, whose counts a run has
        (given,) = [
            other["input"] for _, other in (each.values for each in VECTORS) if given == other["expected"]
        ]  # fmt: skip
    by_names = name in ("aggregate", "ffa_recall_style")
    assert_equal(rates(given, expected) if by_names else OF_FINCRITICALED[name](given), expected, 1e-9)


# --- FinMMDocR --------------------------------------------------------------------------------------------


def golden_k(given):
    ranks = [last_rank(each["ranking"], each["gold"], 99) for each in given]
    return {"per_question": ranks, "mean": mean([rank for rank in ranks if rank is not None])}


def number_of(result):
    """Return what the sandbox gives of a returned value that is written as `repr` writes it."""
    try:
        return float(eval(result, {"nan": nan}))
    except TypeError:
        return None


def retrieval_at(given, k):
    rankings = [ranking([hit["page"] for hit in each["retrieved_results"]], each["evidence_pages"]) for each in given]
    measures = (("MRR", PageMrr(k=k, protocol="reference")), ("Recall", PageRecall(k=k, protocol="reference")))
    return {f"{name}@{k}": mean([measure.score_ranking(each) for each in rankings]) for name, measure in measures}


def ranking(pages, gold):
    gold = frozenset(("d", page) for page in gold)
    return Ranking("?", tuple((("d", page),) for page in pages), ("",) * len(pages), gold, ("it",) * len(gold))


OF_FINMMDOCR = {
    "extract_program": extract_program,
    "pot_accuracy": lambda given: pot_accuracy(number_of(given["result"]), given["gt"]),
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
