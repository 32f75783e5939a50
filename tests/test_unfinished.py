"""Unfinished files of a killed process are removed by the next one that writes there; those of living ones stay."""

import os
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from ohr.results.folder.whole_files import replaced
from ohr.unfinished import unfinished

WRITING = """
import sys
from pathlib import Path
from ohr.results.folder.whole_files import replaced
with replaced(Path(sys.argv[1])) as new:
    new.write_text("half")
    print(new, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def written(tmp_path):
    """Start to write a figure in another process; yields the process and its unfinished file."""
    command = [sys.executable, "-c", WRITING, tmp_path / "figure.png"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        yield writer, Path(writer.stdout.readline().strip())
        writer.kill()


def write(path):
    with replaced(path) as new:
        new.write_text("whole")


def test_the_file_of_a_killed_process_is_removed_when_the_next_one_writes_there(written, tmp_path):
    writer, half = written
    writer.kill()
    writer.wait()
    assert half.exists()
    write(tmp_path / "figure.png")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


def test_the_file_of_a_living_process_stays_and_gets_its_name(written, tmp_path):
    writer, half = written
    write(tmp_path / "another.png")
    assert half.read_text() == "half"
    writer.communicate()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another.png", "figure.png"]


def test_what_another_thread_of_this_process_writes_stays(tmp_path):
    first = unfinished(tmp_path)
    first.mkdir()
    assert unfinished(tmp_path) != first
    assert first.exists()


@pytest.mark.parametrize("writer", ["elsewhere%2F1a2b3c4d%2Fpid-1", f"{os.uname().nodename}%2F00000000%2Fpid-1"])
def test_the_folder_of_a_process_that_cannot_be_seen_stays_for_a_day_without_change(tmp_path, writer):
    folder, other = tmp_path / f".new-{writer}-1-{'0' * 16}", tmp_path / ".new-of-somebody"
    for path in (folder, other):
        path.mkdir()
        (path / "half").write_text("h")
        os.utime(path, (1e9, 1e9))
        unfinished(tmp_path)
        assert path.exists()
        os.utime(path / "half", (1e9, 1e9))
    sleep(0.5)  # a folder is not looked at again at once
    unfinished(tmp_path)
    assert (folder.exists(), other.exists()) == (False, True)
