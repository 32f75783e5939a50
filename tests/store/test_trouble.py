"""A local store that is there but cannot be read or written: errors are never taken for absence."""

import os
import shutil
import sqlite3
import stat
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from ohr.errors import StoreError
from ohr.store import database, open_store
from ohr.store.reasons import database_sentence, sentence


def test_a_read_error_is_not_taken_for_absence(file, store, settled):
    store.put("key", 1)
    settled(store)
    file.unlink()
    file.symlink_to("/proc/self/mem")  # a regular file, whose first bytes cannot be read
    with pytest.raises(StoreError, match="cannot be read: disk I/O error"):
        open_store(store.url).get("key")


def test_too_many_open_files_are_not_taken_for_absence(store, many, run):
    store.put("key", 1)
    code = """
import os, resource
store, held = open_store(sys.argv[1]), []
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
try:
    print(store.get("key"))
except StoreError as error:
    print("failed:", error)
"""
    assert f"failed: the store at {store.url} cannot be read: Too many open files" in run(code, store.url)


def test_a_lock_that_is_held_for_long_is_reported(file, store, monkeypatch, settled):
    store.put("key", 1)
    settled(store)
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="has been locked by another process"):
            store.put("key", 2)
        assert store.get("key") == 1
        other.execute("ROLLBACK")
    store.put("key", 2)
    assert store.get("key") == 2


SMALL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
store = open_store(sys.argv[1])
"""


def test_a_disk_without_room_is_reported_and_nothing_is_half_written(store, run):
    store.put("key", 1)
    code = """
try:
    for n in range(1000):
        store.put_many({f"key{n}-{m}": "x" * 2000 for m in range(20)})
except StoreError as error:
    print("failed:", n, error)
"""
    word, turns, message = run(SMALL + code, store.url).split(maxsplit=2)
    assert word == "failed:"
    assert f"the store at {store.url} cannot be written" in message
    done = [f"key{n}-{m}" for n in range(int(turns)) for m in range(20)]
    assert len(store.get_many(done)) == len(done) > 0
    assert not store.has(f"key{turns}-0")
    store.put("key", "room again")
    assert store.get("key") == "room again"


def test_a_full_disk_is_named_with_its_file():
    assert sentence(OSError(28, "No space left on device", "/a/b"), "/a", "written") == "the disk is full: /a/b"
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.Error) as raised:
            db.executescript("CREATE TABLE one (a); CREATE TABLE two (a)")
    assert database_sentence(raised.value, Path("/a/b"), "/a", "written") == "the disk is full: /a/b"


def test_a_folder_for_which_there_is_no_room_leaves_nothing_behind(root, store, run):
    store.put("key", 1)
    code = """
try:
    store.put_folder("index", lambda new: (new / "big").write_bytes(bytes(10**6)))
except Exception as error:
    print(type(error).__name__, error)
"""
    assert "File too large" in run(SMALL + code, store.url)
    assert list((root / "folders").iterdir()) == []


@pytest.fixture
def frozen():
    """A folder that this process cannot write to, even when root runs the tests."""
    outside = Path(tempfile.mkdtemp())  # others may not enter pytest's own folders
    outside.chmod(0o755)
    root, user = outside / "store", os.geteuid()

    def freeze() -> Path:
        for path in (root, *root.rglob("*")):
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) | 0o444)
        if user == 0:
            os.seteuid(65534)
        return root

    yield root, freeze
    os.seteuid(user)
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(outside)


def test_a_finished_store_that_is_read_only_is_good_for_reading(frozen, settled):
    root, freeze = frozen
    store = open_store(root)
    store.put_many({"whole": 1, "damaged": 2})
    store.put_folder("index", lambda folder: (folder / "a").write_text("a") and None)
    store._db.write(lambda db: db.execute("UPDATE objects SET value = x'00', used = 0 WHERE key = 'damaged'"))
    store._db.write(lambda db: db.execute("UPDATE objects SET used = 0"))
    settled(store)
    freeze()
    store = open_store(root)
    assert store.get_many(["whole", "damaged", "absent"]) == {"whole": 1}
    assert store.has("whole")
    assert store.folder("index") is not None
    assert {entry.key for entry in store.entries()} == {"whole", "damaged", "index"}
    with pytest.raises(StoreError, match=f"the store at {root} is read-only"):
        store.put("new", 1)
    with pytest.raises(StoreError, match=f"the store at {root} is read-only"):
        store.claim(["new"])
    assert store.get("whole") == 1


def test_a_read_only_store_whose_writer_was_killed_has_all_that_was_written(frozen, run):
    root, freeze = frozen
    run("import os\nstore = open_store(sys.argv[1])\nstore.put('key', 1)\nos.kill(os.getpid(), 9)", root)
    assert (root / "values/values.sqlite-wal").stat().st_size > 0
    freeze()
    assert open_store(root).get("key") == 1


def test_a_folder_where_no_store_can_be_made_is_reported_at_the_first_write(frozen):
    root, freeze = frozen
    root.mkdir()
    freeze()
    store = open_store(root)
    assert store.get("key") is None
    with pytest.raises(StoreError, match=f"the store at {root} cannot be written: Permission denied"):
        store.put("key", 1)
