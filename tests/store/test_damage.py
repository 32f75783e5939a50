"""Damage in a local store is noticed, costs only itself, and ends no run."""

import os
import random
import re
import shutil
import sqlite3
from statistics import median

import pytest

from ohr.errors import StoreError
from ohr.store import open_store


def test_no_bit_flip_makes_a_wrong_value_or_ends_a_run(root, file, store, caplog, many, settled):
    store.put_many(many)
    settled(store)
    whole, rng = file.read_bytes(), random.Random(7)
    lost = []
    for turn in range(16):
        content = bytearray(whole)
        anywhere, head = rng.randrange(len(content)), rng.randrange(6) * 4096 + rng.randrange(100)
        content[anywhere if turn % 2 else head] ^= 1 << rng.randrange(8)
        shutil.rmtree(root)
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        again = open_store(root)
        found = again.get_many(many)
        assert all(many[key] == value for key, value in found.items())
        lost.append(len(many) - len(found))
        again.put_many(many)
        assert again.get_many(many) == many
    assert median(lost) <= 4
    assert any("is damaged" in record.message for record in caplog.records)


def test_a_damaged_page_costs_its_values_and_pins_stay(file, store, caplog, many, settled):
    store.put_many(many)
    store.pin("study", list(many))
    settled(store)
    content = file.read_bytes()
    page = content.index(b'{"n":150,') // 4096
    file.write_bytes(content[: page * 4096] + bytes(4096) + content[(page + 1) * 4096 :])
    found = store.get_many(many)
    assert len(many) - 10 < len(found) < len(many)
    assert all(many[key] == value for key, value in found.items())
    assert store.pins() == {"study": len(many)}
    (warning,) = [record.message for record in caplog.records]
    assert f"{file} is damaged" in warning
    assert f"{len(found)} values could be read and kept" in warning
    (aside,) = file.parents[1].glob("damaged-*")
    assert (aside / file.name).is_file()


@pytest.mark.parametrize("where", ["index", "table"])
@pytest.mark.parametrize("other", [b"key0080", b"kex0200"])
def test_a_key_that_is_damaged_hides_no_value_that_is_written_later(file, store, where, other, many, settled):
    store.put_many(many)
    settled(store)
    content = file.read_bytes()
    (in_table,) = (found.start() for found in re.finditer(rb'key0200(?=\{"n":200,)', content))
    (in_index,) = (found.start() for found in re.finditer(rb"key0200(?!\{)", content))
    place = {"index": in_index, "table": in_table}[where]
    file.write_bytes(content[:place] + other + content[place + len(other) :])
    assert all(many[key] == value for key, value in store.get_many(many).items())
    store.put_many(many)
    assert store.get_many(many) == many


@pytest.mark.parametrize("content", [b"", b"x", b"no database" * 1000, b"SQLite format 3\0" + bytes(5000)])
def test_a_file_that_is_no_database_is_set_aside(file, store, content, caplog):
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert store.get("key") is None
    store.put("key", 1)
    assert store.get("key") == 1
    assert "was moved to" in caplog.text


def test_another_process_continues_with_the_database_that_took_the_place_of_a_damaged_one(place, file, store, many):
    store.put_many(many)
    other = place.open()
    assert other.get("key0001") == many["key0001"]
    store._db._rescue(sqlite3.DatabaseError("as if damaged"))
    assert other.get_many(many) == many
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
