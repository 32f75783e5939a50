"""Means of scores, and readings of what is left under each capture condition."""

from dataclasses import replace
from math import isnan, nan

import pytest

from ohr.benchmarks.fcmbench.items import TASKS, Item
from ohr.benchmarks.fcmbench.replies import CLEAN, REFERENCE, REPAIRS
from ohr.benchmarks.fcmbench.totals import (
    Scored,
    aggregate,
    paired_ratio,
    relative_f1,
    relative_f1_matched,
    robustness,
    score_items,
    worth,
)

NORMAL, BLUR, MULTI = "Normal Captures", "Out-of-focus", "Multi-doc Images"


def scored(subtask, task, value, label=NORMAL, outcome="parsed"):
    return Scored(f"{subtask}-{value}", task, subtask, label, value, outcome)


def item(name, subtask="inf_ext_001", task="KIE", gold='{"answer": "A"}'):
    return Item(name, ("p/d/001_正常.jpg",), "<image>?", gold, task, subtask, NORMAL)


def test_subtasks_weigh_equally_in_a_task_and_tasks_in_the_overall_mean():
    scores = [
        scored("inf_ext_001", "KIE", 1.0),
        scored("inf_ext_001", "KIE", 0.0),
        scored("inf_ext_001", "KIE", 0.5),
        scored("en.inf_ext_001", "KIE", 1.0),
        scored("rea_chk_001", "RR", 0.0),
    ]
    found = aggregate(scores)
    assert found.subtasks == {"inf_ext_001": 0.5, "en.inf_ext_001": 1.0, "rea_chk_001": 0.0}
    assert found.tasks == {"KIE": 0.75, "RR": 0.0}
    assert found.overall == 0.375
    assert found.numbers == {"inf_ext_001": 3, "en.inf_ext_001": 1, "rea_chk_001": 1}


def test_tasks_are_in_the_published_order():
    found = aggregate([scored("s" + task, task, 1.0) for task in reversed(TASKS)])
    assert tuple(found.tasks) == TASKS


def test_undefined_scores_are_left_out_of_every_mean():
    scores = [
        scored("num_cal_001", "NC", nan, outcome="unparsable"),
        scored("num_cal_001", "NC", 1.0),
        scored("num_cal_002", "NC", nan, outcome="unparsable"),
        scored("rea_chk_001", "RR", nan, outcome="missing"),
    ]
    found = aggregate(scores)
    assert found.tasks["NC"] == found.overall == 1
    assert isnan(found.subtasks["num_cal_002"])
    assert isnan(found.tasks["RR"])
    assert found.numbers == {"num_cal_001": 1, "num_cal_002": 0, "rea_chk_001": 0}
    assert (found.n_scored, found.parse_rate, found.coverage) == (3, pytest.approx(1 / 3), 0.75)


def test_nothing_has_no_mean():
    found = aggregate([])
    assert all(isnan(value) for value in (found.overall, found.parse_rate, found.coverage))


def test_a_missing_reply_has_no_score_unless_it_is_repaired():
    items = [item("a"), item("b")]
    replies = {"a": '{"answer": "A"}', "unknown": "x"}
    assert [s.outcome for s in score_items(items, replies)] == ["parsed", "missing"]
    assert aggregate(score_items(items, replies, REFERENCE)).overall == 1
    assert aggregate(score_items(items, replies, {"missing"})).overall == 0.5
    assert aggregate(score_items(items, replies, CLEAN)).coverage == 0.5


def test_the_unfinished_subtask_and_items_without_gold_are_never_scored():
    items = [item("a", "num_cal_005", "NC"), item("b", gold=None)]
    for repairs in (REFERENCE, CLEAN):
        for replies in ({}, {"a": '{"answer": "A"}', "b": '{"answer": "A"}'}):
            scores = score_items(items, replies, repairs)
            assert [s.outcome for s in scores] == ["unfinished", "no_gold"]
            assert isnan(aggregate(scores).overall)
            assert aggregate(scores).n_scored == 0


def test_an_item_carries_its_groups_into_its_score():
    (found,) = score_items([replace(item("a"), robustness=BLUR)], {"a": '{"answer": "B"}'})
    assert found == Scored("a", "KIE", "inf_ext_001", BLUR, 0.0, "parsed")


def test_relative_f1_divides_by_normal_captures():
    found = relative_f1(0.6, {BLUR: 0.45, NORMAL: 0.6, MULTI: nan})
    assert found == pytest.approx({BLUR: 0.75, NORMAL: 1.0, MULTI: nan}, nan_ok=True)
    assert all(isnan(each) for each in relative_f1(0.0, {BLUR: 0.1}).values())
    assert isnan(relative_f1(nan, {BLUR: 0.1})[BLUR])


@pytest.fixture
def mixed():
    """Blurred pictures were asked an easy subtask, too, so that they score better than normal ones at first sight."""
    return [
        scored("inf_ext_001", "KIE", 0.8),
        scored("inf_ext_001", "KIE", 0.4),
        scored("num_cal_001", "NC", 0.2),
        scored("qua_eva_001", "IQE", 0.5),
        scored("inf_ext_001", "KIE", 0.3, BLUR),
        scored("con_cnk_001", "CC", 1.0, BLUR),
        scored("qua_eva_001", "IQE", 1.0, BLUR),
        scored("num_cal_001", "NC", nan, BLUR, "unparsable"),
    ]


def test_each_reading_of_robustness_has_its_own_numerator_and_denominator(mixed):
    found = robustness(mixed)
    blur = found[BLUR]
    assert blur.n == 3
    assert blur.f1 == pytest.approx((0.3 + 1 + 1) / 3)
    assert blur.relative_f1 == pytest.approx(blur.f1 / ((0.6 + 0.2 + 0.5) / 3))
    assert blur.relative_without_iqe == pytest.approx(((0.3 + 1) / 2) / ((0.6 + 0.2) / 2))
    assert blur.relative_f1_matched == pytest.approx(0.3 / 0.6)
    assert blur.relative_instances == pytest.approx((2.3 / 3) / (1.9 / 4))
    assert found[NORMAL][2:] == (1, 1, 1, 1)


def test_matched_subtasks_ignore_those_without_a_score(mixed):
    normal = [s for s in mixed if s.robustness == NORMAL]
    blur = [s for s in mixed if s.robustness == BLUR]
    assert relative_f1_matched(blur, normal) == pytest.approx(0.5)
    assert isnan(relative_f1_matched([scored("con_cnk_001", "CC", 1.0, BLUR)], normal))


def test_without_normal_captures_nothing_is_relative(mixed):
    found = robustness(s for s in mixed if s.robustness != NORMAL)
    assert found.keys() == {BLUR}
    assert all(isnan(value) for value in found[BLUR][2:])


def test_a_paired_ratio_is_that_of_the_means_of_the_same_items():
    found = paired_ratio([1, 1, 0.5, nan, 0.5], [1, 0, 0.5, 1, nan])
    assert (found.value, found.n) == (pytest.approx(1.5 / 2.5), 3)
    assert found.low <= found.value <= found.high


def test_equal_scores_have_a_ratio_of_one_and_no_width():
    assert paired_ratio([0.2, 0.4, 1.0], [0.2, 0.4, 1.0]) == (1, 1, 1, 3)


def test_the_interval_of_a_paired_ratio_is_reproducible_and_narrows_with_more_items():
    clean, noisy = [1, 1, 1, 0.5] * 5, [1, 0, 1, 0.5] * 5
    few, many = paired_ratio(clean, noisy), paired_ratio(clean * 20, noisy * 20)
    assert few == paired_ratio(clean, noisy) != paired_ratio(clean, noisy, seed=1)
    assert many.high - many.low < (few.high - few.low) / 3
    assert few.value == many.value == pytest.approx(12.5 / 17.5)


def test_a_paired_ratio_of_nothing_or_to_nothing_is_undefined():
    for clean, noisy in (([], []), ([nan], [1]), ([0, 0], [1, 0])):
        assert isnan(paired_ratio(clean, noisy).value)


def test_the_worth_of_a_repair_is_what_it_changes():
    items = [item("a"), item("b")]
    found = worth(items, {"a": '{"answer": "A"}'})
    assert found.keys() == set(REPAIRS)
    assert found["missing"] == (0.5, 1.0)
    assert found["acres"] == (1.0, 0.5)
