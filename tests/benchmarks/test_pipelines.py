"""The shipped OHRBench specs are right wherever the data are, and the retrieval one gives the published numbers."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ohr.cli.app import app
from ohr.graph.cells import cells
from ohr.results.tables.read_table import read_rows
from ohr.runner.run import run
from ohr.spec.read import read_spec

PIPELINES = Path(__file__).parents[2] / "pipelines"
COUNTS = {"ohrbench-retrieval": 4, "ohrbench-table2": 2 + 4 + 4 + 8, "ohrbench-fig3": 7 * 9, "ohrbench-fig4": 3 * 9}


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A benchmark of one page."""
    for base in ("gt", "MinerU"):
        path = tmp_path / "retrieval_base" / base / "law/lease.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps([{"page_idx": 0, "text": "It began in 1964."}]))
    asked = {"ID": "q", "doc_name": "law/lease", "questions": "When?", "answers": "1964", "evidence_source": "text"}
    asked |= {"evidence_page_no": 0, "evidence_context": "in 1964"}
    (tmp_path / "qas_v2.json").write_text(json.dumps([asked, {**asked, "ID": "t", "evidence_source": "table"}]))
    monkeypatch.setenv("OHRBENCH_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", COUNTS)
def test_a_spec_is_valid_and_has_the_cells_of_the_paper(data, name):
    spec = read_spec(PIPELINES / f"{name}.yaml")
    assert len(cells(spec)) == COUNTS[name]
    assert spec.benchmark.root == data
    assert {retriever.stage.top_k for retriever in spec.retrievers} == {2}


@pytest.mark.parametrize("name", COUNTS)
def test_check_finds_everything_that_is_not_a_model(data, name):
    found = CliRunner().invoke(app, ["check", str(PIPELINES / f"{name}.yaml"), "--json"])
    report = json.loads(found.stdout)
    assert all("Instruct" in fault or "bge-m3" in fault for fault in report["faults"])  # what the hub alone has
    if name == "ohrbench-retrieval":
        assert (report["valid"], report["documents"], report["questions"]) == (True, 1, 2)


@pytest.mark.parametrize("name", COUNTS)
def test_the_data_folder_must_be_named(monkeypatch, name):
    monkeypatch.delenv("OHRBENCH_DATA", raising=False)
    found = CliRunner().invoke(app, ["check", str(PIPELINES / f"{name}.yaml")])
    assert found.exit_code == 2
    assert "environment variable OHRBENCH_DATA is not set" in found.stderr


@pytest.mark.ohrbench
@pytest.mark.acceptance  # tests/benchmarks/ohrbench/test_real.py compares the same scores with less around them
def test_the_retrieval_spec_gives_the_published_codes_numbers(tmp_path):
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    spec = read_spec(PIPELINES / "ohrbench-retrieval.yaml", ["benchmark.domains=[law]"])
    finished = run(spec, store=tmp_path / "store", runs=tmp_path / "runs", workers=1)
    rows = read_rows(finished.folder / "summary.parquet", stage="retrieval", metric="lcs", group="all")
    means = {row["condition"]: row["mean"] for row in rows}
    assert {base: round(100 * mean, 2) for base, mean in means.items()} == {"gt": 83.53, "MinerU": 75.19}
