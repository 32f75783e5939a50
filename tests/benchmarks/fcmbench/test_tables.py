"""The published tables agree with the protocol that their numbers are compared with."""

import pytest

from ohr.benchmarks.fcmbench.items import TASKS
from ohr.benchmarks.fcmbench.published_tables import published, rows

ROUNDING = 0.0105
"""Two roundings to two decimals."""


def numbers(file):
    return {
        row["system"].replace("DeepSeek(OCR+V3.2)", "DeepSeek-OCR + DeepSeek V3.2"): {
            name: float(value) for name, value in row.items() if name not in ("system", "kind")
        }
        for row in rows(file)
    }


@pytest.mark.parametrize(
    ("file", "tasks", "systems"),
    [
        ("table-4.csv", TASKS, 28),
        ("table-a5.csv", TASKS[1:], 28),
        ("table-a6.csv", TASKS[1:-1], 28),
        ("leaderboard-v1.0.csv", TASKS, 24),
    ],
)
def test_overall_is_the_mean_of_the_tasks_without_image_quality_in_tables_a5_and_a6(file, tasks, systems):
    found = numbers(file)
    assert len(found) == systems
    for row in found.values():
        assert row["overall"] == pytest.approx(sum(row[task] for task in tasks) / len(tasks), abs=ROUNDING)


def test_tasks_of_table_4_are_means_of_the_subtasks_in_both_languages():
    both, chinese, english = (numbers(name) for name in ("table-4.csv", "table-a5.csv", "table-a6.csv"))
    weights = {"IQE": (1, 1), "DTR": (3, 3), "KIE": (5, 4), "CC": (4, 2), "VC": (3, 3), "NC": (4, 3)}
    wrong = []
    for system, row in both.items():
        for task, (first, second) in weights.items():
            mean = (first * chinese[system][task] + second * english[system][task]) / (first + second)
            if abs(mean - row[task]) > ROUNDING:
                wrong.append((system, task))
        assert row["RR"] == chinese[system]["RR"]
    assert wrong == [("Phi-4-multimodal-instruct", "NC")]


def test_each_number_has_the_name_of_an_aggregate_and_its_table():
    best = [n for n in published() if n.system == "Gemini 3 Pro" and n.metric.startswith("overall")]
    assert [(n.table.partition(",")[0], n.metric, n.group, n.setting.partition(",")[0], n.value) for n in best] == [
        ("Table 4", "overall", "all", "full set", 0.6516),
        ("Table A5", "overall_without_iqe", "language=zh", "Chinese questions of the full set", 0.6505),
        ("Table A6", "overall_without_iqe", "language=en", "English questions of the full set", 0.7309),
        ("Leaderboard of V1.0", "overall", "all", "full set", 0.6461),
        ("Leaderboard of V1.0", "overall", "all", "small set", 0.6194),
    ]
    assert {n.metric for n in published()} == {*TASKS, "overall", "overall_without_iqe"}
    assert {n.stage for n in published()} == {"generation"}


def test_versions_are_kept_apart():
    assert {n.table.partition(",")[0] for n in published() if n.main} == {"Table 4"}
    warned = {n.table.partition(",")[0] for n in published() if "V1.0" in n.warning}
    assert warned == {"Leaderboard of V1.0"}
    assert len([n for n in published() if n.warning]) == 24 * 9
