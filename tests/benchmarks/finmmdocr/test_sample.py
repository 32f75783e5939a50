"""The sample: sound data, gold programs that give the golds, canned outputs with the scores that they promise."""

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from ohr.benchmarks.finmmdocr import FinMMDocR
from ohr.benchmarks.finmmdocr.grouping import calc_steps, evidence_type, extract_steps, groups
from ohr.benchmarks.finmmdocr.numbers import cot_accuracy, is_no_answer, pot_accuracy
from ohr.benchmarks.finmmdocr.programs import extract_program
from ohr.benchmarks.finmmdocr.release_files import page_image_file, page_texts, survey
from ohr.files.images import read_image
from ohr.report.leaderboard.answers import read_answers, score_answers
from samples import finmmdocr as build

SAMPLE = build.SAMPLE
RECORDS = survey(SAMPLE).records
BY_ID = {record.question_id: record for record in RECORDS}
OUTPUTS = json.loads((SAMPLE / "outputs.json").read_text("utf-8"))
DOCUMENTS = {record.doc_id: record for record in RECORDS}


def run(program):
    """Run a program of the sample; None where it fails or does not end."""
    if "while True" in program:
        return None
    space = {}
    try:
        exec(program, space)
        return space["solution"]()
    except Exception:
        return None


def test_the_sample_is_without_faults():
    assert survey(SAMPLE).faults == ()


def test_amounts():
    assert len(RECORDS) == 8
    assert {name: record.pages_num for name, record in DOCUMENTS.items()} == {
        "complong_tolvane_10q": 12,
        "lichuan_research": 35,
    }
    assert {record.language for record in RECORDS} == {"en", "zh"}


def test_page_images_are_small_enough_to_ship():
    images = list((SAMPLE / "images").rglob("*.png"))
    assert len(images) == 47
    assert sum(path.stat().st_size for path in images) <= 2_500_000


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.question_id)
def test_the_gold_program_gives_the_gold(record):
    assert pot_accuracy(run(record.python_solution), record.ground_truth, "clean") == 1
    assert run(record.python_solution) == record.ground_truth


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.question_id)
def test_the_numbers_of_a_gold_program_are_on_its_evidence_pages(record):
    texts = page_texts(SAMPLE, record)
    seen = " ".join(texts[page - 1] for page in record.gold_pages).replace(",", "")
    values = re.findall(r"^    \w+ = ([\d.]+)(?:  #.*)?$", record.python_solution, re.MULTILINE)
    assert len(values) == extract_steps(record.evidence) == record.extract_steps
    for value in map(float, values):
        printed = {f"{value:g}", f"{value:.2f}", f"{value * 100:g}%"}
        assert any(re.search(rf"(?<![\d.]){re.escape(text)}(?![\d.]*\d)", seen) for text in printed), value


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.question_id)
def test_labels_of_steps_are_those_of_program_and_evidence(record):
    assert record.calc_steps == calc_steps(record.python_solution)


def test_the_questions_have_all_the_kinds_that_a_sample_needs():
    assert {evidence_type(record.evidence) for record in RECORDS} == {"text", "table", "chart", "mix"}
    assert {len(record.gold_pages) for record in RECORDS} >= {1, 2}
    assert {len(record.scenarios) for record in RECORDS} >= {0, 1, 3}
    assert {record.extract_steps for record in RECORDS} >= {2, 6}
    assert {record.calc_steps for record in RECORDS} >= {3, 7}
    assert any(record.ground_truth < 0 for record in RECORDS)
    assert any(record.ground_truth == 0 for record in RECORDS)
    assert any("percent" in record.question for record in RECORDS)
    assert any(len(pages) > len(set(pages)) for record in RECORDS for pages in record.evidence.values())
    names = {(group.dimension, group.name) for record in RECORDS for group in groups(record)}
    assert {name for dimension, name in names if dimension == "evidence_index"} == {"1-10", "11-20", "21-30", ">30"}
    assert {name for dimension, name in names if dimension == "doc_length"} == {"<=30", ">=31"}


@pytest.mark.parametrize("protocol", ["reference", "clean"])
def test_canned_outputs_score_as_they_promise(protocol):
    for output in OUTPUTS:
        gold, text = BY_ID[output["question_id"]].ground_truth, output["output"]
        if output["kind"] == "pot":
            score = pot_accuracy(run(extract_program(text, protocol)), gold, protocol)
        else:
            score = 0 if is_no_answer(text) else cot_accuracy(text, gold, protocol)
        assert score == output["expected"][protocol], output


def test_every_question_has_every_canned_output():
    cases = [(output["kind"], output["case"]) for output in OUTPUTS if output["question_id"] == "test-0"]
    assert len(OUTPUTS) == len(RECORDS) * len(cases)
    needed = ("right", "off by 0.19 %", "off by 0.21 %", "exception", "infinite loop", "string return", "no code fence")
    assert {("pot", case) for case in needed} <= set(cases)


@pytest.mark.parametrize("record", DOCUMENTS.values(), ids=lambda record: record.doc_id)
def test_pages_are_pictures_with_text(record):
    for index, text in enumerate(page_texts(SAMPLE, record)):
        image = read_image(page_image_file(SAMPLE, record, index))
        assert image.shape[0] > image.shape[1] > 800
        assert np.mean(image < 128) > 0.005
        assert len(text) > 300


def amounts(line):
    """The numbers of a line of a statement; parentheses are negative, a dash is 0."""
    found = re.findall(r"\(?(?<![\w.])[\d,]+(?:\.\d+)?\)?%?|—", line.replace("$", " "))
    return [0 if t == "—" else float(t.strip("()%").replace(",", "")) * (-1 if t[0] == "(" else 1) for t in found]


def line(page, label):
    """The amounts of the first line of a page that begins with a label."""
    text = page_texts(SAMPLE, DOCUMENTS["complong_tolvane_10q"])[page - 1]
    found = next(row for row in text.split("\n") if row.startswith(label + " "))
    return np.array(amounts(found[len(label) :]))


def test_the_english_statements_add_up():
    assert (line(3, "Total assets") == line(3, "Total liabilities and stockholders' equity")).all()
    assert (line(3, "Total liabilities") + line(3, "Total stockholders' equity") == line(3, "Total assets")).all()
    assert (line(4, "Total revenue") - line(4, "Total cost of revenue") == line(4, "Gross profit")).all()
    assert (line(4, "Gross profit") - line(4, "Total operating expenses") == line(4, "Operating income")).all()
    before, tax = line(4, "Income before income taxes"), line(4, "Provision for income taxes")
    assert (before - tax == line(4, "Net income")).all()
    assert (line(4, "Net income")[2:] == line(6, "Net income")).all()
    flows = [line(6, f"Net cash {what} activities") for what in ("provided by operating", "used in investing")]
    flows += [line(6, "Net cash provided by (used in) financing activities")]
    change = sum(flows) + line(6, "Effect of exchange rate changes on cash")
    assert (change == line(6, "Net increase in cash and cash equivalents")).all()
    start, end = "Cash and cash equivalents at beginning of period", "Cash and cash equivalents at end of period"
    assert (line(6, start) + change == line(6, end)).all()
    assert line(6, end)[0] == line(3, "Cash and cash equivalents")[0]
    assert (line(4, "Total revenue") == line(7, "Total revenue")).all()
    assert (line(4, "Operating income") == line(9, "Operating income")).all()
    assert (line(4, "Operating income") == line(11, "Operating income")).all()
    assert (line(9, "Total principal") == [124375, 146000]).all()


def chinese(page, label, occurrence=0):
    text = page_texts(SAMPLE, DOCUMENTS["lichuan_research"])[page - 1]
    found = [row for row in text.split("\n") if row.startswith(label + " ")][occurrence]
    return np.array([float(part.replace(",", "")) for part in found[len(label) :].split()])


def test_the_chinese_statements_add_up():
    balance = chinese(34, "负债合计") + chinese(34, "归属母公司股东权益") + chinese(34, "少数股东权益")
    assert (balance == chinese(34, "资产总计")).all()
    assert (balance == chinese(34, "负债和股东权益总计")).all()
    flows = chinese(34, "经营活动现金流") + chinese(34, "投资活动现金流") + chinese(34, "筹资活动现金流")
    assert (flows == chinese(34, "现金净增加额")).all()
    assert (np.diff(chinese(34, "货币资金")) == flows[1:]).all()
    assert (chinese(34, "利润总额") - chinese(34, "所得税费用") == chinese(34, "净利润")).all()
    assert (chinese(34, "营业收入")[:5] == chinese(1, "营业收入")).all()
    parts = sum(chinese(30, name) for name in ("工业泵", "特种阀门", "智能监测", "运维服务"))
    assert (parts == chinese(30, "营业收入合计")).all()
    assert (chinese(30, "营业收入合计")[1:] == chinese(34, "营业收入")).all()


def test_questions_and_outputs_are_those_of_the_sources():
    asked = build.read_yaml(build.SOURCE / "questions.yaml")
    made = [
        build.record(q, asked["documents"][q["doc_id"]], DOCUMENTS[q["doc_id"]].pages_num) for q in asked["questions"]
    ]
    assert made == json.loads((SAMPLE / "test.json").read_text("utf-8"))
    assert list(build.outputs(asked["questions"])) == OUTPUTS


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/share/fonts/opentype/noto").is_dir(), reason="Noto CJK is not installed")
@pytest.mark.parametrize("record", DOCUMENTS.values(), ids=lambda record: record.doc_id)
def test_the_build_gives_the_shipped_bytes(record):
    pdf = build.compile_pdf(record.doc_id)
    assert build.page_texts(pdf) == page_texts(SAMPLE, record)
    for index, content in enumerate(build.page_images(pdf)):
        assert content == page_image_file(SAMPLE, record, index).read_bytes()


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_the_replies_to_try_score_as_their_cases_say(protocol):
    replies = Path(str(files("ohr.benchmarks.finmmdocr"))) / "sample" / "replies.jsonl"
    found = score_answers(FinMMDocR(root="sample", protocol=protocol), read_answers(replies), "replies")
    assert found.aggregates["acc"][1].mean == pytest.approx(5 / 8)
    assert found.missing == []
