"""A store that an earlier version of ohr wrote, with a file for each value, is read as it is."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from ohr.errors import StoreError
from ohr.store import open_store, prune

KEY = "ab" + "c" * 62


@pytest.fixture
def written(place):
    """Write a value as format 1 did."""

    def write(key: str, payload: bytes) -> Path:
        path = Path(place.url) / "objects" / key[:2] / key[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sha256(payload).hexdigest().encode() + b"\n" + payload)
        return path

    return write


def test_its_values_are_found_and_nothing_is_written(place, store, written):
    written(KEY, b'{"text":"old"}')
    assert store.has_many([KEY, "absent"]) == {KEY}
    assert store.get_many([KEY, "absent"]) == {KEY: {"text": "old"}}
    assert [path.name for path in Path(place.url).iterdir()] == ["objects"]


def test_it_is_read_through_a_url_too(place, written):
    written(KEY, b'{"text":"old"}')
    assert open_store(Path(place.url).as_uri()).get(KEY) == {"text": "old"}


def test_new_values_go_to_the_database_and_count_more(store, written):
    path = written(KEY, b'"old"')
    before = path.read_bytes()
    store.put_many({KEY: "new", "other": 1})
    assert store.get_many([KEY, "other"]) == {KEY: "new", "other": 1}
    assert path.read_bytes() == before


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
def test_a_damaged_file_is_absent_and_removed(store, written, damage):
    path = written(KEY, b'"whole"')
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(KEY) is None
    assert not path.exists()


@pytest.mark.parametrize("payload", [b"", b"{", b"[" * 100_000])
def test_a_file_that_is_whole_but_no_json_is_absent(store, written, payload):
    written(KEY, payload)
    assert store.get(KEY) is None


@pytest.mark.parametrize("odd", ["folder", "pipe", "dangling link", "link to itself", "link to a device"])
def test_an_odd_thing_in_a_files_place_is_no_value(store, written, odd):
    path = written(KEY, b"1")
    path.unlink()
    {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "dangling link": lambda: path.symlink_to("/nowhere/x"),
        "link to itself": lambda: path.symlink_to(path),
        "link to a device": lambda: path.symlink_to("/dev/null"),
    }[odd]()
    assert store.get(KEY) is None
    assert not store.has(KEY)
    store.put(KEY, 2)
    assert store.get(KEY) == 2


def test_a_read_error_is_not_taken_for_absence(store, written):
    path = written(KEY, b"1")
    path.unlink()
    path.symlink_to("/proc/self/mem")  # a regular file, whose first bytes cannot be read
    with pytest.raises(StoreError, match=f"the store at {store.url} cannot be read: Input/output error"):
        store.get(KEY)


def test_its_files_are_listed_and_pruned(place, store, written):
    written(KEY, b"1")
    kept = written("cd" + "e" * 62, b"2")
    store.pin("run", ["cd" + "e" * 62])
    left = kept.with_name(".new-left")
    left.write_bytes(b"half")
    odd = Path(place.url) / "objects" / "zz" / "x\n"
    odd.parent.mkdir()
    odd.write_text("x")
    for path in (left, odd):
        os.utime(path, (1e9, 1e9))
    kinds = sorted((entry.kind, entry.key) for entry in store.entries())
    assert kinds == [
        ("leftover", "objects/cd/.new-left"),
        ("leftover", "objects/zz/x\n"),
        ("value", KEY),
        ("value", "cd" + "e" * 62),
    ]
    assert prune(store, 1e11).parts == 3
    assert [path for path in (Path(place.url) / "objects").rglob("*") if path.is_file()] == [kept]
