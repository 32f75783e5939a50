"""The sample from end to end: files, golds that can be checked by hand, and scores in both modes."""

from math import nan
from pathlib import Path

import pytest

import ohr.benchmarks.fcmbench as package
from ohr.benchmarks.fcmbench.item_files import read_items
from ohr.benchmarks.fcmbench.reply_metrics import CLEAN, REFERENCE, REPAIRS, FcmBenchF1
from ohr.contracts import Case
from ohr.report.leaderboard.answers import read_answers
from speed.fcmbench_worth import overall, scored, worth

FOLDER = Path(package.__file__).parent / "sample"
ITEMS = read_items(FOLDER / "items.jsonl", FOLDER / "images")
REPLIES = read_answers(FOLDER / "replies.jsonl")

LESS_THAN_RIGHT = {  # F1 in the reference and in the clean mode; every other reply is right in both
    "qua_eva_001_02": (0, 0),  # another option
    "qua_eva_001_05": (0, 0),  # no JSON
    "en.qua_eva_001_03": (0, 0),
    "doc_cla_001_02": (2 / 3, 2 / 3),  # one of two types
    "doc_cla_003_02": (1, 0),  # no JSON, and no type
    "en.doc_cla_002_01": (2 / 3, 2 / 3),  # one letter too many
    "inf_ext_001_01": (1 / 2, 1 / 2),
    "inf_ext_002_01": (1, 2 / 3),  # a float has 17 digits, the account 19
    "inf_ext_002_02": (3 / 4, 3 / 4),  # one field of four
    "inf_ext_002_03": (1, 1 / 3),  # 1,032,00.00 is three values, one right among four
    "inf_ext_003_01": (1, 0),  # no JSON, and no value
    "inf_ext_004_01": (4 / 5, 4 / 5),
    "inf_ext_005_01": (2 / 3, 2 / 3),  # two rows of three
    "con_chk_004_01": (0, 0),
    "en.con_chk_004_01": (0, 0),  # lower case
    "key_ver_001_01": (2 / 3, 2 / 3),
    "en.key_ver_001_01": (0, 0),
    "en.key_ver_003_01": (nan, 0),  # no reply
    "num_cal_001_02": (nan, 0),  # no JSON
    "num_cal_002_01": (0, 0),  # wrong by 5
    "num_cal_004_01": (4 / 5, 4 / 5),
    "num_cal_005_01": (nan, nan),  # not scored
    "en.num_cal_002_01": (1, 0),  # 0 acres
    "rea_chk_003_01": (0, 0),
}
TASKS = {
    "IQE": ((4 / 6 + 3 / 4) / 2,) * 2,
    "DTR": ((5 / 6 + 1 + 1 + 1 + 2 / 3 + 1) / 6, (5 / 6 + 1 + 1 / 2 + 1 + 2 / 3 + 1) / 6),
    "KIE": (
        (1 / 2 + 2.75 / 3 + 1 + 4 / 5 + 2 / 3 + 4) / 9,
        (1 / 2 + 1.75 / 3 + 0 + 4 / 5 + 2 / 3 + 4) / 9,
    ),
    "CC": (4 / 6, 4 / 6),
    "VC": ((2 / 3 + 1 + 1 + 0 + 1) / 5, (2 / 3 + 1 + 1 + 0 + 1 + 0) / 6),
    "NC": ((1 + 0 + 1 + 4 / 5 + 1 + 1 + 1) / 7, (1 / 2 + 0 + 1 + 4 / 5 + 0 + 1 + 1) / 7),
    "RR": (2 / 3, 2 / 3),
}


QUESTIONS = package.FcmBench(root="sample").questions()


def scores(replies, repairs):
    """Return the score of each question by its id."""
    metric, cases = FcmBenchF1(repairs=repairs), {}
    for question in QUESTIONS:
        if question.id in replies:
            cases[question.id] = metric.score_case(
                Case(question.text, question.answers, (), replies[question.id], question.id, dict(question.groups))
            )
    return {question.id: cases.get(question.id, metric.score_missing(question)) for question in QUESTIONS}


@pytest.mark.parametrize("mode", [0, 1], ids=["reference", "clean"])
def test_each_reply_has_the_score_that_a_person_gives_it(mode):
    found = scores(REPLIES, (REFERENCE, CLEAN)[mode])
    wanted = {name: LESS_THAN_RIGHT.get(name, (1, 1))[mode] for name in found}
    assert found == pytest.approx(wanted, nan_ok=True)
    assert found.keys() >= LESS_THAN_RIGHT.keys()


@pytest.mark.parametrize("mode", [0, 1], ids=["reference", "clean"])
def test_totals_are_the_means_of_subtasks_tasks_and_all(mode):
    found = scored(FOLDER, REPLIES, (REFERENCE, CLEAN)[mode])
    wanted = {task: both[mode] for task, both in TASKS.items()}
    assert {task: found.aggregates[task][1].mean for task in TASKS} == pytest.approx(wanted)
    assert found.aggregates["overall"][1].mean == pytest.approx(sum(wanted.values()) / 7)
    assert found.aggregates["overall"][1].mean == pytest.approx((0.770881, 0.689739)[mode], abs=1e-6)
    without = [value for task, value in wanted.items() if task != "IQE"]
    assert found.aggregates["overall_without_iqe"][1].mean == pytest.approx(sum(without) / 6)
    parsed = found.scores["fcmbench_parsed"]["evidence_source"]["all"]
    assert (parsed.n, parsed.mean, len(found.missing)) == (52, 48 / 52, 1)


def test_every_repair_changes_the_overall_score():
    reference, clean = (overall(FOLDER, REPLIES, each) for each in (REFERENCE, CLEAN))
    found = worth(FOLDER, REPLIES)
    assert list(found) == list(REPAIRS)
    assert all(alone < reference and without > clean for alone, without in found.values())
    assert reference - found["acres"][0] == pytest.approx(1 / 7 / 7)
    assert found["missing"][1] - clean == pytest.approx((11 / 15 - 11 / 18) / 7)


def test_an_empty_answer_to_everything_earns_points_for_the_empty_golds_only():
    empty = {item.id: '{"answer": ""}' for item in ITEMS}
    for repairs in (REFERENCE, CLEAN):
        right = {name for name, value in scores(empty, repairs).items() if value == 1}
        assert right == {"doc_cla_003_02", "inf_ext_003_01", "en.inf_ext_003_01", "con_cnk_001_02"}
