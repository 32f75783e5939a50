import json

import pytest

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence, Removal
from ohr.questions.candidate_rules import Rule
from ohr.questions.verification import Example, FunnelRow, verify, write_funnel

TRUTH = {"law/lease": [Page("law/lease", 0, "The rent of Berth 3 is 12 florins.")]}
CANDIDATES = [
    Candidate(f"q{number}", f"What is the rent {number}?", ("12",), "law/lease", (Evidence(0, "12 florins"),))
    for number in range(5)
]


def first(candidates, texts):
    yield Removal(candidates[0].id, "first", "is the first")
    yield Removal(candidates[1].id, "first", "no model replied", undecided=True)


RULES = (Rule("first", first), Rule("silent", first, runs=False), Rule("again", first))


@pytest.fixture
def rows():
    return verify(CANDIDATES, TRUTH, RULES).rows


def test_rules_pass_on_what_is_left_and_those_that_do_not_run_pass_on_all(rows):
    assert [(row.rule, row.entered, row.removed, row.undecided, row.left, row.runs) for row in rows] == [
        ("first", 5, 2, 1, 3, True),
        ("silent", 3, 0, 0, 3, False),
        ("again", 3, 2, 1, 1, True),
    ]
    assert rows[0].examples == (
        Example("q0", "What is the rent 0?", "is the first"),
        Example("q1", "What is the rent 1?", "no model replied", undecided=True),
    )


def test_a_funnel_is_a_file_with_the_counts_and_examples_of_each_rule(rows, tmp_path):
    write_funnel(tmp_path / "funnel.json", rows)
    first, silent, _ = json.loads((tmp_path / "funnel.json").read_text())["rules"]
    assert (first["rule"], first["entered"], first["removed"], first["undecided"]) == ("first", 5, 2, 1)
    assert first["examples"][1]["reason"] == "no model replied"
    assert silent == {"rule": "silent", "entered": 3, "removed": 0, "undecided": 0, "runs": False, "examples": []}


def test_half_a_character_can_be_written(tmp_path):
    write_funnel(tmp_path / "funnel.json", [FunnelRow("r", 1, 1, examples=(Example("a", "\ud83d", "because"),))])
    (row,) = json.loads((tmp_path / "funnel.json").read_text())["rules"]
    assert row["examples"][0]["question"] == "?"


def test_a_funnel_without_a_folder_is_refused(rows, tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        write_funnel(tmp_path / "no" / "funnel.json", rows)
