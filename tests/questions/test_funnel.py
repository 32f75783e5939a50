import json

import pytest

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence, Removal
from ohr.questions.funnel import Example, FunnelRow, read_funnel, write_funnel
from ohr.questions.rules import Rule
from ohr.questions.verify import verify

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


def test_a_funnel_is_read_as_it_was_written(rows, tmp_path):
    write_funnel(tmp_path / "funnel.json", rows)
    assert read_funnel(tmp_path / "funnel.json") == rows


def test_half_a_character_can_be_written(tmp_path):
    write_funnel(tmp_path / "funnel.json", [FunnelRow("r", 1, 1, examples=(Example("a", "\ud83d", "because"),))])
    assert read_funnel(tmp_path / "funnel.json")[0].examples[0].question == "?"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        ("{", "not JSON"),
        ("[]", "no funnel"),
        ('{"rules": []}', "no funnel: rules"),
        ('{"rules": [{"rule": "a", "entered": 3}]}', r"no funnel: rules\.0\.removed: Field required"),
        ('{"rules": [{"rule": "a", "entered": -3, "removed": 0}]}', r"rules\.0\.entered"),
        ('{"rules": [{"rule": "a", "entered": 3, "removed": 4}]}', r"a: removed 4 \(0 undecided\) of 3"),
        ('{"rules": [{"rule": "a", "entered": 3, "removed": 1, "undecided": 2}]}', r"removed 1 \(2 undecided\)"),
        (
            json.dumps({"rules": [{"rule": name, "entered": 3, "removed": 1} for name in "ab"]}),
            "a left 2 candidates, and b got 3",
        ),
    ],
)
def test_a_damaged_funnel_is_refused(content, message, tmp_path):
    path = tmp_path / "funnel.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match=message) as error:
        read_funnel(path)
    assert str(path) in str(error.value)


def test_a_funnel_without_a_folder_is_refused(rows, tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        write_funnel(tmp_path / "no" / "funnel.json", rows)
