"""Every executor gives the same bytes."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

import pytest

from ohr.engine.executors import make_executor
from ohr.engine.executors.base import run_each
from ohr.engine.executors.local import Local
from ohr.engine.executors.ray import _on_this_node
from ohr.engine.worker import Setup
from ohr.errors import SpecError
from ohr.runner.run import run
from ohr.spec.read import read_spec

OHR = Path(sys.executable).with_name("ohr")
SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: read, image_noise: {kind: smudge, severity: 0.4}, ocr: {kind: pixels}}
  - {name: noisy, text_noise: {kind: formatting, rate: 0.4}}
chunker: {kind: page}
retrievers: [{kind: bm25}, {kind: eye}]
generators: [{kind: parrot}, {kind: gazer}]
"""
TABLES = ("scores", "hits", "pages", "texts", "edits", "questions", "failures", "summary", "doses")


def tables(folder: Path) -> dict[str, bytes]:
    return {name: (folder / f"{name}.parquet").read_bytes() for name in TABLES}


def test_processes_give_the_same_bytes_as_this_process(home, tmp_path):
    inline = home.run(SPEC)
    spec = read_spec(home.write(SPEC), trust_plugins=True)
    local = run(spec, store=tmp_path / "other", runs=tmp_path / "runs2", executor=Local(2))
    assert tables(local.folder) == tables(inline.folder)


@pytest.mark.acceptance  # a cluster takes 20 seconds to start
def test_a_cluster_gives_the_same_bytes_as_this_process(home, tmp_path):
    pytest.importorskip("ray", reason="ray is not installed")
    inline = home.run(SPEC)
    spec = read_spec(home.write(SPEC), trust_plugins=True)
    cluster = run(spec, store=tmp_path / "other", runs=tmp_path / "runs2", executor=make_executor("ray", 2))
    assert tables(cluster.folder) == tables(inline.folder)


@pytest.mark.acceptance  # as above
def test_a_run_on_a_cluster_ends_with_the_status_of_its_signal(home):
    pytest.importorskip("ray", reason="ray is not installed")
    slow = (
        "benchmark: {kind: tiny}\nknowledge_bases:\n  - {name: read, ocr: {kind: pixels, log: reads, seconds: 0.4}}\n"
    )
    home.write(slow + "".join(SPEC.splitlines(keepends=True)[5:]))
    words = [OHR, "run", "spec.yaml", "--no-figures", "--trust-plugins", "--executor", "ray", "--workers", "1"]
    with subprocess.Popen(words, cwd=home.folder, stderr=subprocess.PIPE, text=True) as process:
        until = monotonic() + 100
        while not home.log("reads") and monotonic() < until:
            sleep(0.05)
        process.terminate()
        message = process.communicate()[1]
    assert process.returncode == 143
    assert message.endswith("interrupted; run the same command again to resume\n")


def test_an_address_without_a_cluster_is_refused():
    with pytest.raises(SpecError, match="only --executor ray connects to a cluster"):
        make_executor("local", address="10.0.0.1:6379")


def test_an_unknown_executor_is_refused_with_the_nearest_name():
    with pytest.raises(SpecError, match=r"--executor rey: .* Did you mean 'ray'\?"):
        make_executor("rey")


def test_plugin_files_are_side_by_side_on_a_node_even_where_its_cache_cannot_be_written(tmp_path, monkeypatch):
    plugins = [("one.py", b"x = 1"), ("two.py", b"y = 2"), ("one.py", b"z = 3")]
    (tmp_path / "file").write_text("not a folder")
    for cache in (tmp_path / "cache", tmp_path / "file"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        files = _on_this_node(plugins)
        assert [path.read_bytes() for path in files] == [source for _, source in plugins]
        assert files[0].parent == files[1].parent
    shutil.rmtree(files[0].parent)


def _half(number: int) -> float:
    return number / (number - 2)


BEGIN = """
import sys, time
from concurrent.futures import Future
from pathlib import Path
from threading import Event, Thread
from ohr.engine.worker import Setup
from ohr.engine.worker import begin
from ohr.processes import this_process
begin(Setup(), Path("gone/too"), (this_process()[0], int(sys.argv[1]), "1"))
time.sleep(60)
"""


def test_a_worker_that_begins_when_its_run_is_gone_ends_without_a_word(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    words = [sys.executable, "-c", BEGIN, str(dead.pid)]
    ended = subprocess.run(
        words, cwd=tmp_path, start_new_session=True, capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGKILL, "", "")


@pytest.mark.parametrize(
    ("raised", "is_printed"),
    [
        ("FileNotFoundError(2, 'No such file or directory')", False),  # a semaphore
        ("EOFError('Ran out of input')", False),
        ("FileNotFoundError(2, 'No such file or directory', 'kelp.txt')", True),
        ("ValueError('kelp')", True),
    ],
)
def test_a_worker_prints_why_it_cannot_begin_unless_its_run_has_ended(raised, is_printed):
    words = [sys.executable, "-c", f"import ohr.engine.executors.forked\nraise {raised}"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ("kelp" in ended.stderr) == is_printed
    assert bool(ended.stderr) == is_printed


def test_calls_that_raise_are_reported():
    executor = Local(2)
    executor.start(Setup())
    found = {item: (result, error) for item, result, error in run_each(executor, _half, [1, 2, 3])}
    assert found == {1: (-1.0, None), 2: (None, "ZeroDivisionError: division by zero"), 3: (3.0, None)}


@pytest.mark.acceptance
def test_a_cluster_that_does_not_answer_ends_the_command():
    pytest.importorskip("ray", reason="ray is not installed")
    code = (
        "from ohr.engine.executors import ray; from ohr.engine.worker import Setup; ray._CONNECT = 1.0\n"
        "ray.Ray('127.0.0.1:1').start(Setup())"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "--address 127.0.0.1:1: cannot connect to the Ray cluster: no answer in 1 seconds" in ended.stderr


NO_ROOM = """
import ray
from ohr.engine.executors.base import run_each
from ohr.engine.executors.ray import Ray
from ohr.engine.worker import Setup

ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
executor = Ray(workers=2)
executor.start(Setup())
print(sorted(result for _, result, _ in run_each(executor, abs, [-1, -2, -3, -4])))
"""


@pytest.mark.acceptance
def test_no_call_waits_for_an_actor_that_the_cluster_has_no_room_for():
    pytest.importorskip("ray", reason="ray is not installed")
    ended = subprocess.run([sys.executable, "-c", NO_ROOM], capture_output=True, text=True, timeout=120, check=True)
    assert ended.stdout == "[1, 2, 3, 4]\n"


@pytest.mark.acceptance
def test_workers_start_where_the_temporary_folder_has_a_long_name(home, tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    words = [sys.executable, "-m", "ohr", "run", "spec.yaml", "--trust-plugins", "--workers", "2", "--store", "store"]
    home.write(SPEC)
    done = subprocess.run(
        words, cwd=home.folder, env={**os.environ, "TMPDIR": str(folder)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_pool_that_was_interrupted_while_it_started_ends(monkeypatch):
    from pebble import ProcessPool

    executor, never = Local(1), Event()
    monkeypatch.setattr("ohr.engine.executors.local._STOPPING", 0.1)
    pool = executor._pools[False] = ProcessPool(1)
    pool._task_scheduler_loop = Thread(target=never.wait, daemon=True)  # as one whose sentinel another has taken
    pool._task_scheduler_loop.start()
    executor._running.add(Future())
    executor.stop()  # it waited for ever
    never.set()
