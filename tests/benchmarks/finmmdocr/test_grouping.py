"""Groups of questions."""

from dataclasses import replace

import pytest

from ohr.benchmarks.finmmdocr.grouping import Group, calc_steps, evidence_type, extract_steps, groups
from ohr.benchmarks.finmmdocr.published_numbers import group_sizes
from ohr.benchmarks.finmmdocr.records import DOC_TYPES, Record

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


@pytest.mark.parametrize(
    ("scenarios", "with_any", "count"),
    [
        (None, None, None),
        ((), "w/o", None),
        (("PM",), "w/", "1"),
        (("PM", "PM"), "w/", "1"),
        (("PM", "FSA"), "w/", "2"),
        (("PM", "FSA", "T&A"), "w/", "3"),
        (("PM", "FSA", "T&A", "M&FI"), "w/", ">=4"),
        (("PM", "FSA", "T&A", "M&FI", "CS&O"), "w/", ">=4"),
    ],
)
def test_bins_of_scenarios(scenarios, with_any, count):
    assert name("scenario", scenarios=scenarios) == with_any
    assert name("scenario_count", scenarios=scenarios) == count


def test_a_question_belongs_to_each_of_its_scenarios():
    found = groups(replace(PLAIN, scenarios=("PM", "FSA")))
    assert [group.name for group in found if group.dimension == "scenario_type"] == ["PM", "FSA"]


@pytest.mark.parametrize(("pages", "bin_"), [(1, "<=30"), (30, "<=30"), (31, ">=31"), (400, ">=31")])
def test_bins_of_document_length(pages, bin_):
    assert name("doc_length", pages_num=pages) == bin_


@pytest.mark.parametrize(("short", "long"), DOC_TYPES.items())
def test_document_types_have_the_papers_abbreviations(short, long):
    assert name("doc_type", doc_type=long) == short


def test_a_document_type_of_another_name_is_a_group_of_its_own():
    assert name("doc_type", doc_type="Fund Research") == "Fund Research"


@pytest.mark.parametrize(
    ("evidence", "type_"),
    [
        ({"plain_text": (1,)}, "text"),
        ({"generalized_text (layout)": (1,), "plain_text": (2,)}, "text"),
        ({"generalized_text": (1,)}, "text"),
        ({"table": (1, 2)}, "table"),
        ({"table": (1, 2), "image": ()}, "table"),
        ({"pie_chart": (1,), "line_chart": (2,)}, "chart"),
        ({"bar_chart": (1,), "scatter_chart": (2,)}, "chart"),
        ({"image": (1,)}, "chart"),
        ({"table": (1,), "plain_text": (1,)}, "mix"),
        ({"table": (1,), "bar_chart": (1,)}, "mix"),
        ({"map": (1,)}, "mix"),
    ],
)
def test_types_of_evidence(evidence, type_):
    assert evidence_type(evidence) == type_
    assert name("evidence_type", evidence=evidence) == type_


@pytest.mark.parametrize(
    ("pages", "spread", "index"),
    [
        ((1, 1, 1), "single", "1-10"),
        ((10,), "single", "1-10"),
        ((10, 11), "cross", "11-20"),
        ((1, 1, 1, 39), "cross", "11-20"),
        ((20, 21), "cross", "21-30"),
        ((30,), "single", "21-30"),
        ((31,), "single", ">30"),
    ],
)
def test_bins_of_evidence_pages_count_each_page_once(pages, spread, index):
    evidence = {"table": pages}
    assert name("evidence_page", evidence=evidence) == spread
    assert name("evidence_index", evidence=evidence) == index


def test_a_question_without_evidence_is_in_no_group_of_evidence():
    found = {group.dimension for group in groups(replace(PLAIN, evidence={"table": ()}))}
    assert found.isdisjoint({"evidence_page", "evidence_type", "evidence_index"})


@pytest.mark.parametrize(("steps", "bin_"), [(0, "<=4"), (4, "<=4"), (5, ">=5"), (11, ">=5")])
def test_bins_of_steps(steps, bin_):
    assert name("extract", extract_steps=steps) == bin_
    assert name("compute", calc_steps=steps) == bin_


@pytest.mark.parametrize(
    ("steps", "bin_"), [(0, "<=2"), (2, "<=2"), (3, "3-4"), (4, "3-4"), (5, "5-6"), (6, "5-6"), (7, ">=7")]
)
def test_bins_of_calculations(steps, bin_):
    assert name("calculation", calc_steps=steps) == bin_


@pytest.mark.parametrize(
    ("count", "bin_"), [(0, "0"), (1, "1-2"), (2, "1-2"), (3, "3-4"), (4, "3-4"), (5, ">=5"), (9, ">=5")]
)
def test_bins_of_textual_and_visual_extraction(count, bin_):
    assert name("contextual_extraction", evidence={"plain_text": (1,) * count, "table": (1,)}) == bin_
    assert name("visual_extraction", evidence={"plain_text": (1,), "bar_chart": (1,) * count}) == bin_


def test_labels_of_the_record_count_before_derived_ones():
    derived = {group.dimension: group for group in groups(PLAIN) if group.derived}
    assert derived["extract"].name == derived["compute"].name == "<=4"
    labelled = groups(replace(PLAIN, extract_steps=9, calc_steps=9))
    assert Group("extract", ">=5") in labelled
    assert Group("compute", ">=5") in labelled


def test_without_label_and_program_there_is_no_group_of_calculations():
    assert name("compute", python_solution="no program(") is None
    assert name("compute", python_solution="no program(", calc_steps=2) == "<=4"


def test_every_published_group_can_come_up():
    made = {("scenario_type", label) for dimension, label in group_sizes() if dimension == "scenario_type"}
    for changes in (
        *({"scenarios": ("a", "b", "c", "d")[:count]} for count in range(5)),
        *({"pages_num": pages} for pages in (30, 31)),
        *({"doc_type": long} for long in DOC_TYPES.values()),
        *(
            {"evidence": {kind: (page,) * count}}
            for kind in ("table", "plain_text", "image")
            for page in (1, 11, 21, 31)
            for count in (1, 3, 5)
        ),
        *({"calc_steps": steps} for steps in (1, 3, 5, 7)),
        {"evidence": {"table": (1, 2)}},
        {"evidence": {"table": (1,) * 9}},
    ):
        made |= {(group.dimension, group.name) for group in groups(replace(PLAIN, **changes))}
    assert group_sizes().keys() <= made
