"""The commit of ohr: from git in a checkout, from the build's record elsewhere, and never needed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

from ohr import __version__, commit
from ohr.commit import commit_of, own_commit, with_commit

ROOT = Path(__file__).parents[1]
DIGITS = "0123456789abcdef0123456789abcdef01234567"


def repository(folder, *names):
    """Make a repository with some tracked files; returns its commit."""
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for name in names:
        (folder / name).touch()
    for words in (["init", "-q"], ["add", *names], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_is_that_of_a_tracked_file_only(tmp_path):
    digits = repository(tmp_path, "mine.py")
    (tmp_path / "other.py").touch()
    assert (commit_of(tmp_path / "mine.py"), commit_of(tmp_path / "other.py")) == (digits, None)
    (tmp_path / "mine.py").write_text("changed = 1\n")
    assert commit_of(tmp_path / "mine.py") == f"{digits}-dirty"


def test_a_checkout_asks_git_and_an_installed_ohr_its_record(tmp_path, monkeypatch):
    digits = repository(tmp_path, "commit.py")
    monkeypatch.setattr(commit, "__file__", str(tmp_path / "commit.py"))
    assert own_commit() == digits
    (tmp_path / commit.RECORD).write_text(f"{DIGITS}\n")
    assert own_commit() == DIGITS
    (tmp_path / commit.RECORD).write_bytes(b"\xff\xfe")
    assert own_commit() == digits


def test_no_git_and_no_record_is_no_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(commit, "__file__", str(tmp_path / "commit.py"))
    assert own_commit() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert own_commit() is None


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        (DIGITS, "0.1.0 (commit 0123456789ab)"),
        (f"{DIGITS}-dirty", "0.1.0 (commit 0123456789ab, changed since)"),
        (None, "0.1.0"),
        ("", "0.1.0"),
    ],
)
def test_a_version_is_shown_with_its_commit(known, shown):
    assert with_commit("0.1.0", known) == shown


def test_the_command_prints_version_and_commit_of_a_checkout(tmp_path):
    """A copy of the command line's few files in a repository of its own, as a user's clone is."""
    shutil.copytree(ROOT / "ohr", tmp_path / "ohr", ignore=shutil.ignore_patterns("__pycache__"))
    digits = repository(tmp_path, "ohr/commit.py")
    env = {name: value for name, value in os.environ.items() if name != "GIT_CEILING_DIRECTORIES"}
    done = subprocess.run(
        [sys.executable, "-m", "ohr", "--version"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{__version__} (commit {digits[:12]})\n"


def test_help_asks_git_nothing(tmp_path):
    """A `git` that leaves a mark is the only one on the path."""
    git = tmp_path / "git"
    git.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    git.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([sys.executable, "-m", "ohr", "--help"], env=env, capture_output=True, check=True)
    assert not (tmp_path / "asked").exists()
    subprocess.run([sys.executable, "-m", "ohr", "--version"], env=env, capture_output=True, check=True)
    assert (tmp_path / "asked").exists()


def test_a_build_records_the_commit_that_its_source_knows(tmp_path):
    build = run_path(str(ROOT / "setup.py"))
    build["COMMIT"]["own_commit"] = lambda: DIGITS
    build["write_commit"](tmp_path / "ohr")
    assert (tmp_path / "ohr" / commit.RECORD).read_text() == f"{DIGITS}\n"
    build["COMMIT"]["own_commit"] = lambda: None
    build["write_commit"](tmp_path / "other")
    assert not (tmp_path / "other").exists()
