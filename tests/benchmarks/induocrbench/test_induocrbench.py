"""Documents whose truth is whole: which files are read, and how results are scored."""

import json
import shutil
from pathlib import Path

import pytest

from ohr.benchmarks.induocrbench import SAMPLE, InduOcrBench
from ohr.errors import DataError
from ohr.results.folder.run_folder import read_manifest

from ..whole_runs import aggregates, finished, scored

QUESTIONS = "RAG_eval/QA_pairs.jsonl"


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(SAMPLE, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_document_is_a_page_with_its_tables_and_questions():
    benchmark = InduOcrBench(root="sample")
    assert [document.name.split("/")[0] for document in benchmark.documents()] == [
        "complex_table",
        "multi_column",
        "normal",
        "normal",
    ]
    asked = [question for question in benchmark.questions() if question.asked]
    assert (len(asked), len(benchmark.questions())) == (5, 5 + 4 + 2)
    assert dict(asked[0].groups) == {"category": "table"}
    with pytest.raises(DataError, match="the truth is of whole documents"):
        benchmark.page_image(benchmark.documents()[0], 0)


def test_types_are_kept_and_unknown_ones_refused():
    assert len(InduOcrBench(root="sample", types=["normal"]).documents()) == 2
    with pytest.raises(DataError, match=r"no document is of the type 'Normal'. Choose one of: complex_table"):
        InduOcrBench(root="sample", types=["Normal"]).documents()


def test_questions_without_a_field_or_a_document(copy):
    lines = (copy / QUESTIONS).read_text("utf-8").splitlines()
    strange = {**json.loads(lines[0]), "filename": "absent_1.md"}
    (copy / QUESTIONS).write_text("\n".join([*lines, json.dumps(strange)]), encoding="utf-8")
    (note,) = InduOcrBench(root=copy).notes()
    assert note.startswith("1 question of documents without a truth, left out") and note.endswith(":6")
    (copy / QUESTIONS).write_text("\n".join([*lines, lines[0]]), encoding="utf-8")
    (note,) = InduOcrBench(root=copy).notes()
    assert note.startswith("1 question asked again") and note.endswith(":6")
    (copy / QUESTIONS).write_text(json.dumps({**strange, "answer": None}), encoding="utf-8")
    with pytest.raises(DataError, match=r"QA_pairs.jsonl:1: has no `answer`"):
        InduOcrBench(root=copy).documents()
    for field in ("evidence", "answer"):
        for value in ({"a": 1}, ["a"], True, float("nan")):
            (copy / QUESTIONS).write_text(json.dumps({**strange, field: value}), encoding="utf-8")
            with pytest.raises(DataError, match=rf"QA_pairs.jsonl:1: `{field}` must be a text or a number \(got"):
                InduOcrBench(root=copy).documents()
    (copy / QUESTIONS).write_text(json.dumps({**strange, "doc_type": "/etc"}), encoding="utf-8")
    with pytest.raises(DataError, match=r"QA_pairs.jsonl:1: `doc_type` must be a path inside"):
        InduOcrBench(root=copy).documents()
    (copy / QUESTIONS).unlink()
    assert not any(question.asked for question in InduOcrBench(root=copy).questions())
    for path in (copy / "RAG_eval/doc_md").iterdir():
        path.unlink()
    with pytest.raises(DataError, match="doc_md: holds no truth: a Markdown file for each document"):
        InduOcrBench(root=copy).check()
    shutil.rmtree(copy / "RAG_eval")
    with pytest.raises(DataError, match="holds none of the folders of the truth"):
        InduOcrBench(root=copy).documents()


@pytest.mark.usefixtures("one_process")
def test_a_run_of_another_copy_shows_the_notes_of_its_own(copy, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "name: same\nbenchmark: {kind: induocrbench, root: copy}\nevaluate: [page]\nknowledge_bases: [{name: gt}]\n",
        encoding="utf-8",
    )
    whole = finished(spec, tmp_path)
    line = (copy / QUESTIONS).read_text("utf-8").splitlines()[-1]
    with (copy / QUESTIONS).open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({**json.loads(line), "filename": "absent_1.md"}))
    noted = finished(spec, tmp_path)
    counts = [sum("without a truth" in note for note in read_manifest(folder)["warnings"]) for folder in (whole, noted)]
    assert counts == [0, 1] and read_manifest(whole)["key"] == read_manifest(noted)["key"]
    assert finished(spec, tmp_path) == noted


@pytest.mark.usefixtures("one_process")
def test_results_are_scored_and_searched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, report = scored("ocr", SAMPLE / "results/hasty", "induocrbench")
    assert (status, report["retrieval"]["gt"]["domain"]["all"]["n"]) == (0, 5)
    numbers = aggregates(Path(report["run"]), condition="hasty", stage="page")
    assert 0 < numbers["text_edit@1.5"] < 0.2
    assert 0.5 < numbers["teds@1.5"] < 1
    with pytest.raises(DataError, match="none of its 1 file is of a document of this copy: strange"):
        (tmp_path / "strange.md").write_text("read")
        InduOcrBench(root="sample").results(tmp_path)


def test_two_files_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "normal_pilot_rules_5.md").write_text("read")
    with pytest.raises(DataError, match="has the same name"):
        InduOcrBench(root="sample").results(tmp_path)
