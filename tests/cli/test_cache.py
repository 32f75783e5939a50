import json
import os
import sqlite3
from contextlib import closing
from time import time

import pytest

from ohr.store import open_store

OLD, NEW = "aa" + "0" * 62, "bb" + "0" * 62


@pytest.fixture
def stored(home):
    """A store with one old and one new value, and an old folder; all else in it is new."""
    store = open_store(home / ".ohr")
    store.put_many({OLD: "old", NEW: "new"})
    folder = store.put_folder("weights", lambda folder: (folder / "weights").write_bytes(bytes(1000)) and None)
    age(home, OLD)
    os.utime(folder / "checksums.json", (time() - 10 * 86400,) * 2)
    return store


def age(home, key):
    with closing(sqlite3.connect(home / ".ohr/values/values.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE objects SET used = ? WHERE key = ?", (int(time()) - 10 * 86400, key))


def test_info_counts_what_there_is(ohr, stored):
    printed = json.loads(ohr("cache", "info", "--json").stdout)
    assert (printed["values"], printed["folders"], printed["leftovers"]) == (2, 1, 0)
    assert printed["bytes"] > 1000
    assert printed["pins"] == {}


def test_info_in_words(ohr, stored):
    stored.pin("small/monday", [OLD])
    first, second = ohr("cache", "info").stdout.splitlines()
    assert first.startswith(".ohr: 2 values, 1 folder, ")
    assert "kB, the oldest last used on 20" in first
    assert second == "  1 key pinned by small/monday"


def test_prune_removes_what_was_not_used_for_long_and_prints_how_much(ohr, stored):
    result = ohr("cache", "prune", "--older-than", "9")
    assert result.exit_code == 0
    assert result.stdout.startswith(".ohr: removed 2 parts, 1.")
    assert stored.has_many([OLD, NEW]) == {NEW}
    assert stored.folder("weights") is None


def test_prune_keeps_what_is_younger(ohr, stored):
    assert ohr("cache", "prune", "--older-than", "11").stdout == ".ohr: removed 0 parts, 0 bytes\n"
    assert stored.folder("weights") is not None


def test_prune_keeps_what_was_read_lately(ohr, stored):
    assert stored.get(OLD) == "old"
    assert ohr("cache", "prune", "--older-than", "9").stdout.startswith(".ohr: removed 1 part, ")
    assert stored.has(OLD)


def test_prune_keeps_what_is_pinned_and_prints_for_which_run(ohr, stored):
    stored.pin("small/monday", [OLD, NEW, "weights"])
    stored.pin("small/tuesday", [OLD])
    assert ohr("cache", "prune", "--older-than", "9").stdout.splitlines() == [
        ".ohr: removed 0 parts, 0 bytes",
        "  kept 2 old parts pinned by small/monday",
        "  kept 1 old part pinned by small/tuesday",
    ]
    assert stored.has(OLD)
    printed = json.loads(ohr("cache", "prune", "--older-than", "9", "--json").stdout)
    assert printed["kept"] == {"pinned": {"small/monday": 2, "small/tuesday": 1}, "claimed": 0}


def test_prune_keeps_what_a_run_is_making(ohr, stored):
    stored.claim([OLD])
    lines = ohr("cache", "prune", "--older-than", "9").stdout.splitlines()
    assert lines[1:] == ["  kept 1 old part that a run is making now"]
    stored.release([OLD])


def test_what_is_unpinned_can_be_pruned(ohr, stored):
    stored.pin("small/monday", [OLD, "weights"])
    assert ohr("cache", "unpin", "small/monday").stdout == ".ohr: 2 keys unpinned\n"
    assert ohr("cache", "prune", "--older-than", "9").stdout.startswith(".ohr: removed 2 parts, ")


def test_an_unknown_run_cannot_be_unpinned(ohr, stored):
    result = ohr("cache", "unpin", "small/sunday")
    assert (result.exit_code, result.stderr) == (2, ".ohr: nothing is pinned by small/sunday\n")


def test_a_dry_run_removes_nothing(ohr, stored):
    assert ohr("cache", "prune", "--older-than", "9", "--dry-run").stdout.startswith(".ohr: would remove 2 parts, 1.")
    printed = json.loads(ohr("cache", "prune", "--older-than", "9", "--dry-run", "--json").stdout)
    assert (printed["removed"], printed["old"]) == (0, 2)
    assert stored.folder("weights") is not None
    assert stored.has(OLD)


def test_prune_asks_for_an_age(ohr, stored):
    result = ohr("cache", "prune")
    assert result.exit_code == 2
    assert "Missing option '--older-than'" in result.stderr


def test_a_store_behind_a_url(ohr):
    open_store("memory://shown").put(OLD, 1)
    assert ohr("cache", "info", "--store", "memory://shown").stdout.startswith("memory://shown: 1 value, 0 folders, ")


@pytest.mark.parametrize("command", [["info"], ["prune", "--older-than", "1"], ["unpin", "run"]])
def test_no_store_is_an_error(ohr, command):
    result = ohr("cache", *command, "--store", "nowhere")
    assert (result.exit_code, result.stderr) == (2, "no store at nowhere\n")
