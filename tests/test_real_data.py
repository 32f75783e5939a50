"""The studies of real documents on other copies of the data, and on what earlier ones have left."""

import json

import pyarrow
import pytest

from studies import real_data
from studies.kept_scores import Scores
from studies.runs import run_spec


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy with a document of each domain, and no question."""
    for base in ("gt", "MinerU"):
        for domain in real_data.DOMAINS:
            file = tmp_path / "copy/retrieval_base" / base / domain / "lease.json"
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps([{"page_idx": 0, "text": f"The lease of {domain} began in 1964."}]))
    (tmp_path / "copy/qas.json").write_text("[]")
    monkeypatch.setenv("OHRBENCH_DATA", str(tmp_path / "copy"))
    return tmp_path / "copy"


def test_a_base_of_other_texts_replaces_the_one_before(tmp_path):
    texts = {("law/lease", 0): "It began.", ("law/deed", 0): "It ends."}
    for number in (2, 1):
        texts = dict(list(texts.items())[:number])
        real_data.write_base(tmp_path / "gt", texts)
        assert len(list((tmp_path / "gt").rglob("l*.json"))) == 1
        assert len(list((tmp_path / "gt/law").iterdir())) == number


def test_what_a_study_did_not_write_is_kept_beside_its_base(tmp_path):
    (tmp_path / "gt").mkdir()
    (tmp_path / "gt/mine.txt").write_text("mine")
    real_data.write_base(tmp_path / "gt", {("law/lease", 0): "It began."})
    assert [path.read_text() for path in tmp_path.glob("gt.bak-*/mine.txt")] == ["mine"]


def test_a_copy_of_another_size_is_said_to_be_one(copy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["study", str(tmp_path / "work"), "--out", str(tmp_path / "out")])
    real_data.given("A study.")
    said = "this copy has 3 documents, 3 pages and 0 questions, ours had 687 documents, 3,590 pages and 2,883 questions"
    assert capsys.readouterr().out.startswith(said)


def test_another_copy_of_the_same_size_is_said_to_be_one(copy, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OHRBENCH_DATA", "copy")
    monkeypatch.setattr("sys.argv", ["study", "work", "--out", "out"])
    monkeypatch.setattr(real_data, "OURS", real_data.Size(3, 3, 0))
    real_data.given("A study.")
    assert "as many documents and questions as ours, but not the same" in capsys.readouterr().out
    assert real_data.root() == copy  # whatever folder a spec is in


def test_damaged_files_and_absent_domains_are_named(copy):
    (copy / "retrieval_base/gt/law/._lease.json").write_bytes(b"\xb0")  # as macOS leaves them
    assert len(real_data.read("gt")) == 3
    (copy / "retrieval_base/gt/law/lease.json").write_text("[{")
    with pytest.raises(SystemExit, match=r"law/lease\.json: .*not readable as JSON"):
        real_data.read("gt")
    (copy / "retrieval_base/gt/law/lease.json").unlink()
    with pytest.raises(SystemExit, match=r"law has no documents: OHRBENCH_DATA must hold the domains law, manual"):
        real_data.read("gt")


def test_tables_of_two_copies_are_counted(copy, tmp_path):
    table = pyarrow.table({"value": [1.0]})
    for name in ("a.parquet", "b.parquet"):
        real_data.keep(table, tmp_path, name)
    assert len(real_data.copies_of(tmp_path)) == 1
    (copy / "retrieval_base/MinerU/law/lease.json").write_text(json.dumps([{"page_idx": 0, "text": "It began."}]))
    real_data._copy.cache_clear()
    real_data.keep(table, tmp_path, "b.parquet")
    assert len(real_data.copies_of(tmp_path)) == 2
    with pytest.raises(KeyError):
        Scores.read(tmp_path / "a.parquet")


@pytest.mark.usefixtures("one_process")
def test_a_study_of_a_copy_with_a_damaged_file_ends_and_keeps_nothing(copy, tmp_path):
    asked = {"ID": "q", "doc_name": "manual/lease", "questions": "When?", "answers": "1964", "evidence_page_no": 0}
    (copy / "qas.json").write_text(json.dumps([{**asked, "evidence_context": "began in 1964", "doc_type": "manual"}]))
    spec = """
        name: whole
        benchmark: {kind: ohrbench, root: "${OHRBENCH_DATA}"}
        knowledge_bases: [{name: gt}]
        retrievers: [{kind: bm25}]
        evaluate: [retrieval]
    """
    assert run_spec(spec, tmp_path).manifest["questions"] == 1
    (copy / "retrieval_base/MinerU/law/lease.json").write_text("[{")
    damaged = spec.replace("{name: gt}", '{name: gt}, {name: read, ocr: {kind: precomputed, root: "${BASE}"}}')
    damaged = damaged.replace("${BASE}", str(copy / "retrieval_base/MinerU"))
    with pytest.raises(SystemExit, match=r"failed; 1 file not readable as JSON.*: nothing is kept"):
        run_spec(damaged, tmp_path)
