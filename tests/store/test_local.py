"""A store in a folder: kills, forks, threads, use and pruning."""

import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter

import pytest

from ohr.errors import StoreError
from ohr.store import open_store, prune

KILLED_BEFORE_A_FOLDER_HAS_ITS_NAME = """
import os
from pathlib import Path
Path.rename = lambda *_: os.kill(os.getpid(), 9)
open_store(sys.argv[1]).put_folder("index", lambda folder: (folder / "half").write_text("h") and None)
"""
ENDLESS = """
import sys
from ohr.store import open_store
store, turn = open_store(sys.argv[1]), 0
while True:
    store.put_many({f"key{turn}-{n}": "x" * 3000 for n in range(50)})
    print(turn, flush=True)
    turn += 1
"""


@pytest.mark.parametrize("turns", [1, pytest.param(3, marks=pytest.mark.acceptance), 20])
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


def test_what_killed_processes_left_is_removed_by_the_next(root, run):
    run(KILLED_BEFORE_A_FOLDER_HAS_ITS_NAME, root)
    assert list(root.glob(".new-*/values.sqlite"))
    store = open_store(root)
    store.put("key", 1)
    run(KILLED_BEFORE_A_FOLDER_HAS_ITS_NAME, root)
    assert list(root.glob("folders/.new-*/half"))
    store.put_folder("index", lambda folder: None)
    assert not list(root.rglob(".new-*"))


def test_no_file_but_the_database_stays(root, store, many, settled):
    store.put_many(many)
    settled(store)
    assert [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()] == ["values/values.sqlite"]


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
    names = [f"process{number}" for number in range(3)]
    writers = [subprocess.Popen([sys.executable, "-c", code, store.url, name]) for name in names]
    assert [writer.wait() for writer in writers] == [0] * 3
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


def test_opening_takes_no_time(place, store, many):
    store.put_many(many)
    seconds = []
    for _ in range(9):
        began = perf_counter()
        assert place.open().has("key0001")
        seconds.append(perf_counter() - began)
    assert median(seconds) < 2  # a store of many values would take seconds, were they read


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


def test_pruning_holds_few_parts_at_once_however_many_there_are(store, monkeypatch):
    monkeypatch.setattr("ohr.store.interface._AT_ONCE", 100)

    def most_bytes(count):
        store.put_many({f"key{n:05}": n for n in range(count)})
        tracemalloc.start()
        assert prune(store, 1e11).parts == count
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert not store.has("key00000")
        return most

    most_bytes(600)
    assert most_bytes(6_000) < 2 * most_bytes(1_200)


def test_pruning_removes_old_leftovers_and_keeps_what_may_be_in_use(root, store):
    store.put("key", 1)
    old, young = root / "damaged-old", root / "folders" / ".new-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (1e9, 1e9))
    prune(store, 1e11)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_folder_with_values_in_files_is_refused_with_what_to_do(root, store):
    (root / "objects" / "ab").mkdir(parents=True)
    for verb in (lambda: store.has("ab" * 32), lambda: store.put("ab" * 32, 1), lambda: list(store.entries())):
        with pytest.raises(StoreError, match=rf"^{root}/objects holds .*delete that folder, or .* {root.as_uri()}$"):
            verb()
    (root / "objects" / "ab").rmdir()
    (root / "objects").rmdir()
    store.put("ab" * 32, 1)
    assert store.get("ab" * 32) == 1
