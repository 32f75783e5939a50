"""A run's folder is there from the start, and finished only when every file in it is whole."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ohr.errors import DataError
from ohr.results.folder.run_folder import RunFolder, find_finished, headlines, read_finished, read_manifest, status

KEY = "ab" * 32
SPEC = {"spec": {"name": "study"}, "protocol": {"retrieval": "lcs", "answer": ["f1"]}, "questions": 3}
DONE = {"warnings": [], "failures": {"items": 0, "reasons": []}}


def start(runs, key=KEY, **manifest):
    return RunFolder.start(runs, "study", key, SPEC | manifest)


def finished(runs, key=KEY, **manifest):
    folder = start(runs, key)
    (folder.path / "scores.parquet").write_bytes(b"scores" * 100)
    (folder.path / "summary.csv").write_text("stage\n")
    return folder.finish(DONE | manifest)


def in_another_process(code, runs, within=()):
    """Run some code after a folder was started; the process dies without a chance to say so."""
    begin = f"folder = RunFolder.start(Path({str(runs)!r}), 'study', {KEY!r}, {SPEC!r})"
    lines = [
        "import os",
        "from pathlib import Path",
        "from ohr.results.folder.run_folder import RunFolder",
        begin,
        code,
    ]
    return subprocess.Popen(
        [*within, sys.executable, "-c", "\n".join(lines)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_a_run_has_a_folder_from_its_first_second(tmp_path):
    folder = start(tmp_path)
    manifest = read_manifest(folder.path)
    assert folder.path.parent == tmp_path / "study" and folder.path.name.endswith("-abababab")
    assert (manifest["status"], status(manifest)) == ("running", "running")
    assert (manifest["process"]["pid"], manifest["key"], manifest["questions"]) == (os.getpid(), KEY, 3)


def test_a_finished_run_lists_its_files_and_is_found(tmp_path):
    path = finished(tmp_path)
    manifest = read_finished(path)
    assert status(manifest) == "finished" and manifest["spec"] == SPEC["spec"]
    assert manifest["files"]["scores.parquet"]["bytes"] == 600
    assert set(manifest["files"]) == {"scores.parquet", "summary.csv"}
    assert find_finished(tmp_path, "study", KEY) == path
    assert find_finished(tmp_path, "study", "cd" * 32) is None
    assert find_finished(tmp_path, "other", KEY) is None
    second = finished(tmp_path)
    assert find_finished(tmp_path, "study", KEY) == max(path, second) != min(path, second)


def test_figures_and_what_still_grows_are_no_part_of_it(tmp_path):
    folder = start(tmp_path)
    (folder.path / "figures").mkdir()
    for name in ("figures/a.svg", "events.jsonl", "scores.parquet"):
        (folder.path / name).write_text(name)
    folder.finish(DONE, growing=["events.jsonl"])
    (folder.path / "events.jsonl").write_text("more")
    assert set(read_finished(folder.path)["files"]) == {"scores.parquet"}


@pytest.mark.parametrize("harm", ["gone", "cut", "longer", "flipped"])
@pytest.mark.parametrize("name", ["scores.parquet", "summary.csv"])
def test_a_folder_whose_files_do_not_fit_is_not_finished(tmp_path, name, harm):
    path = finished(tmp_path)
    content = (path / name).read_bytes()
    harmed = {"cut": content[:-1], "longer": content + b"x", "flipped": b"\x00" + content[1:]}
    (path / name).unlink() if harm == "gone" else (path / name).write_bytes(harmed[harm])
    assert find_finished(tmp_path, "study", KEY) is None
    if harm == "flipped":  # readers do not hash
        return
    with pytest.raises(DataError) as raised:
        read_finished(path)
    assert str(raised.value) == f"{path / name}: is missing or damaged; run the spec again"


def test_a_run_with_failures_is_not_taken_for_a_whole_one(tmp_path):
    finished(tmp_path, failures={"items": 1, "reasons": []})
    assert find_finished(tmp_path, "study", KEY) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "7", "null", "[" * 9**6),
        *('{"status": "finished"}', '{"spec": {}}', '{"spec": 3, "status": "finished"}', '{"spec": {}, "status": 7}'),
        *('{"spec": {}, "status": "finished"}', '{"spec": {}, "status": "finished", "files": 7}'),
        '{"spec": {}, "status": "finished", "files": {"manifest.json": 7}}',
        '{"spec": {}, "status": "finished", "questions": "many"}',
    ],
)
def test_a_damaged_manifest_is_one_sentence(tmp_path, text):
    path = finished(tmp_path)
    (path / "manifest.json").write_text(text)
    with pytest.raises(DataError) as raised:
        read_finished(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)
    assert ("`questions` is not as ohr writes it; run it again" in str(raised.value)) == ("many" in text)
    assert find_finished(tmp_path, "study", KEY) is None


@pytest.mark.parametrize("protocol", [None, {}, {"retrieval": "lcs"}, {"retrieval": "lcs", "answer": []}])
def test_a_manifest_without_metrics_is_one_sentence(protocol):
    with pytest.raises(DataError, match="names no metrics under `protocol`"):
        headlines({"protocol": protocol})


def test_a_folder_without_a_manifest_is_no_run(tmp_path):
    with pytest.raises(DataError, match=r"no run here: manifest\.json is missing"):
        read_manifest(tmp_path)


def test_what_a_dead_process_left_is_interrupted_and_goes_when_the_run_starts_again(tmp_path):
    with in_another_process("os._exit(9)", tmp_path) as process:
        assert process.wait() == 9
    (left,) = (tmp_path / "study").iterdir()
    assert status(read_manifest(left)) == "interrupted"
    with pytest.raises(DataError, match=r"this run is not finished \(interrupted\): it has no results yet"):
        read_finished(left)
    assert find_finished(tmp_path, "study", KEY) is None
    other = start(tmp_path, "cd" * 32)
    assert left.is_dir()
    again = start(tmp_path)
    assert set((tmp_path / "study").iterdir()) == {other.path, again.path}


def test_a_folder_of_a_process_that_is_alive_is_left_alone(tmp_path):
    with in_another_process("print(folder.path, flush=True); os.read(0, 1)", tmp_path) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        assert status(read_manifest(theirs)) == "running"
        assert start(tmp_path).path != theirs
        assert theirs.is_dir()
        process.kill()
    assert status(read_manifest(theirs)) == "interrupted"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not say when a process started")
def test_another_process_with_the_number_of_a_dead_one_is_not_taken_for_it(tmp_path):
    manifest = read_manifest(start(tmp_path).path)
    manifest["process"]["started"] = "an earlier boot 1"
    assert status(manifest) == "interrupted"


def test_a_process_on_another_host_is_taken_to_be_alive(tmp_path):
    manifest = read_manifest(start(tmp_path).path)
    assert status(manifest | {"process": {"pid": 1, "host": "elsewhere", "started": "x"}}) == "running"
    assert status(manifest | {"process": "?"}) == "interrupted"


@pytest.mark.parametrize(("part", "other"), [(0, "another-name"), (1, "0badb007"), (2, "pid:[1]")])
def test_a_folder_from_another_host_boot_or_container_is_never_removed(tmp_path, part, other):
    theirs = start(tmp_path)
    manifest = read_manifest(theirs.path)
    space = manifest["process"]["host"].split("/")
    space[part] = other
    manifest["process"] |= {"host": "/".join(space), "pid": 2**22 + 1}
    (theirs.path / "manifest.json").write_text(json.dumps(manifest))
    assert status(manifest) == "running"
    start(tmp_path)
    assert theirs.path.is_dir()


@pytest.mark.skipif(
    subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], check=False, capture_output=True).returncode
    if shutil.which("unshare")
    else 1,
    reason="no process may have its own space of process numbers here",
)
def test_a_folder_of_a_run_in_another_container_with_the_same_name_is_left_alone(tmp_path):
    apart = ["unshare", "--pid", "--fork", "--mount-proc"]
    with in_another_process("print(folder.path, flush=True); os.read(0, 1)", tmp_path, apart) as process:
        theirs = Path(process.stdout.readline().strip())
        start(tmp_path)
        assert (status(read_manifest(theirs)), theirs.is_dir()) == ("running", True)
        process.stdin.write("end")


def test_a_run_that_stopped_says_why(tmp_path):
    folder = start(tmp_path)
    folder.stop("TooManyFailures: stopped: 3 items failed")
    manifest = read_manifest(folder.path)
    assert (status(manifest), manifest["reason"]) == ("stopped", "TooManyFailures: stopped: 3 items failed")


def test_runs_that_start_in_the_same_second_all_have_a_folder(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: start(tmp_path).path, range(16)))
    assert len(set(paths)) == 16
    assert all(read_manifest(path)["status"] == "running" for path in paths)
    assert set((tmp_path / "study").iterdir()) == set(paths)


def test_a_run_that_was_done_before_leaves_nothing(tmp_path):
    start(tmp_path).discard()
    assert list((tmp_path / "study").iterdir()) == []


def test_paths_of_a_study_start_at_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = RunFolder.start(
        Path("runs"), "study", KEY, {**SPEC, "spec": {"root": Path("docs"), "there": Path("/data")}}
    )
    written = json.loads((folder.path / "manifest.json").read_text())["spec"]
    assert written == {"root": "../../../docs", "there": "/data"}
