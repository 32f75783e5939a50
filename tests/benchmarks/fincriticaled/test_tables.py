import pytest

from ohr.benchmarks.fincriticaled.published_tables import published, rows
from ohr.benchmarks.fincriticaled.verify import DOCUMENT_TYPES

README = """
PP-OCRv5 97.54 96.55 3.10 | 95.70 90.29 90.00 86.62 93.75 91.91
MinerU2.5 95.71 95.30 6.02 | 98.76 96.48 54.05 91.09 96.44 94.64
DeepSeek-OCR 94.73 94.42 7.33 | 93.47 91.96 83.53 92.27 94.36 92.67
Qwen3-VL-8B 97.68 97.40 2.93 | 98.47 96.99 97.65 93.18 99.24 96.88
Gemma-3n-E4B 83.49 79.59 23.82 | 52.65 77.06 64.71 74.65 72.86 65.68
GPT-4o 90.40 88.35 16.01 | 59.56 84.59 81.92 81.78 70.84 71.68
GPT-5 91.81 89.56 15.79 | 66.83 94.48 92.35 89.19 91.77 81.65
Claude-Sonnet-4.6 98.84 98.73 1.69 | 98.59 97.99 97.06 94.02 98.94 97.23
Gemini-2.5-Pro 98.81 98.37 2.46 | 97.24 97.82 97.65 94.18 98.94 96.74
"""
COLUMNS = (
    "rouge1", "rougeL", "edit_distance", "number", "temporal", "monetary_unit", "reporting_entity",
    "financial_concepts", "ffa",
)  # fmt: skip


def main_rows():
    return {row["system"]: row for row in rows("facts.csv")}


@pytest.mark.parametrize("line", README.strip().splitlines(), ids=lambda line: line.split()[0])
def test_rows_are_those_of_the_readme(line):
    system, *printed = line.replace("|", "").split()
    assert [float(main_rows()[system][column]) for column in COLUMNS] == [float(value) for value in printed]


def test_all_13_systems_have_every_score():
    assert len(main_rows()) == 13
    assert all(row[column] for row in main_rows().values() for column in COLUMNS)


def test_values_are_shares():
    found = published()
    assert all(0 <= number.value <= 1 for number in found)
    (one,) = [n for n in found if (n.system, n.metric, n.group, n.main) == ("GPT-5", "ffa", "type=Monetary Unit", True)]
    assert one.value == 0.9235


def test_missing_rates_are_of_all_facts_and_of_numbers():
    missing = {(n.system, n.group): n.value for n in published() if n.metric == "missing_rate"}
    assert (missing["GPT-4o", "all"], missing["GPT-4o", "type=Number"]) == (0.2312, 0.3135)
    assert {system for system, group in missing if group == "all"} == {
        "GPT-4o", "GPT-5", "Qwen3-VL-8B", "Llama-4-Maverick", "Claude-Sonnet-4.6",
    }  # fmt: skip


def test_the_main_table_has_the_columns_of_the_readme_the_headline_last():
    columns = dict.fromkeys((number.metric, number.group) for number in published() if number.main)
    types = ("Number", "Temporal", "Monetary Unit", "Reporting Entity", "Financial Concepts")
    by_type = [("ffa", f"type={name}") for name in types]
    assert list(columns) == [("rouge1", "all"), ("rougeL", "all"), ("edit_distance", "all"), *by_type, ("ffa", "all")]


def test_every_ffa_of_the_main_table_warns_of_its_part_of_the_data():
    main = [number for number in published() if number.main]
    assert all("part of the data" in number.warning for number in main if number.metric == "ffa")
    assert len({number.system for number in main if "170 of 881" in number.warning}) == 8
    assert not any(number.warning for number in main if number.metric != "ffa")


def test_scores_by_type_of_document_are_domains_of_another_table():
    found = {number.group for number in published() if number.table.startswith("FFA by document type")}
    assert found == {"all", *DOCUMENT_TYPES}


def test_no_published_ffa_exceeds_the_share_of_facts_that_were_found():
    """As it must be where FFA is the share of correct facts among all."""
    scores = {(n.system, n.group): n.value for n in published() if n.metric == "ffa" and n.main}
    for number in published():
        if number.metric == "missing_rate":
            assert scores[number.system, number.group] <= 1 - number.value + 1e-9


def fits(printed, facts):
    correct = round(float(printed) / 100 * facts)
    return f"{100 * correct / facts:.2f}" == f"{float(printed):.2f}"


def test_eight_systems_have_whole_numbers_of_170_monetary_units_and_seven_of_them_of_1203_entities():
    fitting = [row for row in main_rows().values() if fits(row["monetary_unit"], 170)]
    assert len(fitting) == 8
    assert sum(fits(row["reporting_entity"], 1203) for row in fitting) == 7


def test_document_types_agree_with_the_main_table_up_to_a_hundredth():
    for row in rows("document_types.csv"):
        assert float(row["all"]) == pytest.approx(float(main_rows()[row["system"]]["ffa"]), abs=0.0101)
