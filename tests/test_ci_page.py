"""The jobs of docs/ci.md: both are YAML, run the same commands, and these commands run."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from .test_docs import ROOT, SYSTEMS, blocks

BLOCKS = {block.name: block.text for block in blocks(ROOT / "docs" / "ci.md")}


def github() -> list[str]:
    steps = YAML(typ="safe").load(BLOCKS["noise-job.yml"])["jobs"]["noise"]["steps"]
    return [step["run"] for step in steps if "run" in step]


def gitlab() -> list[str]:
    job = YAML(typ="safe").load(BLOCKS["gitlab-ci.yml"])["noise"]
    return [*job["before_script"], *job["script"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a RAG, the spec, and `ohr` as it is here."""
    (tmp_path / "noise.yaml").write_text(BLOCKS["noise.yaml"])
    (rag,) = [block.text for block in blocks(SYSTEMS) if block.name == "async_rag.py"]
    (tmp_path / "rag.py").write_text(rag)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ohr").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ohr "$@"\n')
    (tmp_path / "bin" / "ohr").chmod(0o755)
    return tmp_path


def play(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-ec", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_both_jobs_install_ohr_and_run_the_same_commands():
    assert github() == gitlab()
    assert github()[0] == "pip install 'ohr[report]'"
    uploaded = YAML(typ="safe").load(BLOCKS["noise-job.yml"])["jobs"]["noise"]["steps"][-1]["with"]["path"].split()
    assert uploaded == YAML(typ="safe").load(BLOCKS["gitlab-ci.yml"])["noise"]["artifacts"]["paths"]


@pytest.mark.acceptance
def test_the_commands_of_a_job_run_and_fail_where_the_system_got_worse(folder: Path):
    run, compare = github()[1:]
    done = play(folder, f"{run} --limit 12 --no-figures")
    assert done.returncode == 0, done.stdout + done.stderr
    done = play(folder, compare)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = ElementTree.parse(folder / "junit.xml").findall(".//testcase")
    assert len(cases) >= 2 and not any(case.find("failure") is not None for case in cases)
    assert len(list(folder.glob("runs/noise/*/report.html"))) == 1

    rag = (folder / "rag.py").read_text()
    blind = 'self.texts = {"a": "Nothing here."} if "misread" in name else '
    (folder / "rag.py").write_text(rag.replace("self.texts = ", blind))
    done = play(folder, f"{run} --limit 12 --no-figures --no-report && {compare}")
    assert done.returncode == 1, done.stdout + done.stderr
    failed = ElementTree.parse(folder / "junit.xml").findall(".//testcase[failure]")
    assert ["retrieval" in str(case.attrib) for case in failed] == [True]
