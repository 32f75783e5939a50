"""Metrics of replies, and the numbers that are more than a mean of one metric."""

from math import isnan, nan
from types import SimpleNamespace

import numpy as np
import pytest

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.aggregates import aggregates, macro
from ohr.benchmarks.fcmbench.json_lines import read_items
from ohr.benchmarks.fcmbench.layout import SAMPLE
from ohr.benchmarks.fcmbench.reply_metrics import FcmBenchF1, FcmBenchParsed
from ohr.benchmarks.fcmbench.reply_scores import REPAIRS
from ohr.contracts import Case
from ohr.report.leaderboard.answers import read_answers, score_answers

ITEMS, REPLIES = read_items(SAMPLE / "items.jsonl"), read_answers(SAMPLE / "replies.jsonl")
NORMAL, BLUR = "Normal Captures", "Out-of-focus"


def case(reply, gold='{"answer": "x"}', subtask="key_ver_002"):
    return Case("?", (gold,) if gold else (), (), reply, "q", {"subtask": subtask} if subtask else {})


def numbers(scores):
    """Return the aggregates of scores, which are (subtask, condition, value)."""
    items = [SimpleNamespace(subtask=subtask, robustness=label) for subtask, label, _ in scores]
    return {
        one.name: float(one.combine(np.array([mean(part, scores) for part in one.parts]), None))
        for one in aggregates(items)
    }


def mean(part, scores):
    rows = [({"subtask": subtask, "robustness": label}, value) for subtask, label, value in scores]
    values = [value for groups, value in rows if part.where.items() <= groups.items() and not isnan(value)]
    return sum(values) / len(values) if values else nan


def test_subtasks_weigh_equally_in_a_task_and_tasks_in_the_overall_mean():
    of_one = [("inf_ext_001", NORMAL, value) for value in (1.0, 0.0, 0.5)]
    found = numbers([*of_one, ("en.inf_ext_001", NORMAL, 1.0), ("rea_chk_001", NORMAL, 0.0)])
    assert found == {"KIE": 0.75, "RR": 0.0, "overall": 0.375}


def test_each_reading_of_robustness_has_its_own_numerator_and_denominator():
    """Blurred pictures are asked an easy subtask, too, so that they score better than normal ones at first sight."""
    normal = [("inf_ext_001", 0.8), ("inf_ext_001", 0.4), ("num_cal_001", 0.2), ("qua_eva_001", 0.5)]
    blurred = [("inf_ext_001", 0.3), ("con_cnk_001", 1.0), ("qua_eva_001", 1.0), ("num_cal_001", nan)]
    found = numbers([(name, label, value) for label, of in ((NORMAL, normal), (BLUR, blurred)) for name, value in of])
    assert found[f"relative_f1/{BLUR}"] == pytest.approx(((0.3 + 1 + 1) / 3) / ((0.6 + 0.2 + 0.5) / 3))
    assert found[f"relative_f1_matched/{BLUR}"] == pytest.approx(0.3 / 0.6)
    assert found[f"relative_instances/{BLUR}"] == pytest.approx((2.3 / 3) / (1.9 / 4))


def test_a_ratio_to_nothing_is_undefined():
    found = numbers([("inf_ext_001", NORMAL, 0.0), ("inf_ext_001", BLUR, 0.1)])
    assert all(isnan(found[f"{name}/{BLUR}"]) for name in ("relative_f1", "relative_f1_matched", "relative_instances"))


def test_the_numbers_are_tasks_in_the_published_order_then_overall_ones_and_ratios():
    names = [one.name for one in aggregates(ITEMS)]
    assert names[:9] == ["IQE", "DTR", "KIE", "CC", "VC", "NC", "RR", "overall", "overall_without_iqe"]
    assert len(names) == 9 + 3 * 10 - 5  # five conditions have no subtask that normal captures have


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


def test_macro_means_leave_out_what_is_undefined_and_work_on_arrays():
    means = np.array([[1.0, nan], [0.0, nan], [0.5, 0.25]])
    assert macro(means, None, (0, 0, 1)).tolist() == [0.5, 0.25]
    assert float(macro(means[:, 0], None, (0, 0, 1))) == 0.5
    assert isnan(macro(np.array([nan, nan]), None, (0, 1)))


def test_there_are_no_ratios_to_normal_captures_without_them():
    names = [one.name for one in aggregates(item for item in ITEMS if item.robustness != "Normal Captures")]
    assert not [name for name in names if name.startswith("relative")]
    assert [one.name for one in aggregates(ITEMS) if one.ratio] == ["overall", "overall_without_iqe"]
