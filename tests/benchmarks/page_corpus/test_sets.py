"""Named sets are fetched from a small hub on this machine, and read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.page_corpus import PageCorpus
from ohr.benchmarks.page_corpus.parquet_pages import REPOSITORIES, fetch
from ohr.cli.app import app
from ohr.files.hub import RECORD

OTHERS = {"README.md": b"---\nlicense: cc-by-4.0\n---\n", "pdfs/lease.pdf": b"%PDF", "data.zip": b"zip"}


@pytest.fixture
def served(hub, pages):
    root = pages.save()
    hub.files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.parquet")} | OTHERS
    return hub


def test_the_parquet_files_of_a_set_are_fetched_and_read(served, tmp_path):
    folder = tmp_path / "vidore_v3_hr"
    lines = fetch(REPOSITORIES["vidore_v3_hr"], folder, endpoint=served.url)
    assert lines == [f"4 files of vidore/vidore_v3_hr at commit {'a' * 40}, 0 unpacked", f"root: {folder}"]
    assert {path.name for path in folder.iterdir()} == {"README.md", "corpus", "queries", "qrels", RECORD}
    assert PageCorpus(root=folder).questions()[0].document == "vidore_v3_hr/lease"


def test_a_copy_is_counted_beside_the_set_on_the_hub(served, tmp_path):
    folder = tmp_path / "mine"
    assert PageCorpus(root="sample").verify() == []
    fetch(REPOSITORIES["vidore_v3_hr"], folder, endpoint=served.url)
    assert [(tally.what, tally.found, tally.published) for tally in PageCorpus(root=folder).verify()] == [
        ("pages", 3, 1_110),
        ("queries", 1, 1_908),
        ("judgments", 1, 10_386),
        ("documents", None, 14),
    ]
    (folder / RECORD).unlink()
    assert PageCorpus(root=folder).verify() == []
    assert PageCorpus(root=folder.rename(tmp_path / "vidore_v3_physics")).verify()[0].published == 1_674


def test_a_set_that_is_not_known_is_refused_with_those_that_are():
    assert {"vidore_v3_hr", "esg_reports_v2", "tatdqa_test_beir"} <= set(PageCorpus.names())
    found = CliRunner().invoke(app, ["data", "get", "page_corpus", "--set", "vidore_v3_hrr"])
    assert found.exit_code == 2
    assert "no data set 'vidore_v3_hrr' is known" in found.stderr
    assert "vidore_v3_hr" in found.stderr


@pytest.mark.acceptance  # a process; the tests above call the same function
def test_the_command_fetches_a_set_from_the_hub_that_the_environment_names(served, tmp_path):
    environment = {**os.environ, "HF_ENDPOINT": served.url, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_TELEMETRY": "1"}
    command = [str(Path(sys.executable).with_name("ohr")), "data", "get", "page_corpus", "--set", "vidore_v3_hr"]
    found = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines()[1] == "root: data/page_corpus/vidore_v3_hr"
    record = json.loads((tmp_path / "data/page_corpus/vidore_v3_hr" / RECORD).read_text())
    assert record["repository"] == "vidore/vidore_v3_hr"
