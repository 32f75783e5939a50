"""A crash, a hang or a lack of memory costs its item only, in every stage."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from .conftest import values

OHR = Path(sys.executable).with_name("ohr")
SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: read, ocr: {kind: pixels, bad: BAD}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
generators: [{kind: parrot}]
limits: {seconds: 60}
retries: 0
"""


def reason(home, spec, *overrides):
    """Run a study in which one page fails; returns the run and why it failed."""
    finished = home.run(spec, *overrides, workers=1)
    (failure,) = finished.ledger.failures
    return finished, failure.reason


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("crash", "the worker process died (SIGSEGV)"),
        ("hang", "took longer than 8 seconds (limits.seconds)"),
    ],
)
def test_a_page_on_which_the_engine_crashes_or_hangs_fails_alone(home, bad, message):
    finished, why = reason(home, SPEC.replace("BAD", bad), "limits.seconds=8")
    assert why == message
    assert sum(values(finished, kb="read", stage="overall", metric="f1").values()) == 7


def test_a_page_on_which_the_engine_takes_all_memory_fails_alone(home):
    finished, why = reason(home, SPEC.replace("BAD", "swell"), "limits.memory_gb=1.5")
    assert "MemoryError" in why or "died" in why
    assert sum(values(finished, kb="read", stage="overall", metric="f1").values()) == 7


def test_an_answer_on_which_the_generator_crashes_fails_alone(home):
    text = SPEC.replace("BAD", "''").replace("{kind: parrot}", "{kind: parrot, bad: crash, question: harbour of law/0}")
    finished = home.run(text, "evaluate=[generation]", workers=1)
    assert {failure.reason for failure in finished.ledger.failures} == {"the worker process died (SIGSEGV)"}
    scores = values(finished, kb="read", stage="generation", metric="f1")
    assert [question for question, score in scores.items() if not score] == ["q0"]


def test_an_index_that_crashes_fails_its_own_retriever_only(home):
    text = SPEC.replace("BAD", "''").replace("[{kind: bm25}]", "[{kind: broken, bad: crash}, {kind: bm25}]")
    finished = home.run(text, workers=1)
    assert {failure.reason for failure in finished.ledger.failures} == {"the worker process died (SIGSEGV)"}
    assert set(values(finished, stage="retrieval", metric="lcs", retriever="broken").values()) == {0.0}
    assert set(values(finished, stage="retrieval", metric="lcs", retriever="bm25").values()) == {1.0}


def test_a_plugin_that_changes_folder_and_locale_does_not_disturb_other_pages(home):
    finished = home.run(SPEC.replace("BAD", "move"), workers=1)
    assert finished.ledger.failures == []
    assert finished.folder.is_relative_to(home.folder) and (home.store / "values").is_dir()


def test_what_an_engine_prints_does_not_reach_the_output(home):
    home.write(SPEC.replace("BAD", "print"))
    command = [OHR, "run", "spec.yaml", "--no-figures", "--trust-plugins", "--workers", "1", "--json"]
    ended = subprocess.run(command, cwd=home.folder, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout)["failures"] == []
    assert "an engine" in ended.stderr


def test_processes_that_an_engine_started_end_with_their_worker(home):
    reason(home, SPEC.replace("BAD", "child"))
    left = [process for process in psutil.process_iter(["cmdline"]) if "time.sleep(60)" in str(process.info["cmdline"])]
    assert left == []


def test_a_file_beside_the_spec_is_not_imported_by_workers(home):
    (home.folder / "socket.py").write_text("open('executed', 'w').close(); raise RuntimeError('imported')\n")
    home.write(SPEC.replace("BAD", "''"))
    command = [OHR, "run", "spec.yaml", "--no-figures", "--trust-plugins", "--workers", "1"]
    assert subprocess.run(command, cwd=home.folder, capture_output=True, check=False).returncode == 0
    assert not (home.folder / "executed").exists()
