"""The sample: its pages, its figures, and the scores of its recorded replies and verdicts."""

import json
from collections import Counter
from importlib.util import find_spec
from io import BytesIO
from math import log10
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from ohr.benchmarks.tablequest.answer_match import deterministic_accuracy, parse_answer
from ohr.benchmarks.tablequest.figures import figures
from ohr.benchmarks.tablequest.pairwise import forfeit, parse_pairwise, settle
from ohr.benchmarks.tablequest.question_files import read_questions
from ohr.benchmarks.tablequest.recall import bucket, token_recall
from ohr.benchmarks.tablequest.totals import rating
from samples import tablequest as build

SAMPLE = build.SAMPLE
REPORTS = ("brindlemere_2023", "callowridge_2022", "pennistow_2023")


MODELS = ("baseline", "north", "delta", "plain")


def recorded(name):
    """Read replies by their id."""
    lines = (SAMPLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record["reply"] for record in map(json.loads, lines)}


@pytest.fixture(scope="module")
def questions():
    return {question.id: question for question in read_questions(SAMPLE / "questions.jsonl")}


def tables(report):
    """Return each table's rows of figures by their label; cells without a figure are left out."""
    root = ElementTree.parse(build.SOURCE / f"{report}.html").getroot()
    found = []
    for table in root.iter("table"):
        rows = {}
        for row in table.iter("tr"):
            label, *cells = ["".join(cell.itertext()).strip() for cell in row if cell.get("rowspan") is None]
            rows[label] = [float(one.value) for cell in cells for one in figures(cell)]
        found.append(rows)
    return found


def test_the_sample_has_three_questions_of_each_level_about_three_reports(questions):
    assert Counter(question.difficulty for question in questions.values()) == {"easy": 3, "medium": 3, "hard": 3}
    assert Counter(question.context for question in questions.values()).most_common()[-1][1] == 3


def test_questions_are_those_of_the_sources(questions):
    written = [json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert written == build.questions()


def test_the_sample_is_small():
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) <= 1_000_000


OTHERS = [pytest.param(report, marks=pytest.mark.acceptance) for report in REPORTS[:-1]]


@pytest.mark.parametrize("report", [*OTHERS, REPORTS[-1]])
@pytest.mark.skipif(not (find_spec("typst") and find_spec("matplotlib")), reason="pages are set with typst")
def test_the_build_draws_the_shipped_page(report):
    drawn = Image.open(BytesIO(build.page_png(report, build.DPI))).convert("RGB")
    shipped = Image.open(SAMPLE / "pages" / f"{report}.png").convert("RGB")
    assert shipped.size == (1275, 1650)
    assert np.array_equal(np.asarray(drawn), np.asarray(shipped))


def test_one_report_has_merged_cells_and_one_units_in_captions():
    merged, captioned = ((build.SOURCE / f"{name}.html").read_text("utf-8") for name in REPORTS[:0:-1])
    assert 'rowspan="' in merged
    assert 'colspan="' in merged
    assert "(dollars in thousands)</caption>" in captioned


def test_totals_of_inventories_and_plant_add_up():
    inventories, plant = tables("brindlemere_2023")
    for column in (0, 1):
        held = {label: row[column] for label, row in inventories.items() if len(row) == 2}
        parts = ("Raw materials", "Work in process", "Finished goods", "Supplies and tooling")
        assert sum(held[part] for part in parts) == pytest.approx(held["Inventories, gross"])
        assert held["Inventories, gross"] + held["Less: reserve for excess and obsolete items"] == pytest.approx(
            held["Inventories, net"]
        )
        held = {label: row[column] for label, row in plant.items() if len(row) == 2}
        parts = ("Land and improvements", "Buildings", "Machinery and equipment", "Construction in progress")
        gross = held["Property, plant and equipment, gross"]
        assert sum(held[part] for part in parts) == pytest.approx(gross)
        assert gross + held["Less: accumulated depreciation"] == pytest.approx(
            held["Property, plant and equipment, net"]
        )


def test_totals_of_debt_and_taxes_add_up():
    debt, taxes = tables("callowridge_2022")
    due = ("2023", "2024", "2025", "2026", "2027", "Thereafter")
    assert sum(debt[year][0] for year in due) == debt["Total maturities"][0]
    assert debt["Less: current portion"][0] == -debt["2023"][0]
    deductions = debt["Less: unamortized discount and issuance costs"][0] + debt["Less: current portion"][0]
    assert debt["Total maturities"][0] + deductions == debt["Long-term debt, net"][0]
    *parts, effective = [row for label, row in taxes.items() if label]
    assert np.sum(parts, axis=0) == pytest.approx(effective)


def test_totals_of_segments_and_restructuring_add_up():
    segments, liability = tables("pennistow_2023")
    sales = [segments[name][:2] for name in ("Snacks", "Frozen meals", "Bakery")]
    profits = [segments[name][-2:] for name in ("Snacks", "Frozen meals", "Bakery", "Corporate and unallocated")]
    assert np.sum(sales, axis=0) == pytest.approx(segments["Total"][:2])
    assert np.sum(profits, axis=0) == pytest.approx(segments["Total"][2:])
    opening, charges, payments, ending = (
        np.array(liability[label])
        for label in (
            "Balance at the beginning of fiscal 2023", "Charges", "Cash payments", "Balance at the end of fiscal 2023",
        )
    )  # fmt: skip
    impaired = np.array([0, *liability["Non-cash items(1)"]])
    assert opening + charges + payments + impaired == pytest.approx(ending)
    assert all(row[0] + row[1] == pytest.approx(row[2]) for row in (opening, charges, payments, ending))
    assert charges[2] == pytest.approx(41.8 + 4.5)


def test_calculated_answers_follow_from_the_tables(questions):
    inventories, _ = tables("brindlemere_2023")
    now, before = inventories["Inventories, net"]
    debt, _ = tables("callowridge_2022")
    segments, _ = tables("pennistow_2023")
    for name, value in (
        ("brindlemere_2023-m", 100 * (now - before) / before),
        ("callowridge_2022-m", 100 * debt["Thereafter"][0] / debt["Total maturities"][0]),
        ("pennistow_2023-m", 100 * segments["Snacks"][2] / segments["Snacks"][0]),
    ):
        assert questions[name].answer == f"{value:.1f}%"


def test_replies_are_judged_by_rule_where_a_rule_can(questions):
    found = {
        model: [
            deterministic_accuracy(parse_answer(reply), questions[name].answer)
            for name, reply in recorded(f"replies/{model}").items()
            if questions[name].difficulty != "hard"
        ]
        for model in MODELS
    }
    counts = {model: Counter(one.outcome for one in verdicts) for model, verdicts in found.items()}
    assert {model: (count["correct"], count["undecided"]) for model, count in counts.items()} == {
        "baseline": (5, 0), "north": (6, 0), "delta": (1, 3), "plain": (3, 0),
    }  # fmt: skip
    assert [one.rule for one in found["plain"]].count("empty") == 1


def test_verdicts_of_both_orders_make_ratings(questions):
    theirs = recorded("replies/baseline")
    records, ratings = {}, {}
    for model in MODELS[1:]:
        mine, given = recorded(f"replies/{model}"), recorded(f"verdicts/{model}")
        held = []
        for name in questions:
            verdicts = (given.get(f"{name}/{order}", "") for order in ("first", "second"))
            answers = (parse_answer(replies[name]) for replies in (mine, theirs))
            held.append(forfeit(*answers) or settle(*map(parse_pairwise, verdicts)))
        games = [[one.outcome for one in held].count(result) for result in ("win", "tie", "loss")]
        records[model] = (*games, sum(one.disagree for one in held), sum(one.unparsed for one in held))
        ratings[model] = rating([(games[0] + games[1] / 2) / sum(games)], [sum(games)])
    assert records == {"north": (4, 5, 0, 1, 1), "delta": (0, 4, 5, 1, 1), "plain": (0, 4, 5, 1, 2)}
    assert ratings == pytest.approx(
        {
            "north": 1000 + 400 * log10(6.5 / 2.5),
            "delta": 1000 + 400 * log10(2 / 7),
            "plain": 1000 + 400 * log10(2 / 7),
        }
    )


def test_the_pairs_for_recall_are_one_for_each_bucket():
    pytest.importorskip("nltk")
    found = [token_recall(**pair) for pair in json.loads((SAMPLE / "recall.json").read_text("utf-8"))]
    assert [bucket(len(one["answer_tokens"])) for one in found] == ["0-5", "5-10", "10-15", "15-20", "20+"]
    assert found[0]["multiset"] == 1
    assert all(one["multiset"] <= one["membership"] for one in found)
    assert found[2]["multiset"] < found[2]["membership"]
