"""The published numbers of the benchmarks: named as ohr names its own, in its units, with their warnings."""

import csv
from importlib.resources import files

import pytest

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.capture_items import TASKS
from ohr.benchmarks.fincriticaled import FinCriticalED
from ohr.benchmarks.fincriticaled.protocols import DOCUMENT_TYPES
from ohr.benchmarks.finmmdocr import FinMMDocR
from ohr.benchmarks.finqa_tablequest import FinqaTableQuest
from ohr.benchmarks.ohrbench import OhrBench
from ohr.benchmarks.tablequest import TableQuest

NUMBERS = FinMMDocR(root="sample").published()
OF_FCMBENCH, OF_FINCRITICALED = FcmBench(root="sample").published(), FinCriticalED(root="sample").published()
OF_OHRBENCH = OhrBench(root="/nowhere").published()


def test_each_number_of_fcmbench_has_the_name_of_an_aggregate_and_its_table():
    best = [n for n in OF_FCMBENCH if n.system == "Gemini 3 Pro" and n.metric.startswith("overall")]
    assert [(n.table.partition(",")[0], n.metric, n.group, n.setting.partition(",")[0], n.value) for n in best] == [
        ("Table 4", "overall", "all", "full set", 0.6516),
        ("Table A5", "overall_without_iqe", "language=zh", "Chinese questions of the full set", 0.6505),
        ("Table A6", "overall_without_iqe", "language=en", "English questions of the full set", 0.7309),
        ("Leaderboard of V1.0", "overall", "all", "full set", 0.6461),
        ("Leaderboard of V1.0", "overall", "all", "small set", 0.6194),
    ]
    assert {n.metric for n in OF_FCMBENCH} == {*TASKS, "overall", "overall_without_iqe"}
    assert {n.stage for n in OF_FCMBENCH} == {"generation"}


def test_versions_of_fcmbench_are_kept_apart():
    assert {n.table.partition(",")[0] for n in OF_FCMBENCH if n.main} == {"Table 4"}
    warned = {n.table.partition(",")[0] for n in OF_FCMBENCH if "V1.0" in n.warning}
    assert warned == {"Leaderboard of V1.0"}
    assert len([n for n in OF_FCMBENCH if n.warning]) == 24 * 9


def test_values_are_shares():
    numbers = OF_FINCRITICALED
    assert all(0 <= number.value <= 1 for number in numbers)
    (number,) = [
        n for n in numbers if (n.system, n.metric, n.group, n.main) == ("GPT-5", "ffa", "type=Monetary Unit", True)
    ]
    assert number.value == 0.9235


def test_the_main_table_has_the_columns_of_the_readme_the_headline_last():
    columns = dict.fromkeys((number.metric, number.group) for number in OF_FINCRITICALED if number.main)
    types = ("Number", "Temporal", "Monetary Unit", "Reporting Entity", "Financial Concepts")
    by_type = [("ffa", f"type={name}") for name in types]
    assert list(columns) == [("rouge1", "all"), ("rougeL", "all"), ("edit_distance", "all"), *by_type, ("ffa", "all")]


def test_every_ffa_of_the_main_table_warns_of_its_part_of_the_data():
    main = [number for number in OF_FINCRITICALED if number.main]
    assert all("part of the data" in number.warning for number in main if number.metric == "ffa")
    assert len({number.system for number in main if "170 of 881" in number.warning}) == 8
    assert not any(number.warning for number in main if number.metric != "ffa")


def test_scores_by_type_of_document_are_domains_of_another_table():
    numbers = {number.group for number in OF_FINCRITICALED if number.table.startswith("FFA by document type")}
    assert numbers == {"all", *DOCUMENT_TYPES}


def number(system, metric, table):
    (numbers,) = [n.value for n in NUMBERS if (n.system, n.metric) == (system, metric) and n.table.startswith(table)]
    return numbers


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
    numbers = [n for n in NUMBERS if n.system == system and n.table.startswith(table)]
    assert numbers
    assert all(warning in n.warning for n in numbers)


def test_the_copied_counts_are_left_out():
    groups = {n.group for n in NUMBERS if n.system == "Mistral Small 3.1" and n.setting.startswith("text")}
    assert not any(group.startswith("scenario_count") for group in groups)
    assert "scenario_count=scenarios 1" in {n.group for n in NUMBERS}
    assert "scenario FSA=yes" in groups


def test_numbers_of_tablequest_have_their_units():
    held = TableQuest(root="sample").published()
    ratings = [number for number in held if number.metric == "elo"]
    assert len(ratings) == 32
    assert {number.unit for number in ratings} == {"number"}
    assert {number.group for number in held} == {"all", *(f"level={level}" for level in ("easy", "medium", "hard"))}
    assert {(number.metric, number.group == "all") for number in held if number.unit == "share"} == {
        ("accuracy", True),
        ("table_accuracy", False),
    }
    (best,) = [number for number in held if number.system == "gpt-4o-vision" and number.metric == "accuracy"]
    assert best.value == 0.7


def test_ratings_on_another_scale_carry_a_warning():
    for protocol, warned in (("clean", {"elo"}), ("reference", set())):
        numbers = TableQuest(root="sample", protocol=protocol).published()
        assert {number.metric for number in numbers if number.warning} == warned


def test_accuracies_of_finqa_tablequest_name_what_was_read():
    assert len(FinqaTableQuest(root="sample").published()) == 8
    assert FinqaTableQuest(root="sample").published()[1].setting.count("the 3 best pages") == 1


def test_every_printed_number_of_ohrbench_is_published_once_with_source_and_date():
    folder = files("ohr.benchmarks.ohrbench") / "published"
    cells = 0
    for path in folder.iterdir():
        if path.name.endswith(".csv"):
            read = csv.DictReader(path.read_text("utf-8").splitlines())
            cells += sum(
                bool(v) for row in read for k, v in row.items() if k not in ("stage", "system", "kind", "generator")
            )
    assert len(OF_OHRBENCH) == cells == 618  # 205 + 132 + 8 + 24 + 81 + 168
    assert all(("arXiv:2412.02592" in n.table or "1f421eb" in n.table) and n.setting for n in OF_OHRBENCH)


def test_shares_of_ohrbench_are_shares_and_only_the_main_tables_are_main():
    numbers = OF_OHRBENCH
    assert all(0 <= number.value <= 1 for number in numbers if number.metric != "redundant_commands")
    assert {number.table.split(",")[0] for number in numbers if number.main} == {
        "Results of the repository", "Table S6", "Table S7", "Table S8",
    }  # fmt: skip
    (azure,) = [n for n in numbers if n.system == "Azure" and n.setting == "Ext2Gen-8B-R2" and n.group == "chart"]
    assert (azure.value, azure.metric, azure.stage) == (0.234, "f1", "overall")
