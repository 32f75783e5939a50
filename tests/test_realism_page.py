"""The tables of realism and of the channel's distance have the kept numbers, row by row."""

import json
from pathlib import Path

import pytest

from studies.realism import cost_rows, distance_rows, foreign_rows, own_rows, refused

DOCS = Path(__file__).parents[1] / "docs" / "noise"
KEPT = Path(__file__).parents[1] / "studies" / "kept" / "realism" / "recovery.json"


@pytest.mark.parametrize(
    ("page", "rows", "first"),
    [
        ("realism", own_rows, "| mini | `"),
        ("realism", foreign_rows, "| mini | capitals |"),
        ("realism", cost_rows, "| law |"),
        ("channel", distance_rows, "| ohrbench-mineru |"),
    ],
)
def test_the_page_has_the_rows_of_the_kept_numbers(page, rows, first):
    lines = (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()
    kept = list(rows())
    start = lines.index(next(line for line in lines if line.startswith(first)))
    assert lines[start : start + len(kept)] == kept and not lines[start + len(kept)].startswith("|")


def test_the_page_says_how_often_the_right_noise_was_refused():
    assert refused() in (DOCS / "realism.md").read_text(encoding="utf-8")


def test_each_draw_of_a_variant_was_found_as_that_variant():
    rows = [row for part in json.loads(KEPT.read_text(encoding="utf-8")) for row in part["own"]]
    named = [(row["noise"], fitted) for row in rows for fitted in row["fitted"] if row["noise"]["kind"] == "channel"]
    default = {"profile": "tesseract"}
    wrong = [pair for pair in named if len({(default | fields)["profile"] for fields in pair}) > 1]
    assert len(named) == 36 and wrong == []
