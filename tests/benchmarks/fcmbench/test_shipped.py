"""The example that the published repository ships, from end to end, where FCMBENCH_ROOT names its folder."""

import os
from pathlib import Path

import pytest

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.capture_items import TASKS
from ohr.benchmarks.fcmbench.item_files import read_items
from ohr.report.leaderboard.answers import read_answers, score_answers

FOLDER = Path(os.environ.get("FCMBENCH_ROOT") or ".") / "vision_language"
ITEMS, REPLIES = FOLDER / "FCMBench_v1.1_testset_small.jsonl", FOLDER / "prediction_results_example.jsonl"
pytestmark = pytest.mark.skipif(
    not (ITEMS.is_file() and REPLIES.is_file()),
    reason=f"FCMBENCH_ROOT names no folder with vision_language/{ITEMS.name} and {REPLIES.name}",
)


def scored(replies, protocol):
    """Return the means of the tasks and of all, and the number of replies with a score."""
    found = score_answers(FcmBench(root=FOLDER, protocol=protocol), replies, "example")
    means = {name: found.aggregates[name][1].mean for name in (*TASKS, "overall")}
    return means, found.scores["fcmbench_parsed"]["evidence_source"]["all"].n


def test_the_reference_mode_gives_the_published_scores():
    means, count = scored(read_answers(REPLIES), "reference")
    in_percent = {task: round(100 * means[task], 2) for task in TASKS}
    assert in_percent == {
        "IQE": 42.92, "DTR": 64.27, "KIE": 42.07, "CC": 44.24, "VC": 53.31, "NC": 57.19, "RR": 43.97,
    }  # fmt: skip
    assert means["overall"] == pytest.approx(0.4970941954044377, abs=1e-9)
    assert count == 1373


def test_an_empty_answer_to_everything_earns_what_the_empty_golds_are_worth():
    means, _ = scored({item.id: '{"answer":""}' for item in read_items(ITEMS)}, "reference")
    assert round(100 * means["overall"], 2) == 9.68
    assert [round(100 * means[task], 1) for task in ("DTR", "KIE", "VC")] == [23.1, 28.6, 12.9]


def test_the_clean_mode_scores_each_item_that_the_reference_mode_scores():
    means, count = scored(read_answers(REPLIES), "clean")
    assert count == 1373
    assert 0 < means["overall"] < 1
