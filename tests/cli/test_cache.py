import json
import os
from time import time

import pytest

from ohr.store import Store


@pytest.fixture
def stored(home):
    """A store with one old and one new object, an old folder, and an old temporary file."""
    store = Store(home / ".ohr")
    store.put("aa" + "0" * 62, "old")
    store.put("bb" + "0" * 62, "new")
    store.put_folder("cc", lambda folder: (folder / "weights").write_bytes(bytes(1000)) and None)
    (home / ".ohr/objects/aa/.new-left").write_bytes(bytes(10))
    for path in [*(home / ".ohr/objects/aa").iterdir(), *(home / ".ohr/folders/cc").iterdir()]:
        os.utime(path, (time() - 10 * 86400,) * 2)
    return store


def test_info_counts_what_there_is(ohr, stored):
    told = json.loads(ohr("cache", "info", "--json").stdout)
    assert (told["objects"], told["folders"]) == (3, 1)
    assert told["bytes"] > 1000


def test_info_in_words(ohr, stored):
    assert ohr("cache", "info").stdout.startswith(".ohr: 3 objects, 1 folders, 1.")


def test_prune_removes_what_is_old_and_says_how_much_it_freed(ohr, stored):
    result = ohr("cache", "prune", "--older-than", "9")
    assert result.exit_code == 0
    assert result.stdout.startswith(".ohr: freed 1.")
    assert result.stdout.endswith(" kB in 3 parts\n")
    assert (stored.has("aa" + "0" * 62), stored.has("bb" + "0" * 62), (stored.folder("cc") is not None)) == (
        False,
        True,
        False,
    )


def test_prune_keeps_what_is_younger(ohr, stored):
    assert ohr("cache", "prune", "--older-than", "11").stdout == ".ohr: freed 0 bytes in 0 parts\n"
    assert stored.folder("cc") is not None


def test_a_dry_run_removes_nothing(ohr, stored):
    told = json.loads(ohr("cache", "prune", "--older-than", "9", "--dry-run", "--json").stdout)
    assert (told["removed"], told["old"]) == (0, 3)
    assert stored.folder("cc") is not None
    assert stored.has("aa" + "0" * 62)


def test_prune_asks_for_an_age(ohr, stored):
    result = ohr("cache", "prune")
    assert result.exit_code == 2
    assert "Missing option '--older-than'" in result.stderr


def test_no_store_is_said(ohr):
    result = ohr("cache", "info", "--store", "nowhere")
    assert (result.exit_code, result.stderr) == (2, "no store at nowhere\n")
