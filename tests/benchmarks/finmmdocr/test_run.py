"""Whole runs: the shipped pipeline, reduced; both protocols; written solutions; and answers made elsewhere."""

import json
import shutil
from math import isnan
from pathlib import Path

import pytest
from PIL import Image

from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from samples.finmmdocr import SAMPLE

from ..whole_runs import aggregates, finished, scored, values

pytestmark = pytest.mark.acceptance
PIPELINE = Path(__file__).parents[3] / "pipelines" / "finmmdocr-mini.yaml"
OUTPUTS = json.loads((SAMPLE / "outputs.json").read_text("utf-8"))
SPEC = """\
name: small
replicates: 1
benchmark: {kind: finmmdocr, root: ROOT, protocol: PROTOCOL}
knowledge_bases: [{name: clean}]
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 50}]
generators: [{kind: canned, replies: replies.jsonl}]
"""


def small(copy, tmp_path_factory, replies, *records, protocol="clean", more=""):
    """Run a copy with canned replies, by question."""
    copy.write(*records)
    home = tmp_path_factory.mktemp("run")
    lines = [json.dumps({"id": name, "reply": reply}) for name, reply in replies.items()]
    (home / "replies.jsonl").write_text("\n".join(lines))
    (home / "spec.yaml").write_text(SPEC.replace("ROOT", str(copy.root)).replace("PROTOCOL", protocol) + more)
    return finished(home / "spec.yaml", home)


def program(value):
    return f"```python\ndef solution():\n    return {value}\n```"


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    """The pipeline over the English document, of whose page images only those with evidence are more than a dot."""
    home = tmp_path_factory.mktemp("mini")
    shutil.copytree(SAMPLE, home / "sample")
    for path in (home / "sample/images/complong_tolvane_10q").iterdir():
        if path.stem not in ("page_3", "page_4", "page_6", "page_9"):
            Image.new("L", (20, 20), "white").save(path)
    reduced = ("knowledge_bases.1.text_noise.rate=0.8", "knowledge_bases.2.text_noise.rate=0.6")
    chosen = (f"benchmark.root={home / 'sample'}", "benchmark.languages=[en]", *reduced)
    return finished(
        PIPELINE, home, *chosen, "knowledge_bases.3.image_noise.severity=0.2", "knowledge_bases.3.ocr={kind: tesseract}"
    )


def test_right_programs_are_right_on_clean_pages_and_lose_with_misread_digits(mini):
    found = {
        kb: aggregates(mini, stage="generation", condition=kb) for kb in ("clean", "formatting", "channel", "defocus")
    }
    assert found["clean"]["acc"] == found["formatting"]["acc"] == 1
    assert found["channel"]["acc"] < 1
    assert 0 < found["defocus"]["acc"] < 1


def test_the_whole_document_is_read_in_its_order_and_has_every_gold_page(mini):
    hits = read_rows(mini / "hits.parquet", retriever="whole_document", kb="clean", question_id="test-0")
    assert [hit["pages"] for hit in hits] == [[page] for page in range(12)]
    assert aggregates(mini, retriever="whole_document", stage="retrieval", condition="clean")["golden_k_estimated"] == 0


def test_a_document_has_an_index_of_its_own(mini):
    about = {row["question_id"]: row["document"] for row in read_rows(mini / "questions.parquet")}
    assert all(hit["document"] == about[hit["question_id"]] for hit in read_rows(mini / "hits.parquet"))


def test_the_question_without_evidence_counts_0_in_the_reference_protocol_and_nothing_in_clean(copy, tmp_path_factory):
    copy.put("texts/report.json", ["one margin", "two margin", "three"])
    records = [copy.record(0, evidence={"table": [2]}), copy.record(1, evidence={})]
    replies = {"test-0": program(75), "test-1": program(75)}
    clean = small(copy, tmp_path_factory, replies, *records)
    published = small(copy, tmp_path_factory, replies, *records, protocol="reference")
    assert isnan(values(clean, metric="recall_at_10")["test-1"])
    assert values(published, metric="recall_at_10")["test-1"] == 0
    for folder in (clean, published):
        assert set(values(folder, stage="overall", metric="pot_accuracy").values()) == {1.0}
    (failed,) = {row["status"] for row in read_rows(published / "scores.parquet", metric="recall_at_10")}
    assert failed == "ok"


def test_repairs_are_in_the_clean_protocol_alone(copy, tmp_path_factory):
    replies = {"test-0": f"```python\nimport math\n```\n\n{program(75)}"}
    for protocol, accuracy in (("clean", 1), ("reference", 0)):
        folder = small(copy, tmp_path_factory, replies, copy.record(), protocol=protocol)
        assert values(folder, stage="generation", metric="pot_accuracy") == {"test-0": accuracy}
        assert values(folder, stage="generation", metric="executed") == {"test-0": accuracy}


def test_a_written_solution_is_scored_by_the_number_that_another_generator_reads(copy, tmp_path_factory):
    extractions = tmp_path_factory.mktemp("cot") / "extracted.jsonl"
    found = {"test-0": "75", "test-1": "None", "test-2": "three quarters"}
    extractions.write_text("\n".join(json.dumps({"id": name, "reply": text}) for name, text in found.items()))
    replies = {f"test-{number}": f"Solution {number}." for number in range(3)}
    records = [copy.record(number, question=f"What is margin {number}?") for number in range(3)]
    more = f"metrics: [{{kind: cot_accuracy, generator: {{kind: canned, replies: {extractions}}}}}]\n"
    folder = small(copy, tmp_path_factory, replies, *records, more=more)
    rows = {
        row["question_id"]: row for row in read_rows(folder / "scores.parquet", stage="overall", metric="cot_accuracy")
    }
    assert {name: row["value"] for name, row in rows.items()} == {"test-0": 1, "test-1": 0, "test-2": 0}
    assert rows["test-2"]["status"] == "failed"
    reasons = {row["reason"] for row in read_rows(folder / "failures.parquet")}
    assert "ValueError: no number in the extraction: 'three quarters'" in reasons
    assert "cot_accuracy (judge)" in Run(folder).manifest["prompt_sha256"]


@pytest.mark.parametrize("protocol", ["clean", "reference"])
@pytest.mark.parametrize("case", ["right", "off by 0.19 %", "body in a block", "string with a percent sign"])
def test_answers_of_the_sample_have_the_promised_accuracy(tmp_path, case, protocol):
    chosen = [output for output in OUTPUTS if (output["kind"], output["case"]) == ("pot", case)]
    path = tmp_path / "answers.jsonl"
    lines = [json.dumps({"question_id": output["question_id"], "answer": output["output"]}) for output in chosen]
    path.write_text("\n".join(lines))
    status, found = scored("answers", path, "finmmdocr", "--protocol", protocol)
    assert status == 0
    promised = sum(output["expected"][protocol] for output in chosen) / 8
    assert found["aggregates"]["acc"][1]["mean"] == promised
    assert found["scores"]["pot_accuracy"]["doc_length"]["all"]["mean"] == promised
    boards = {board["table"].split(",")[0]: board for board in found["leaderboards"]}
    own = next(row for row in boards["Table 3"]["rows"] if row["own"])
    assert own["scores"]["pot_accuracy"] == promised
    assert "pot_accuracy w/ scenario" in own["scores"]


def test_a_question_without_an_answer_is_wrong(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"question_id": "test-0", "answer": program(6.8)}))
    status, found = scored("answers", path, "finmmdocr")
    assert (status, len(found["missing"])) == (1, 7)
    assert found["aggregates"]["acc"][1]["mean"] == 1 / 8
