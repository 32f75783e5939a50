"""The pipeline that puts reading and looking on one noise axis, from its YAML to its figure, with tiny models."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import ohr.pipelines
from ohr.cli.app import app
from ohr.results.tables.read_table import read_rows

SPEC = Path(ohr.pipelines.__file__).parent / "ocr-vs-vision.yaml"


@pytest.mark.acceptance
def test_one_noise_axis_from_yaml_to_a_curve(tiny_colqwen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changes = {
        "retrievers.1.model": tiny_colqwen,
        "replicates": 1,
        "benchmark.max_pages": 1,
        "benchmark.dpi": 72,
        "knowledge_bases.1.image_noise.severity": "[0.5, 0.9]",
        "knowledge_bases.2.image_noise.severity": "[0.9]",
    }
    command = ["run", str(SPEC), "--limit", "2", "--workers", "1"]
    done = CliRunner().invoke(app, [*command, *(f"--set={name}={value}" for name, value in changes.items())])
    assert done.exit_code == 0, done.output
    (run,) = (tmp_path / "runs/ocr-vs-vision").glob("*-*")
    found = {
        (row["noise"], row["knob_value"], row["retriever"]): (row["kb_r_noise"], row["n"])
        for row in read_rows(run / "summary.parquet", stage="retrieval", metric="hit@2", group="all")
    }
    levels = [("clean", None), ("blur", "0.5"), ("blur", "0.9"), ("shadows", "0.9")]
    assert found.keys() == {(*level, name) for level in levels for name in ("bm25", "colqwen", "shuffle")}
    for level in levels:  # looking and reading have one place on the axis, and the same questions
        assert len({found[*level, name] for name in ("bm25", "colqwen", "shuffle")}) == 1
        assert found[*level, "bm25"][0] >= 0
    drawn = (run / "figures/performance-evidence-loss.svg").read_text()
    assert "Pages found" in drawn and "colqwen" in drawn
