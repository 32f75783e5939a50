"""Groups of questions."""

from dataclasses import replace

import pytest

from ohr.benchmarks.finmmdocr.grouping import Group, calc_steps, extract_steps, groups
from ohr.benchmarks.finmmdocr.published_numbers import group_sizes
from ohr.benchmarks.finmmdocr.release_records import DOC_TYPES, Record

PLAIN = Record(
    question_id="test-0",
    doc_id="report",
    doc_type="Company Research",
    question="?",
    evidence={"table": (2, 2), "plain_text": (3,)},
    python_solution="def solution():\n    return (3 - 1) / 4 * 100",
    ground_truth=50,
    pages_num=30,
    images=(),
    texts="",
)


def name(dimension, **changes):
    """The name of the only group of a dimension, or None where there is none."""
    found = [group.name for group in groups(replace(PLAIN, **changes)) if group.dimension == dimension]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        ("def solution():\n    return (3 - 1) / 4 * 100", 3),
        ("def solution():\n    return -5", 0),
        ("x = 1\nx += 2\nx **= 3", 2),
        ("a = 1 < 2 and 3 or not 4", 0),
        ("", 0),
        ("def solution(:", None),
        ("x = '\0'", None),
        ("return 5 + 5", 1),
    ],
)
def test_calculations_are_the_binary_operators_of_a_program(program, steps):
    assert calc_steps(program) == steps


def test_extractions_are_listed_pages_with_repetition():
    assert extract_steps({"table": (2, 2, 7), "image": (), "plain_text": (2,)}) == 4


EXTRACTIONS = {"0": (0,), "1-2": (1, 2), "3-4": (3, 4), ">=5": (5, 9)}
BINS = {
    "scenario": ("scenarios", {"w/o": [()], "w/": [("PM",), ("PM", "FSA"), ("PM", "FSA", "T&A", "M&FI", "CS&O")]}),
    "scenario_count": (
        "scenarios",
        {
            "1": [("PM",), ("PM", "PM")],
            "2": [("PM", "FSA")],
            "3": [("PM", "FSA", "T&A")],
            ">=4": [("PM", "FSA", "T&A", "M&FI"), ("PM", "FSA", "T&A", "M&FI", "CS&O")],
            None: [None, ()],
        },
    ),
    "doc_length": ("pages_num", {"<=30": [1, 30], ">=31": [31, 400]}),
    "doc_type": (
        "doc_type",
        {short: [long] for short, long in DOC_TYPES.items()} | {"Fund": ["Fund"]},
    ),
    "evidence_type": (
        "evidence",
        {
            "text": [
                {"plain_text": (1,)},
                {"generalized_text (layout)": (1,), "plain_text": (2,)},
                {"generalized_text": (1,)},
            ],
            "table": [{"table": (1, 2)}, {"table": (1, 2), "image": ()}],
            "chart": [
                {"pie_chart": (1,), "line_chart": (2,)},
                {"bar_chart": (1,), "scatter_chart": (2,)},
                {"image": (1,)},
            ],
            "mix": [{"table": (1,), "plain_text": (1,)}, {"table": (1,), "bar_chart": (1,)}, {"map": (1,)}],
            None: [{"table": ()}],
        },
    ),
    "evidence_page": (  # each page once
        "evidence",
        {
            "single": [{"table": pages} for pages in ((1, 1, 1), (10,), (30,), (31,))],
            "cross": [{"table": pages} for pages in ((10, 11), (1, 1, 1, 39), (20, 21))],
            None: [{"table": ()}],
        },
    ),
    "evidence_index": (
        "evidence",
        {
            "1-10": [{"table": pages} for pages in ((1, 1, 1), (10,))],
            "11-20": [{"table": pages} for pages in ((10, 11), (1, 1, 1, 39))],
            "21-30": [{"table": pages} for pages in ((20, 21), (30,))],
            ">30": [{"table": (31,)}],
            None: [{"table": ()}],
        },
    ),
    "extract": ("extract_steps", {"<=4": [0, 4], ">=5": [5, 11]}),
    "compute": ("calc_steps", {"<=4": [0, 4], ">=5": [5, 11]}),
    "calculation": ("calc_steps", {"<=2": [0, 2], "3-4": [3, 4], "5-6": [5, 6], ">=7": [7]}),
    "contextual_extraction": (
        "evidence",
        {
            bin_: [{"plain_text": (1,) * count, "table": (1,)} for count in counts]
            for bin_, counts in EXTRACTIONS.items()
        },
    ),
    "visual_extraction": (
        "evidence",
        {
            bin_: [{"plain_text": (1,), "bar_chart": (1,) * count} for count in counts]
            for bin_, counts in EXTRACTIONS.items()
        },
    ),
}


@pytest.mark.parametrize("dimension", BINS)
def test_a_question_is_in_one_bin_of_a_dimension_or_in_none(dimension):
    field, bins = BINS[dimension]
    found = {label: [name(dimension, **{field: value}) for value in values] for label, values in bins.items()}
    assert found == {label: [label] * len(values) for label, values in bins.items()}


def test_a_question_belongs_to_each_of_its_scenarios():
    found = groups(replace(PLAIN, scenarios=("PM", "FSA")))
    assert [group.name for group in found if group.dimension == "scenario_type"] == ["PM", "FSA"]


def test_labels_of_the_record_count_before_derived_ones():
    derived = {group.dimension: group for group in groups(PLAIN) if group.derived}
    assert derived["extract"].name == derived["compute"].name == "<=4"
    labeled = groups(replace(PLAIN, extract_steps=9, calc_steps=9))
    assert Group("extract", ">=5") in labeled
    assert Group("compute", ">=5") in labeled


def test_without_label_and_program_there_is_no_group_of_calculations():
    assert name("compute", python_solution="no program(") is None
    assert name("compute", python_solution="no program(", calc_steps=2) == "<=4"


def test_every_published_group_can_come_up():
    made = {(dimension, label) for dimension, (_, bins) in BINS.items() for label in bins}
    assert {(dimension, label) for dimension, label in group_sizes() if dimension != "scenario_type"} <= made
