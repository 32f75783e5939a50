"""The published numbers: consistent with each other, apart from the warnings."""

from collections import defaultdict

import pytest

from ohr.benchmarks.finmmdocr.published_numbers import group_sizes, published, rows
from ohr.benchmarks.finmmdocr.records import DOC_TYPES, SCENARIOS
from ohr.benchmarks.finmmdocr.release_files import survey
from ohr.benchmarks.finmmdocr.verify import tallies

NUMBERS = published()
SIZES = group_sizes()
BY_GROUP = [f"table-{name}.csv" for name in ("3", "e1", "e2", "e3", "e4")]
LABELS = {"system", "input", "setting", "warning"}


def number(system, metric, table):
    (found,) = [n.value for n in NUMBERS if (n.system, n.metric) == (system, metric) and n.table.startswith(table)]
    return found


def right(percent, size):
    """How many of a group are right, if that number of them has this percentage."""
    count = round(percent * size / 100)
    return count if abs(count / size * 100 - percent) <= 0.00501 else None


@pytest.mark.parametrize("file", BY_GROUP)
def test_every_percentage_is_a_share_of_its_group(file):
    for row in rows(file):
        for column in row.keys() - LABELS - {"all"}:
            size = SIZES[tuple(column.split(":", 1))]
            assert not row[column] or right(float(row[column]), size) is not None, (row["system"], column)


def test_the_groups_of_a_dimension_sum_to_the_whole_where_there_is_no_warning():
    whole = {(r["system"], r["input"]): right(float(r["all"]), 1200) for r in rows("table-3.csv")}
    assert None not in whole.values()
    for file in BY_GROUP:
        for row in rows(file):
            sums, sizes = defaultdict(int), defaultdict(int)
            for column in row.keys() - LABELS - {"all"}:
                dimension = column.split(":")[0]
                if row[column] and not dimension.startswith("scenario_"):  # which leaves out those without any
                    size = SIZES[tuple(column.split(":", 1))]
                    sums[dimension] += right(float(row[column]), size)
                    sizes[dimension] += size
            total = whole[row["system"], row["input"]]
            agrees = all(0 <= total - sums[name] <= 1200 - sizes[name] for name in sums)
            assert agrees or row["warning"], (file, row["system"], row["input"])


def test_scenario_counts_sum_to_those_with_scenarios():
    with_any = {(r["system"], r["input"]): right(float(r["scenario:w/"]), 795) for r in rows("table-3.csv")}
    for row in rows("table-e1.csv"):
        cells = {c: v for c, v in row.items() if c.startswith("scenario_count") and v}
        total = sum(right(float(v), SIZES[tuple(c.split(":", 1))]) for c, v in cells.items())
        assert total == with_any[row["system"], row["input"]] or (not cells and row["warning"])


def test_sizes_sum_to_the_questions_or_a_few_less():
    sums = defaultdict(int)
    for (dimension, _), size in SIZES.items():
        sums[dimension] += size
    assert {name: sums[name] for name in ("doc_length", "doc_type", "evidence_page")} == {
        "doc_length": 1200,
        "doc_type": 1200,
        "evidence_page": 1200,
    }
    assert sums["scenario_count"] == SIZES["scenario", "w/"]
    several = ("scenario_count", "scenario_type")
    assert all(1196 <= total <= 1200 for name, total in sums.items() if name not in several)


def test_groups_have_names_that_are_known():
    assert {name for dimension, name in SIZES if dimension == "doc_type"} == set(DOC_TYPES)
    assert {name for dimension, name in SIZES if dimension == "scenario_type"} == set(SCENARIOS)


@pytest.mark.parametrize(
    ("system", "metric", "table", "value"),
    [
        ("ColQwen2.5", "recall_at_10", "appendix G.2", 0.8831),
        ("ColQwen2.5", "golden_k", "appendix G.2", 8.44),
        ("VisRAG", "mrr_at_10", "appendix G.2", 0.7404),
        ("BM25", "recall_at_10", "appendix G.2", 0.3409),
        ("Contriever", "recall_at_10", "appendix G.2", 0.5758),
        ("Contriever", "recall_at_10", "Output of", 0.5158),
        ("BM25", "recall_at_20", "Output of", 0.6321),
        ("M3DocRAG", "pot_accuracy", "appendix G.3", 0.3658),
        ("VRAG-RL", "pot_accuracy", "appendix G.3", 0.0292),
    ],
)
def test_numbers_are_in_ohrs_units(system, metric, table, value):
    assert number(system, metric, table) == value


def test_all_systems_are_there():
    def count(table):
        return len({(n.system, n.setting) for n in NUMBERS if n.table.startswith(table)})

    assert [count(t) for t in ("Table 3,", "appendix G.2", "appendix G.3", "Output of")] == [26, 6, 9, 6]
    assert len({(n.system, n.setting, n.group, n.metric, n.table) for n in NUMBERS}) == len(NUMBERS)


def test_only_golden_k_is_no_share():
    assert {n.metric for n in NUMBERS if n.unit == "number"} == {"golden_k"}
    assert all(0 <= n.value <= 1 for n in NUMBERS if n.unit == "share")


@pytest.mark.parametrize(
    ("system", "table", "warning"),
    [
        ("BM25", "appendix G.2", "character by character"),
        ("BM25", "Output of", "character by character"),
        ("Contriever", "appendix G.2", ".5158 in the notebook"),
        ("ViDoRAG", "appendix G.3", "partial run"),
        ("M3DocRAG", "appendix G.3", "page 0"),
    ],
)
def test_a_faulty_number_carries_its_warning(system, table, warning):
    found = [n for n in NUMBERS if n.system == system and n.table.startswith(table)]
    assert found
    assert all(warning in n.warning for n in found)


def test_the_copied_counts_are_left_out():
    groups = {n.group for n in NUMBERS if n.system == "Mistral Small 3.1" and n.setting.startswith("text")}
    assert not any(group.startswith("scenario_count") for group in groups)
    assert "scenario_count=scenarios 1" in {n.group for n in NUMBERS}
    assert "scenario FSA=yes" in groups


def test_a_copy_is_counted_by_group_only_where_it_has_the_labels(copy):
    records = survey(copy.write(copy.record(0), copy.record(1, doc_id="complong_1"))).records
    found = {tally.what: (tally.found, tally.published) for tally in tallies(records)}
    assert found["questions"] == (2, 1200)
    assert found["documents"] == (2, 837)
    assert found["questions: en"] == (1, 600)
    assert found["doc_length: <=30"] == (2, 591)
    assert found["doc_type: MI"] == (0, 24)
    assert found["extract: <=4"] == (None, 632)
    assert found["scenario: w/"] == (None, 795)
    labelled = survey(copy.write(copy.record(0, scenarios=["PM"], extract_steps=2, calc_steps=2))).records
    found = {tally.what: tally.found for tally in tallies(labelled)}
    assert [found["extract: <=4"], found["compute: >=5"], found["scenario: w/"], found["scenario: w/o"]] == [1, 0, 1, 0]
    assert found["visual_extraction: 0"] is None
