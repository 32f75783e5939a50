"""`ohr data convert`."""

import json
from pathlib import Path

from ohr.contracts import Document
from ohr.ocr.precomputed import Precomputed

RECORDING = Path(__file__).parents[1] / "ocr" / "recordings" / "timber_annual_report_middle.json"


def test_results_are_converted_to_the_official_layout(tmp_path, ohr):
    results = tmp_path / "results" / "finance"
    results.mkdir(parents=True)
    (results / RECORDING.name).write_bytes(RECORDING.read_bytes())
    (results / "broken_middle.json").write_text("<html>")
    done = ohr("data", "convert", results.parent, tmp_path / "out", "--format", "mineru", "--markup", "ohrbench")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == f"1 document with 3 pages in {tmp_path / 'out'}"
    assert "finance/broken page 0: finance/broken_middle.json: HTML, not readable as JSON" in done.stdout
    engine = Precomputed(root=tmp_path / "out")
    page = engine.recorded(Document("finance/timber_annual_report", "finance", "en", 3))[1]
    assert "Revenue & 2 & 263,747" in page.text
    again = ohr("data", "convert", results.parent, tmp_path / "out", "--format", "mineru")
    assert again.exit_code == 2 and "is not empty; name a new folder" in again.stderr


def test_a_benchmark_names_the_documents(tmp_path, ohr):
    (tmp_path / "in").mkdir()
    text = json.dumps([{"type": "text", "text": "one", "page_idx": 0}])
    (tmp_path / "in" / "lease_content_list.json").write_text(text)
    done = ohr("data", "convert", tmp_path / "in", tmp_path / "out", "--format", "mineru", "--benchmark", "mini")
    assert done.exit_code == 1 and "0 documents" in done.stdout
    wrong = ohr("data", "convert", tmp_path / "in", tmp_path / "out2", "--format", "mineruu")
    assert wrong.exit_code == 2 and "'mineru'" in wrong.stderr
