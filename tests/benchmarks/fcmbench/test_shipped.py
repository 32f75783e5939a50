"""The example that the published repository ships, from end to end, where FCMBENCH_ROOT names its folder."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.fcmbench.items import TASKS
from ohr.benchmarks.fcmbench.reading import read_items, read_replies
from ohr.benchmarks.fcmbench.replies import CLEAN, REFERENCE
from ohr.benchmarks.fcmbench.totals import aggregate, score_items
from ohr.cli.app import app

FOLDER = Path(os.environ.get("FCMBENCH_ROOT") or ".") / "vision_language"
ITEMS, REPLIES = FOLDER / "FCMBench_v1.1_testset_small.jsonl", FOLDER / "prediction_results_example.jsonl"
pytestmark = pytest.mark.skipif(
    not (ITEMS.is_file() and REPLIES.is_file()),
    reason=f"FCMBENCH_ROOT names no folder with vision_language/{ITEMS.name} and {REPLIES.name}",
)


def test_the_reference_mode_gives_the_published_scores():
    found = aggregate(score_items(read_items(ITEMS), read_replies(REPLIES), REFERENCE))
    in_percent = {task: round(100 * value, 2) for task, value in found.tasks.items()}
    assert in_percent == {
        "IQE": 42.92, "DTR": 64.27, "KIE": 42.07, "CC": 44.24, "VC": 53.31, "NC": 57.19, "RR": 43.97,
    }  # fmt: skip
    assert found.overall == pytest.approx(0.4970941954044377, abs=1e-9)
    assert found.n_scored == 1373


@pytest.mark.parametrize("root", [FOLDER, FOLDER.parent], ids=["the track", "the repository"])
def test_the_command_gives_the_published_scores(root):
    arguments = ["score", "answers", str(REPLIES), "--benchmark", "fcmbench", "--root", str(root)]
    found = CliRunner().invoke(app, [*arguments, "--protocol", "reference", "--json"])
    assert found.exit_code == 0, found.output
    totals = {name: value[1]["mean"] for name, value in json.loads(found.stdout)["aggregates"].items()}
    assert {name: round(100 * totals[name], 2) for name in (*TASKS, "overall")} == {
        "IQE": 42.92, "DTR": 64.27, "KIE": 42.07, "CC": 44.24, "VC": 53.31, "NC": 57.19, "RR": 43.97, "overall": 49.71,
    }  # fmt: skip


def test_an_empty_answer_to_everything_earns_what_the_empty_golds_are_worth():
    items = read_items(ITEMS)
    found = aggregate(score_items(items, {item.id: '{"answer":""}' for item in items}, REFERENCE))
    assert round(100 * found.overall, 2) == 9.68
    assert [round(100 * found.tasks[task], 1) for task in ("DTR", "KIE", "VC")] == [23.1, 28.6, 12.9]


def test_the_clean_mode_scores_each_item_that_the_reference_mode_scores():
    items, replies = read_items(ITEMS), read_replies(REPLIES)
    found = aggregate(score_items(items, replies, CLEAN))
    assert found.n_scored == 1373
    assert 0 < found.overall < 1
