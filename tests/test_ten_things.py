"""The page on ten things has the numbers of its record, and the record has those that its script measures."""

import json
import os
import re
from pathlib import Path

import pytest

from studies.ten_things import RECORD, THINGS, measure

PAGE = RECORD.with_suffix(".md").read_text(encoding="utf-8")
SIMULATED = ("clustered-errors", "largest-loss", "not-significant")
_NUMBER = re.compile(r"(?<![\w.#])(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?![\w@])")
RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))


SECTIONS = re.split(r"^## \d+\. [^\n]*\n", PAGE, flags=re.MULTILINE)[1:]


def numbers(text: str) -> set[float]:
    bare = re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)
    return {float(found.rstrip(",").replace(",", "")) for found in _NUMBER.findall(bare)}


def test_the_record_has_every_thing_in_order():
    assert list(RECORDED) == list(THINGS)
    assert len(SECTIONS) == len(THINGS) == 10


@pytest.mark.parametrize("thing", THINGS)
def test_the_page_has_just_the_numbers_of_the_record(thing: str):
    section = SECTIONS[list(THINGS).index(thing)]
    recorded = {float(value) for values in RECORDED[thing].values() for value in values.values()}
    assert numbers(section) == recorded
    assert section.split()[-2:] == ["Script:", f"`{thing}`."]


def test_another_number_would_be_seen():
    assert numbers("8.9% of the 2,820, BM25, `x 3`, .95 and [5](a-6.md).") == {8.9, 2820, 0.95, 5}


@pytest.mark.acceptance  # a minute
@pytest.mark.parametrize("thing", SIMULATED)
def test_a_simulated_number_is_measured_again(thing: str, tmp_path: Path):
    for name, values in measure(thing, tmp_path).items():
        assert values == pytest.approx(RECORDED[thing][name], abs=1.0)


@pytest.mark.acceptance  # runs of mini, and of the real data where they are
@pytest.mark.parametrize("thing", [thing for thing in THINGS if thing not in SIMULATED])
def test_a_number_of_a_run_is_measured_again(thing: str, tmp_path_factory: pytest.TempPathFactory):
    work = tmp_path_factory.getbasetemp() / "ten things"
    work.mkdir(exist_ok=True)
    measured = measure(thing, work)
    if not measured and "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    assert measured == {name: RECORDED[thing][name] for name in measured}
