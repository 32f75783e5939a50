"""Metrics and aggregates of runs agree with the scores of `totals`, which the published scores are compared with."""

from math import isnan, nan

import numpy as np
import pytest

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.aggregates import aggregates, macro, relative_matched
from ohr.benchmarks.fcmbench.layout import SAMPLE
from ohr.benchmarks.fcmbench.metrics import FcmBenchF1, FcmBenchParsed
from ohr.benchmarks.fcmbench.reading import read_items, read_replies
from ohr.benchmarks.fcmbench.replies import MODES, REPAIRS
from ohr.benchmarks.fcmbench.totals import aggregate, robustness, score_items
from ohr.contracts import Case
from ohr.report.leaderboard.answers import score_answers
from ohr.testing import check_metric

ITEMS, REPLIES = read_items(SAMPLE / "items.jsonl"), read_replies(SAMPLE / "replies.jsonl")
READINGS = ("relative_f1", "relative_f1_matched", "relative_instances")


def case(reply, gold='{"answer": "x"}', subtask="key_ver_002"):
    return Case("?", (gold,) if gold else (), (), reply, "q", {"subtask": subtask} if subtask else {})


@pytest.mark.parametrize("metric", [FcmBenchF1(), FcmBenchF1(repairs=()), FcmBenchParsed()], ids=repr)
def test_a_metric_keeps_the_contract(metric):
    check_metric(metric)


@pytest.mark.parametrize("protocol", MODES)
def test_scores_and_aggregates_are_those_of_the_totals(protocol):
    found = score_answers(FcmBench(root="sample", protocol=protocol), REPLIES, "made up")
    scores = score_items(ITEMS, REPLIES, MODES[protocol])
    totals, under = aggregate(scores), robustness(scores)
    values = {name: estimate.mean for name, (_, estimate) in found.aggregates.items()}
    wanted = dict(totals.tasks) | {"overall": totals.overall}
    wanted["overall_without_iqe"] = np.mean([value for task, value in totals.tasks.items() if task != "IQE"])
    for label, condition in under.items():
        for name in READINGS:
            if f"{name}/{label}" in values:
                wanted[f"{name}/{label}"] = getattr(condition, name)
    assert values == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    assert len(values) == 9 + 3 * 10 - 5  # five conditions have no subtask that normal captures have
    (all_items,) = (
        table["evidence_source"]["all"] for name, table in found.scores.items() if name == "fcmbench_parsed"
    )
    assert all_items.mean == totals.parse_rate
    assert all_items.n == totals.n_scored


def test_a_missing_reply_scores_0_where_the_published_code_leaves_it_out():
    clean, reference = (
        score_answers(FcmBench(root="sample", protocol=each), REPLIES, "x") for each in ("clean", "reference")
    )
    assert clean.missing == reference.missing == reference.left_out == ["en.key_ver_003_01"]
    assert clean.left_out == []
    of_its_subtask = [each.scores["fcmbench_f1"]["subtask"]["en.key_ver_003"].mean for each in (clean, reference)]
    assert of_its_subtask == pytest.approx([0, nan], nan_ok=True)


def test_an_unfinished_subtask_has_no_score_with_or_without_a_reply():
    unfinished = {"num_cal_005_01"}
    for replies in (REPLIES, {name: reply for name, reply in REPLIES.items() if name not in unfinished}):
        found = score_answers(FcmBench(root="sample"), replies, "x")
        assert isnan(found.scores["fcmbench_f1"]["subtask"]["num_cal_005"].mean)
        assert {name: found.aggregates[name][1].mean for name in ("NC", "overall")} == pytest.approx(
            {"NC": (1 / 2 + 0 + 1 + 4 / 5 + 0 + 1 + 1) / 7, "overall": 0.689739}, abs=1e-6
        )


@pytest.mark.parametrize("repairs", [(), REPAIRS], ids=["reference", "clean"])
def test_what_has_no_gold_or_no_subtask_has_no_score(repairs):
    for metric in (FcmBenchF1(repairs=repairs), FcmBenchParsed()):
        assert isnan(metric.score_case(case('{"answer": "x"}', gold="")))
        assert isnan(metric.score_case(case('{"answer": "x"}', subtask="")))
        assert isnan(metric.score_case(case('{"answer": "x"}', subtask="num_cal_005")))


@pytest.mark.parametrize(
    ("reply", "score", "parsed"),
    [
        ('{"answer": 12}', 1, 1),
        ('{"answer": NaN}', 0, 1),
        ('{"answer": "1,234%"}', 0, 1),
        ('{"answer": ' + "9" * 5000 + "}", 0, 0),  # more digits than Python reads
        ("{" * 10_000_000, 0, 0),
        ("[" * 100_000 + "{}", 0, 1),
        ('{"a": ' * 100_000 + "1" + "}" * 100_000, 0, 0),
        ("twelve", 0, 0),
    ],
    ids=["right", "NaN", "percent", "long number", "10 MB", "brackets", "deeply nested", "no JSON"],
)
def test_a_reply_of_any_kind_is_a_score(reply, score, parsed):
    given = case(reply, '{"answer": 12}', "num_cal_001")
    assert FcmBenchF1().score_case(given) == score
    assert FcmBenchParsed().score_case(given) == parsed


def test_each_repair_can_be_measured_alone():
    given = case('{"answer": 0}', '{"answer": 0.77}', "en.num_cal_002")
    assert FcmBenchF1(repairs=()).score_case(given) == 1
    assert FcmBenchF1(repairs=("acres",)).score_case(given) == 0


def test_macro_means_leave_out_what_is_undefined_and_work_on_arrays():
    means = np.array([[1.0, nan], [0.0, nan], [0.5, 0.25]])
    assert macro(means, None, (0, 0, 1)).tolist() == [0.5, 0.25]
    assert float(macro(means[:, 0], None, (0, 0, 1))) == 0.5
    assert isnan(macro(np.array([nan, nan]), None, (0, 1)))


def test_matched_ratios_compare_only_what_both_sides_define():
    means = np.array([0.5, 0.8, nan, 1.0, nan, 0.3])
    assert float(relative_matched(means, None, (0, 0, 1))) == 0.5
    assert isnan(relative_matched(np.array([0.5, 0.0]), None, (0,)))


def test_there_are_no_ratios_to_normal_captures_without_them():
    names = [one.name for one in aggregates(item for item in ITEMS if item.robustness != "Normal Captures")]
    assert not [name for name in names if name.startswith("relative")]
    assert [one.name for one in aggregates(ITEMS) if one.ratio] == ["overall", "overall_without_iqe"]
