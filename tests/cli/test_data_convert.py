"""`ohr data convert` on real results of MinerU."""

import json
import logging
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ohr.cli import data_convert
from ohr.cli.app import app
from ohr.contracts import Document
from ohr.ocr.precomputed import Precomputed

MINERU = Path(__file__).parents[1] / "ocr" / "recordings" / "mineru"
TIMBER = "finance/timber_annual_report"


def convert(*words: object):
    return CliRunner().invoke(app, ["data", "convert", *map(str, words)])


@pytest.fixture
def results(tmp_path):
    """MinerU's folders: <root>/<domain>/<document>/<method>/<document>_content_list.json."""
    folder = tmp_path / "mineru" / TIMBER / "auto"
    folder.mkdir(parents=True)
    for path in MINERU.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return tmp_path / "mineru"


def test_documents_of_a_folder_are_converted(results, tmp_path):
    done = convert(results, tmp_path / "out", "--format", "mineru", "--markup", "ohrbench")
    assert (done.exit_code, done.output) == (0, f"3 pages of 1 document in {tmp_path / 'out'}; 0 without a result\n")
    entries = json.loads((tmp_path / "out" / f"{TIMBER}.json").read_text())
    assert [entry["page_idx"] for entry in entries] == [0, 1, 2]
    assert r"\begin{tabular}" in entries[1]["text"]


def test_what_was_converted_can_be_read(results, tmp_path):
    convert(results, tmp_path / "out", "--format", "mineru")
    document = Document(TIMBER, "finance", "en", 3)
    engines = Precomputed(root=results, format="mineru"), Precomputed(root=tmp_path / "out")
    assert engines[1].notes([document]) == []
    assert engines[0].recorded(document) == engines[1].recorded(document)


def test_documents_of_a_benchmark_have_its_names(tmp_path):
    done = convert(MINERU, tmp_path / "out", "--format", "mineru", "--benchmark", "mini", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["documents"], found["pages"], found["failed"]) == (1, 1, 3, 86)
    assert f"{TIMBER} page 1: not among the precomputed results" not in found["failures"]
    assert [path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.json")] == [
        f"{TIMBER}.json"
    ]


def test_pages_with_artifacts_are_counted_by_kind(tmp_path):
    (tmp_path / "read").mkdir()
    (tmp_path / "read" / "lease.md").write_text("Pay at the quay.\n" * 20 + "\f:selected: yes :selected: no")
    found = json.loads(convert(tmp_path / "read", tmp_path / "out", "--json").stdout)
    assert found["hygiene"] == {"loop": 1, "selection_marks": 1}
    assert "1 page of read with marks of selected boxes: read/lease page 2" in found["warnings"]


def test_a_broken_file_is_counted_and_the_others_are_converted(results, tmp_path):
    (results / "finance" / "bulletin_content_list.json").write_text('[{"type"')
    done = convert(results, tmp_path / "out", "--format", "mineru")
    assert done.exit_code == 1
    assert "finance/bulletin page 1: its result is not readable as JSON" in done.output
    assert f"3 pages of 1 document in {tmp_path / 'out'}; 1 without a result" in done.output


def test_a_layout_of_ohrbench_gets_another_markup(results, tmp_path):
    convert(results, tmp_path / "out", "--format", "mineru")
    done = convert(tmp_path / "out", tmp_path / "latex", "--format", "ohrbench", "--markup", "ohrbench")
    assert done.exit_code == 0
    before, after = ((tmp_path / name / f"{TIMBER}.json").read_text() for name in ("out", "latex"))
    assert "<table>" in before
    assert "<table>" not in after


def test_processes_convert_as_one_does_and_their_warnings_are_printed(results, tmp_path, monkeypatch, caplog):
    blocks = [{"type": "text", "text": f"Line {n}", "page_idx": 0} for n in range(9)] + [{"type": "odd", "page_idx": 0}]
    (results / "finance" / "odd_content_list.json").write_text(json.dumps([*blocks, {"type": "table", "page_idx": 0}]))
    (results / "finance" / "bulletin_content_list.json").write_text('[{"type"')
    alone = convert(results, tmp_path / "out", "--json")
    monkeypatch.setattr(data_convert, "_MANY", 0)
    logging.getLogger("ohr").propagate = True  # which the command line turns off
    caplog.clear()
    together = convert(results, tmp_path / "out2", "--json")
    assert (together.exit_code, json.loads(together.stdout)) == (1, json.loads(alone.stdout))
    assert json.loads(alone.stdout)["warnings"]
    assert "1 table block without a key that is known" in together.stderr
    for name in (f"{TIMBER}.json", "finance/odd.json"):
        assert (tmp_path / "out2" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


@pytest.mark.parametrize(
    ("names", "text", "documents"),
    [
        (["report-1.md", "report-2.md"], "A\fB", {"report-1": 2, "report-2": 2}),
        (["report-1.md", "report-2.md"], "A", {"report": 2}),
        (["01030000000001.md", "01030000000002.md"], "A", {"01030000000001": 1, "01030000000002": 1}),
        (["20230101.md", "20230102.md"], "A", {"20230101": 1, "20230102": 1}),
    ],
)
def test_numbers_in_names_are_of_pages_only_where_each_file_may_be_one(tmp_path, names, text, documents):
    (tmp_path / "in").mkdir()
    for name in names:
        (tmp_path / "in" / name).write_text(text)
    assert convert(tmp_path / "in", tmp_path / "out").exit_code == 0
    converted = {path.stem: len(json.loads(path.read_text())) for path in (tmp_path / "out").rglob("*.json")}
    assert converted == documents


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["{root}/mineru", "{root}", "--format", "mineru"],
            "{root}: is a folder that has files already: name another with OUT, "
            "or add --force, which keeps it as {root.name}.bak-TIME",
        ),
        (
            ["{root}/mineru", "{root}/mineru/out", "--format", "mineru"],
            "{root}/mineru/out is inside {root}/mineru: name a folder elsewhere",
        ),
        (["{root}/none", "{root}/out", "--format", "mineru"], "ocr precomputed: no such folder: {root}/none"),
        (
            ["{root}/mineru", "{root}/out", "--format", "azure", "--markup", "tidy"],
            "ohr data convert: ocr.markup: must be as_is or ohrbench, or a mapping with any of tables, images, "
            "page_furniture, invented, fences (got 'tidy')",
        ),
    ],
)
def test_a_mistake_is_reported_and_nothing_is_written(results, tmp_path, words, message):
    done = convert(*(word.format(root=tmp_path) for word in words))
    assert done.exit_code == 2
    assert done.output.strip() == message.format(root=tmp_path)
    assert not (tmp_path / "out").exists()
