"""A store in a folder: kills, damage, full and read-only disks, odd files, forks."""

import os
import random
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter

import pytest

from ohr.errors import StoreError
from ohr.store import database, open_store, prune
from ohr.store.reasons import database_sentence, sentence

MANY = {f"key{n:04}": {"n": n, "filler": "x" * 700} for n in range(300)}


@pytest.fixture
def root(place) -> Path:
    return Path(place.url)


@pytest.fixture
def file(root) -> Path:
    return root / "values" / "values.sqlite"


def run(code: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, which says `failed: ...` when the store does."""
    whole = "import sys\nfrom ohr.errors import StoreError\nfrom ohr.store import open_store\n" + code
    return subprocess.run([sys.executable, "-c", whole, *map(str, words)], capture_output=True, text=True, check=False)


def closed(store) -> None:
    """Let SQLite bring its log into the database, as at the end of a process."""
    store._db.close()


# --- kills --------------------------------------------------------------------------------------------------------

ENDLESS = """
import sys
from ohr.store import open_store
store, turn = open_store(sys.argv[1]), 0
while True:
    store.put_many({f"key{turn}-{n}": "x" * 3000 for n in range(50)})
    print(turn, flush=True)
    turn += 1
"""


@pytest.mark.parametrize("turns", [1, 3, 20])
def test_what_was_written_before_a_kill_is_there_and_the_rest_is_whole(place, turns):
    with subprocess.Popen([sys.executable, "-c", ENDLESS, place.url], stdout=subprocess.PIPE, text=True) as writer:
        for _ in range(turns):
            last = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
    store = place.open()
    expected = [f"key{turn}-{n}" for turn in range(last + 1) for n in range(50)]
    assert store.get_many(expected) == dict.fromkeys(expected, "x" * 3000)
    after = [f"key{turn}-{n}" for turn in range(last + 1, last + 50) for n in range(50)]
    assert set(store.get_many(after).values()) <= {"x" * 3000}
    assert len(store.get_many(after)) % 50 == 0


def test_a_kill_while_the_store_is_made_leaves_none_that_is_half_made(root):
    (root / ".new-killed").mkdir(parents=True)
    (root / ".new-killed" / "values.sqlite").write_bytes(b"SQLite format 3\0")
    store = open_store(root)
    assert store.get("key") is None
    store.put("key", 1)
    assert open_store(root).get("key") == 1


def test_what_killed_processes_left_is_removed_when_it_is_a_day_old(root, store):
    store.put("key", 1)
    old, young = root / "folders/.new-old", root / "folders/.new-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "half").write_text("h")
    for path in (old / "half", old):
        os.utime(path, (1e9, 1e9))
    store.put_folder("index", lambda folder: None)
    assert (old.exists(), young.exists()) == (False, True)


def test_no_file_but_the_database_stays(root, store):
    store.put_many(MANY)
    closed(store)
    assert [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()] == ["values/values.sqlite"]


# --- damage -------------------------------------------------------------------------------------------------------


def test_no_bit_flip_makes_a_wrong_value_or_ends_a_run(root, file, store, caplog):
    store.put_many(MANY)
    closed(store)
    whole, rng = file.read_bytes(), random.Random(7)
    lost = []
    for turn in range(24):
        content = bytearray(whole)
        anywhere, head = rng.randrange(len(content)), rng.randrange(6) * 4096 + rng.randrange(100)
        content[anywhere if turn % 2 else head] ^= 1 << rng.randrange(8)
        shutil.rmtree(root)
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        again = open_store(root)
        found = again.get_many(MANY)
        assert all(MANY[key] == value for key, value in found.items())
        lost.append(len(MANY) - len(found))
        again.put_many(MANY)
        assert again.get_many(MANY) == MANY
    assert median(lost) <= 4
    assert any("is damaged" in record.message for record in caplog.records)


def test_a_damaged_page_costs_its_values_and_pins_stay(file, store, caplog):
    store.put_many(MANY)
    store.pin("study", list(MANY))
    closed(store)
    content = file.read_bytes()
    page = content.index(b'{"n":150,') // 4096
    file.write_bytes(content[: page * 4096] + bytes(4096) + content[(page + 1) * 4096 :])
    found = store.get_many(MANY)
    assert len(MANY) - 10 < len(found) < len(MANY)
    assert all(MANY[key] == value for key, value in found.items())
    assert store.pins() == {"study": len(MANY)}
    (told,) = [record.message for record in caplog.records]
    assert f"{file} is damaged" in told
    assert f"{len(found)} values could be read and kept" in told
    (aside,) = file.parents[1].glob("damaged-*")
    assert (aside / file.name).is_file()


@pytest.mark.parametrize("where", ["index", "table"])
@pytest.mark.parametrize("other", [b"key0080", b"kex0200"])
def test_a_key_that_is_damaged_hides_no_value_that_is_written_later(file, store, where, other):
    store.put_many(MANY)
    closed(store)
    content = file.read_bytes()
    (in_table,) = (found.start() for found in re.finditer(rb'key0200(?=\{"n":200,)', content))
    (in_index,) = (found.start() for found in re.finditer(rb"key0200(?!\{)", content))
    place = {"index": in_index, "table": in_table}[where]
    file.write_bytes(content[:place] + other + content[place + len(other) :])
    assert all(MANY[key] == value for key, value in store.get_many(MANY).items())
    store.put_many(MANY)
    assert store.get_many(MANY) == MANY


@pytest.mark.parametrize("content", [b"", b"x", b"no database" * 1000, b"SQLite format 3\0" + bytes(5000)])
def test_a_file_that_is_no_database_is_set_aside(file, store, content, caplog):
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert store.get("key") is None
    store.put("key", 1)
    assert store.get("key") == 1
    assert "was moved to" in caplog.text


def test_another_process_goes_on_with_the_database_that_took_the_place_of_a_damaged_one(place, file, store):
    store.put_many(MANY)
    other = place.open()
    assert other.get("key0001") == MANY["key0001"]
    store._db._rescue(sqlite3.DatabaseError("as if damaged"))
    assert other.get_many(MANY) == MANY
    other.put("later", 1)
    assert store.get("later") == 1


ODD = {
    "a file for a folder": lambda file: file.parent.write_text("x"),
    "a dangling link for a folder": lambda file: file.parent.symlink_to("/nowhere/x"),
    "an empty folder": lambda file: file.parent.mkdir(),
    "a folder": lambda file: file.mkdir(parents=True),
    "a pipe": lambda file: (file.parent.mkdir(), os.mkfifo(file)),
    "a dangling link": lambda file: (file.parent.mkdir(), file.symlink_to("/nowhere/x")),
    "a link to a device": lambda file: (file.parent.mkdir(), file.symlink_to("/dev/null")),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_thing_in_the_databases_place_is_set_aside(root, file, store, odd):
    root.mkdir()
    ODD[odd](file)
    assert store.get("key") is None
    store.put("key", 1)
    assert store.get("key") == 1
    assert file.is_file()


@pytest.mark.parametrize("odd", [lambda path: path.write_text("x"), lambda path: path.symlink_to("nowhere")])
def test_a_store_that_is_no_folder_is_refused(root, store, odd):
    odd(root)
    for verb in (
        lambda: store.get("key"),
        lambda: store.put("key", 1),
        lambda: store.put_folder("key", lambda _: None),
    ):
        with pytest.raises(StoreError, match=f"{root} is not a folder"):
            verb()


@pytest.mark.parametrize("damaged", ["deep/a.txt", "checksums.json"])
@pytest.mark.parametrize(
    "how",
    [
        lambda path: path.write_text("x"),
        lambda path: path.write_text("[]"),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: (path.unlink(), path.symlink_to("/nowhere/x")),
        lambda path: (path.unlink(), path.mkdir()),
    ],
)
def test_a_damaged_folder_is_absent_and_can_be_made_again(store, damaged, how):
    def fill(folder):
        (folder / "deep").mkdir()
        (folder / "deep" / "a.txt").write_text("a")

    how(store.put_folder("index", fill) / damaged)
    assert store.folder("index") is None
    assert store.folder(store.put_folder("index", fill).name) is not None


# --- what is there but cannot be had ------------------------------------------------------------------------------


def test_a_read_error_is_not_taken_for_absence(file, store):
    store.put("key", 1)
    closed(store)
    file.unlink()
    file.symlink_to("/proc/self/mem")  # a regular file, whose first bytes cannot be read
    with pytest.raises(StoreError, match="cannot be read: disk I/O error"):
        open_store(store.url).get("key")


def test_too_many_open_files_are_not_taken_for_absence(store):
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
    assert f"failed: the store at {store.url} cannot be read: Too many open files" in run(code, store.url).stdout


def test_a_lock_that_is_held_for_long_is_reported(file, store, monkeypatch):
    store.put("key", 1)
    closed(store)
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


def test_a_disk_without_room_is_reported_and_nothing_is_half_written(store):
    store.put("key", 1)
    code = """
try:
    for n in range(1000):
        store.put_many({f"key{n}-{m}": "x" * 2000 for m in range(20)})
except StoreError as error:
    print("failed:", n, error)
"""
    word, turns, message = run(SMALL + code, store.url).stdout.split(maxsplit=2)
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


def test_a_folder_for_which_there_is_no_room_leaves_nothing_behind(root, store):
    store.put("key", 1)
    code = """
try:
    store.put_folder("index", lambda new: (new / "big").write_bytes(bytes(10**6)))
except Exception as error:
    print(type(error).__name__, error)
"""
    assert "File too large" in run(SMALL + code, store.url).stdout
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


def test_a_finished_store_that_is_read_only_is_good_for_reading(frozen):
    root, freeze = frozen
    store = open_store(root)
    store.put_many({"whole": 1, "damaged": 2})
    store.put_folder("index", lambda folder: (folder / "a").write_text("a") and None)
    store._db.write(lambda db: db.execute("UPDATE objects SET value = x'00', used = 0 WHERE key = 'damaged'"))
    store._db.write(lambda db: db.execute("UPDATE objects SET used = 0"))
    closed(store)
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


def test_a_read_only_store_whose_writer_was_killed_has_all_that_was_written(frozen):
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


# --- processes and threads ----------------------------------------------------------------------------------------


def test_a_forked_process_has_a_connection_of_its_own(store):
    store.put("parent", 1)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            store.put("child", store.get("parent") + 1)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.put("after", 3)
    assert store.get_many(["parent", "child", "after"]) == {"parent": 1, "child": 2, "after": 3}


def test_processes_that_begin_at_once_make_one_store(store):
    code = "import sys\nfrom ohr.store import open_store\nopen_store(sys.argv[1]).put(sys.argv[2], 1)"
    names = [f"process{number}" for number in range(4)]
    writers = [subprocess.Popen([sys.executable, "-c", code, store.url, name]) for name in names]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert store.has_many(names) == set(names)


def test_threads_share_a_store(store):
    def work(number):
        for turn in range(10):
            store.put_many({f"thread{number}-{turn}": turn})
            assert store.get(f"thread{number}-{turn}") == turn

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.has_many([f"thread{number}-{turn}" for number in range(4) for turn in range(10)])) == 40


def test_opening_takes_no_time(place, store):
    store.put_many(MANY)
    seconds = []
    for _ in range(9):
        began = perf_counter()
        assert place.open().has("key0001")
        seconds.append(perf_counter() - began)
    assert median(seconds) < 0.02


# --- use and pruning ----------------------------------------------------------------------------------------------


def test_reading_is_use(store):
    store.put_many({"read": 1, "unread": 2})
    store.put_folder("index", lambda folder: None)
    store.put_folder("other", lambda folder: None)
    store._db.write(lambda db: db.execute("UPDATE objects SET used = 1000"))
    for key in ("index", "other"):
        os.utime(Path(store.url) / "folders" / key / "checksums.json", (1000, 1000))
    assert store.get_many(["read"]) == {"read": 1}
    assert store.folder("index") is not None
    assert prune(store, 2000).parts == 2
    assert store.get_many(["read", "unread"]) == {"read": 1}
    assert (store.folder("index") is not None, store.folder("other")) == (True, None)


def test_pruning_makes_the_file_smaller(store):
    store.put_many({f"key{n:04}": "x" * 3000 for n in range(500)})
    before = store.size()
    prune(store, 1e11)
    assert store.size() < before / 5


def test_pruning_removes_old_leftovers_and_keeps_what_may_be_in_use(root, store):
    store.put("key", 1)
    old, young = root / "damaged-old", root / "folders" / ".new-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (1e9, 1e9))
    prune(store, 1e11)
    assert (old.exists(), young.exists()) == (False, True)
