"""The sample: sound data, gold programs that give the golds, canned outputs with the scores that they promise."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from ohr.benchmarks.finmmdocr import FinMMDocR
from ohr.benchmarks.finmmdocr.grouping import calc_steps, extract_steps
from ohr.benchmarks.finmmdocr.numbers import cot_accuracy, is_no_answer, pot_accuracy
from ohr.benchmarks.finmmdocr.programs import extract_program
from ohr.benchmarks.finmmdocr.release_files import page_image_file, page_texts, survey
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
