import json
import multiprocessing
import os

import pytest

from ohr.store import Store

KEY = "ab" + "c" * 62


def _write_often(root, number):
    store = Store(root)
    for turn in range(60):
        store.put(KEY, {"writer": number, "turn": turn, "filler": "x" * 20_000})
        store.put_folder("shared", lambda folder: (folder / "data.bin").write_bytes(b"same" * 5000))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def the_object(store):
    (path,) = store.objects()
    return path


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": [1, 2.5, "é中\ud800"]}, {"nan": float("inf")}])
def test_a_value_comes_back(store, value):
    store.put(KEY, value)
    assert store.get(KEY) == value


def test_an_absent_value_is_none(store):
    assert store.get(KEY) is None
    assert not store.has(KEY)
    assert not store.root.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-3],
        lambda content: content + b" ",
        lambda content: content.replace(b"whole", b"whale"),
        lambda content: b"\xff" + content[1:],
        lambda content: b"\x80\x04K\x05.",
    ],
)
def test_a_damaged_object_is_absent_and_can_be_made_again(store, damage):
    store.put(KEY, "whole")
    path = the_object(store)
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(KEY) is None
    assert not path.exists()
    store.put(KEY, "whole")
    assert store.get(KEY) == "whole"


def test_no_temporary_file_stays(store):
    store.put(KEY, 1)
    store.put(KEY, 2)
    assert [path.name for path in store.root.rglob("*") if path.is_file()] == [KEY[2:]]


def test_a_value_that_is_no_json_leaves_nothing_behind(store):
    with pytest.raises(TypeError):
        store.put(KEY, object())
    assert not [path for path in store.root.rglob("*") if path.is_file()]


def test_what_is_stored_is_json_and_no_pickle(store):
    store.put(KEY, {"a": 1})
    assert json.loads(the_object(store).read_bytes().split(b"\n", 1)[1]) == {"a": 1}


# --- folders ----------------------------------------------------------------------------------------------


def fill(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "a.txt").write_text("a")
    (folder / "b.txt").write_text("b")


def test_a_folder_comes_back(store):
    path = store.put_folder("index", fill)
    assert store.folder("index") == path
    assert store.folder("index") is not None
    assert (path / "deep" / "a.txt").read_text() == "a"


@pytest.mark.parametrize("damaged", ["deep/a.txt", "checksums.json"])
@pytest.mark.parametrize(
    "how", [lambda path: path.write_text("x"), lambda path: path.unlink(), lambda path: path.write_text("[]")]
)
def test_a_damaged_folder_is_absent_and_can_be_made_again(store, damaged, how):
    how(store.put_folder("index", fill) / damaged)
    assert store.folder("index") is None
    assert store.folder(store.put_folder("index", fill).name) is not None


def test_a_folder_that_fails_leaves_nothing_behind(store):
    def fail(folder):
        (folder / "half").write_text("h")
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        store.put_folder("index", fail)
    assert list((store.root / "folders").iterdir()) == []


def test_a_whole_folder_is_kept_when_another_run_makes_it_too(store):
    first = (store.put_folder("index", fill) / "b.txt").stat().st_ino
    assert (store.put_folder("index", fill) / "b.txt").stat().st_ino == first


def test_two_processes_can_write_at_once(store):
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write_often, args=(store.root, number)) for number in range(2)]
    for writer in writers:
        writer.start()
    seen = [store.get(KEY) for _ in range(300) if any(writer.is_alive() for writer in writers)]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert all(value is None or len(value["filler"]) == 20_000 for value in seen)
    assert store.get(KEY)["turn"] == 59
    assert store.folder("shared") is not None
    assert not [
        name for _, folders, files in os.walk(store.root) for name in folders + files if name.startswith(".new")
    ]
