"""`ohr status`: the progress of a run, seen from another process."""

import json
import shutil

import pytest

from ohr.engine.progress import Quiet
from ohr.results.folder.run_folder import RunFolder
from ohr.runner.events import EventLog


@pytest.fixture
def running(home, finished):
    """A run under way in this process, of the name of a finished one."""
    folder = finished[0] / finished[1].stdout.split("results: ")[1].splitlines()[0]
    shutil.copytree(folder, home / "runs/small" / folder.name)
    begun = RunFolder.start(home / "runs", "small", "ab" * 32, {"spec": {"name": "small"}, "questions": 4})
    events = EventLog(begun.path, Quiet())
    yield begun, events
    events.close()


def test_a_name_is_its_newest_run_even_if_an_older_one_is_finished(running, ohr):
    folder, events = running
    events.update("reading pages", 0, 8)
    events.update("answering", 4, 4)
    lines = ohr("status", "small").stdout.splitlines()
    assert lines[0] == f"runs/small/{folder.path.name}: running"
    assert lines[2].split() == ["reading", "pages", "0", "8", "0.0/s", "unknown"]
    assert lines[3].split() == ["answering", "4", "4", "0.0/s", "done"]


def test_the_time_left_is_that_of_the_slowest_phase(running, ohr):
    _, events = running
    for phase, total, rate in (("reading pages", 10, 1.0), ("answering", 100, 2.0)):
        events.write("phase", phase=phase, done=4, total=total, rate=rate)
    assert ohr("status", "small").stdout.splitlines()[-1] == "time left: 0:00:48"
    events.write("phase", phase="scoring", done=0, total=3, rate=0.0)
    assert ohr("status", "small").stdout.splitlines()[-1] == "time left: at least 0:00:48; not begun: scoring"


def test_failures_are_counted_and_the_last_one_is_shown(running, ohr):
    _, events = running
    for item in ("page 1", "page 2"):
        events.write("failure", stage="ocr", item=item, reason="paper jam", kind="error")
    assert ohr("status", "small").stdout.splitlines()[-1] == "2 items failed, the last: ocr on page 2: paper jam"
    shown = json.loads(ohr("status", "small", "--json").stdout)
    assert shown["status"] == "running" and len(shown["failures"]) == 2


def test_a_stopped_run_says_so_and_has_no_time_left(running, ohr):
    folder, events = running
    events.update("reading pages", 1, 8)
    folder.stop("out of paper")
    lines = ohr("status", str(folder.path)).stdout.splitlines()
    assert lines[0].endswith(": stopped: out of paper") and lines[2].split() == ["reading", "pages", "1", "8", "0.0/s"]
    shown = json.loads(ohr("status", str(folder.path), "--json").stdout)
    assert (shown["time_left"], [phase["left"] for phase in shown["phases"]]) == ("", [None])


def test_an_unknown_run_is_refused(ohr):
    result = ohr("status", "nothing")
    assert (result.exit_code, result.stderr[:16]) == (2, "no run 'nothing'")
