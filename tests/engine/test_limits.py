"""A crash, a hang or a lack of memory costs its item only, in every stage."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from .conftest import values

OHR = Path(sys.executable).with_name("ohr")
SPEC = """\
benchmark: {kind: tiny, size: 2}
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
    assert sum(values(finished, kb="read", stage="overall", metric="f1").values()) == 3


def test_a_page_on_which_the_engine_takes_all_memory_fails_alone(home):
    finished, why = reason(home, SPEC.replace("BAD", "swell"), "limits.memory_gb=1.5")
    assert "MemoryError" in why or "died" in why
    assert sum(values(finished, kb="read", stage="overall", metric="f1").values()) == 3


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


@pytest.mark.acceptance
def test_what_an_engine_prints_does_not_reach_the_output_and_workers_import_no_file_beside_the_spec(home):
    (home.folder / "socket.py").write_text("open('executed', 'w').close(); raise RuntimeError('imported')\n")
    home.write(SPEC.replace("BAD", "print"))
    command = [OHR, "run", "spec.yaml", "--no-figures", "--trust-plugins", "--workers", "1", "--json"]
    ended = subprocess.run(command, cwd=home.folder, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout)["failures"] == []
    assert "an engine" in ended.stderr
    assert not (home.folder / "executed").exists()


@pytest.mark.acceptance
def test_a_worker_that_is_stopped_is_ended_at_the_time_limit(home):
    finished, why = reason(home, SPEC.replace("BAD", "stopped"), "limits.seconds=6")
    assert why == "took longer than 6 seconds (limits.seconds)"
    assert sum(values(finished, kb="read", stage="overall", metric="f1").values()) == 3


@pytest.mark.acceptance
def test_a_worker_that_takes_all_memory_of_the_machine_is_ended_by_default(home, monkeypatch):
    monkeypatch.setattr("ohr.engine.executors.guard.machine_memory", lambda: 2 * 2**30)
    finished, why = reason(home, SPEC.replace("BAD", "swell"))
    assert "of the 1.6 GB that they may use here" in why and "set `limits.memory_gb`" in why
    assert sum(values(finished, kb="read", stage="overall", metric="f1").values()) == 3


def started(seconds):
    """List the processes of an engine that sleep for some seconds."""
    words = f"time.sleep({seconds})"
    return [process for process in psutil.process_iter(["cmdline"]) if words in str(process.info["cmdline"])]


def test_processes_that_an_engine_started_end_with_their_worker(home):
    reason(home, SPEC.replace("BAD", "child"))
    assert started(60) == []


@pytest.mark.parametrize("bad", ["left", "left apart"])
def test_processes_that_an_engine_left_behind_end_with_the_run(home, bad):
    assert home.run(SPEC.replace("BAD", bad), workers=1).ledger.failures == []
    _, alive = psutil.wait_procs(started(61), timeout=10)
    assert alive == []


@pytest.mark.parametrize("sign", [pytest.param("worker-*", marks=pytest.mark.acceptance), "pages"])
def test_a_run_that_is_killed_leaves_no_temporary_folder_and_no_process(home, request, sign):
    place = tempfile.TemporaryDirectory()  # a short name, as sockets in it have at most 108 characters
    request.addfinalizer(place.cleanup)
    temporary = Path(place.name)
    home.write(SPEC.replace("bad: BAD", f"bad: hang, log: {temporary}/pages"))
    command = [OHR, "run", "spec.yaml", "--no-figures", "--trust-plugins", "--workers", "1"]
    ended = subprocess.Popen(command, cwd=home.folder, env={**os.environ, "TMPDIR": str(temporary)})
    while not list(temporary.rglob(sign)):  # the worker has begun; or it hangs in its first page
        assert ended.poll() is None
        time.sleep(0.1)
    workers = psutil.Process(ended.pid).children(recursive=True)
    ended.kill()
    ended.wait()
    assert psutil.wait_procs(workers, timeout=30)[1] == []
    assert list(temporary.glob("pymp-*")) == []
