"""The behavior of every kind of store, whether it is a folder, a shared disk, memory, or an S3 server."""

import json
import pickle
import subprocess
import sys
from time import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ohr.errors import StoreError
from ohr.store import prune
from ohr.store.written_values import dump, framed

KEY = "ab" + "c" * 62
EVERY = ("local", "disk", "memory", "s3")
QUICK = ("local", "disk", "memory")  # where S3 differs in nothing: its server takes 10 ms for a request
BETWEEN_PROCESSES = ("local", "disk", pytest.param("s3", marks=pytest.mark.acceptance))


def every(*kinds):
    return pytest.mark.parametrize("place", kinds or EVERY, indirect=True)


def fill(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "a.txt").write_text("a")
    (folder / "b.txt").write_text("b")


# --- values -------------------------------------------------------------------------------------------------------


@every()
def test_values_come_back(store):
    values = {"none": None, "zero": 0, "empty": "", "text": {"a": [1, 2.5, "é中\ud800"]}, "endless": [float("inf")]}
    store.put_many(values)
    assert store.get_many(values) == values
    assert store.has_many(values) == set(values)
    store.put(KEY, "one")
    assert (store.get(KEY), store.has(KEY)) == ("one", True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@every("local", "memory")
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.dictionaries(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{2,60}", fullmatch=True), JSON, max_size=5))
def test_any_json_comes_back(store, values):
    store.put_many(values)
    found = store.get_many(values)
    assert found == values
    assert {key: dump(value) for key, value in found.items()} == {key: dump(value) for key, value in values.items()}


@every()
def test_an_absent_value_is_left_out_and_looking_makes_nothing(store):
    assert store.get(KEY) is None
    assert store.get_many([KEY]) == {}
    assert store.has_many([KEY]) == set()
    assert store.folder(KEY) is None
    assert not store.exists()
    assert (store.get_many([]), store.has_many([]), store.claim([])) == ({}, set(), set())
    store.put_many({})
    assert list(store.entries()) == []


@every(*QUICK)
def test_a_later_value_takes_the_place_of_an_earlier_one(store):
    store.put(KEY, "earlier")
    store.put(KEY, "later")
    assert store.get(KEY) == "later"


@every("local", "memory")
def test_many_values_are_found_among_absent_ones(store):
    values = {f"{n % 7:02x}{n:06}": {"n": n} for n in range(1200)}
    asked = [*values, *(f"{n % 7:02x}{n:06}" for n in range(1200, 1300))]
    store.put_many(values)
    assert store.has_many(asked) == set(values)
    assert store.get_many(asked) == values


@every("disk", "s3")
def test_few_and_many_keys_of_one_folder_are_looked_for_in_two_ways(store):
    store.put_many({f"aa{n}": n for n in range(8)} | {"bb0": 0})
    assert store.has_many([f"aa{n}" for n in range(12)] + ["bb0", "bb1", "cc0"]) == {f"aa{n}" for n in range(8)} | {
        "bb0"
    }


@every()
def test_damaged_values_are_absent_are_removed_and_can_be_made_again(place, store):
    contents = {"flipped": None, "empty": b"", "pickle": b"\x80\x04K\x05."}
    store.put_many(dict.fromkeys([*contents, "other"], "whole"))
    for key, content in contents.items():
        place.change(key, content)
    assert store.get_many([*contents, "other"]) == {"other": "whole"}
    assert store.has_many(contents) == set()
    store.put("flipped", "again")
    assert store.get("flipped") == "again"


@every(*QUICK)
def test_a_value_that_is_no_json_stores_nothing_of_its_batch(store):
    with pytest.raises(TypeError):
        store.put_many({KEY: 1, "other": object()})
    assert store.has_many([KEY, "other"]) == set()


@every("local", "memory")
@pytest.mark.parametrize("key", ["", "ab", "../../etc", "a/b", "a b c", ".new-x", "x" * 201])
def test_a_key_that_cannot_be_a_file_name_is_refused(store, key):
    for verb in (store.get, store.has, store.folder, lambda key: store.put(key, 1), lambda key: store.claim([key])):
        with pytest.raises(ValueError, match="cannot be a key"):
            verb(key)


@every(*QUICK)
def test_a_pickled_store_opens_the_same_place(store):
    store.put(KEY, 1)
    again = pickle.loads(pickle.dumps(store))
    assert again.url == store.url
    assert again.get(KEY) == 1


# --- folders ------------------------------------------------------------------------------------------------------


@every()
def test_a_folder_comes_back(store):
    path = store.put_folder("index", fill)
    assert store.folder("index") == path
    assert (path / "deep" / "a.txt").read_text() == "a"
    assert json.loads((path / "checksums.json").read_text()).keys() == {"deep/a.txt", "b.txt"}


@every(*QUICK)
def test_a_folder_that_fails_leaves_nothing_behind(store):
    def fail(folder):
        (folder / "half").write_text("h")
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        store.put_folder("index", fail)
    assert store.folder("index") is None
    assert [entry for entry in store.entries() if entry.kind != "value"] == []


@every(*QUICK)
def test_a_whole_folder_is_kept_when_another_run_makes_it_too(store):
    first = (store.put_folder("index", fill) / "b.txt").stat().st_ino
    assert (store.put_folder("index", lambda folder: None) / "b.txt").stat().st_ino == first


# --- two processes ------------------------------------------------------------------------------------------------

CLAIM = """
import sys
from ohr.store import open_store
print(*sorted(open_store(sys.argv[1]).claim(sys.argv[2:])), flush=True)
sys.stdin.read()
"""


@every(*BETWEEN_PROCESSES)
def test_what_a_living_process_has_claimed_is_left_out_and_what_a_dead_one_had_is_free(store):
    with subprocess.Popen(
        [sys.executable, "-c", CLAIM, store.url, "key1", "key2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"key1 key2\n"
        assert store.claim(["key2", "key3"]) == {"key3"}
        assert {entry.key for entry in store.entries() if entry.claimed} == set()  # nothing is there yet
        store.put("key1", "made by another process")
        assert [entry.claimed for entry in store.entries()] == [True]
        other.kill()
    assert store.claim(["key1", "key2", "key3"]) == {"key1", "key2", "key3"}
    store.release(["key1", "key2", "key3"])


@every(*QUICK)
def test_a_claim_can_be_given_up_and_is_good_for_all_of_a_process(place, store):
    assert store.claim(["key1", "key2"]) == {"key1", "key2"}
    assert place.open().claim(["key1"]) == {"key1"}
    store.release(["key1", "key2"])
    store.put("key1", 1)
    assert [entry.claimed for entry in store.entries()] == [False]


WRITE = """
import sys
from ohr.store import open_store
store, number = open_store(sys.argv[1]), sys.argv[2]
for turn in range(3):
    store.put_many({"shared": {"turn": turn, "filler": "x" * 20_000}, f"own{number}-{turn}": turn})
    store.put_folder("index", lambda folder: (folder / "data.bin").write_bytes(b"same" * 5000) and None)
"""


@every(*BETWEEN_PROCESSES)
def test_two_processes_can_write_at_once(store):
    both = [subprocess.Popen([sys.executable, "-c", WRITE, store.url, str(number)]) for number in range(2)]
    while any(writer.poll() is None for writer in both):
        seen = store.get("shared")
        assert seen is None or len(seen["filler"]) == 20_000
    assert [writer.returncode for writer in both] == [0, 0]
    assert store.get("shared")["turn"] == 2
    assert len(store.get_many([f"own{number}-{turn}" for number in range(2) for turn in range(3)])) == 6
    assert store.folder("index") is not None
    assert [entry for entry in store.entries() if entry.kind == "leftover"] == []


# --- a store that is gone, replaced, or of another version --------------------------------------------------------

VERBS = {
    "get": lambda store: store.get("other"),
    "has": lambda store: store.has("other"),
    "put": lambda store: store.put("other", 1),
    "folder": lambda store: store.folder("index"),
    "put_folder": lambda store: store.put_folder("index", fill),
    "claim": lambda store: store.claim(["other"]),
    "pin": lambda store: store.pin("run", ["other"]),
}


@every("local", "memory")
@pytest.mark.parametrize("verb", VERBS)
def test_a_store_that_was_removed_is_not_taken_for_an_empty_one(place, store, verb):
    store.put(KEY, 1)
    place.delete()
    with pytest.raises(StoreError, match="was removed while the run used it"):
        VERBS[verb](store)


@every()
def test_a_store_that_was_replaced_is_not_taken_for_the_same(place, store):
    store.put(KEY, 1)
    place.delete()
    with pytest.raises(StoreError, match="was removed"):
        store.get(KEY)
    place.open().put("other", 2)
    for verb in (VERBS["get"], VERBS["put"]):
        with pytest.raises(StoreError, match=f"{place.url} was replaced by another one"):
            verb(store)


@every(*QUICK)
@pytest.mark.parametrize(
    ("number", "remedy"), [(1, "an earlier one; delete it, or use"), (3, "a later one; update ohr, or use")]
)
def test_a_store_of_another_format_is_refused_with_what_to_do(number, remedy, place, store):
    store.put(KEY, 1)
    about = framed({"format": number, "id": "x"})
    if place.is_local:
        store._db.write(lambda db: db.execute("UPDATE about SET content = ?", (about,)))
    else:
        store._bucket.write({"store.json": about})
    with pytest.raises(
        StoreError, match=f"has format {number}, which .* cannot read: it was made by {remedy} another --store"
    ):
        place.open().get(KEY)


# --- pins and pruning ---------------------------------------------------------------------------------------------


@every()
def test_pinned_parts_are_not_pruned(store):
    store.pin("study/monday", ["kept", "index", "notyet"])
    store.pin("study/monday", ["kept"])
    store.pin("study/tuesday", ["kept"])
    store.put_many({"kept": 1, "old": 2})
    store.put_folder("index", fill)
    store.put_folder("other", fill)
    assert store.pins() == {"study/monday": 3, "study/tuesday": 1}
    pruned = prune(store, time() + 100)
    assert (pruned.parts, pruned.pinned) == (2, {"study/monday": 2, "study/tuesday": 1})
    assert store.has_many(["kept", "old"]) == {"kept"}
    assert (store.folder("index") is not None, store.folder("other")) == (True, None)
    assert store.unpin("study/monday") == 3
    assert store.unpin("study/monday") == 0
    prune(store, time() + 100)
    assert (store.get("kept"), store.folder("index")) == (1, None)


@every(*QUICK)
def test_what_is_being_made_is_not_pruned(store):
    store.put_many({"mine": 1, "old": 2})
    store.claim(["mine"])
    pruned = prune(store, time() + 100)
    assert (pruned.parts, pruned.claimed) == (1, 1)
    assert store.has_many(["mine", "old"]) == {"mine"}
    store.release(["mine"])


@every(*QUICK)
def test_a_dry_run_removes_nothing_and_what_is_young_stays(store):
    store.put_many({"one": 1, "two": 2})
    assert prune(store, time() + 100, dry_run=True).parts == 2
    assert prune(store, time() - 100).parts == 0
    assert store.get_many(["one", "two"]) == {"one": 1, "two": 2}


@every(*QUICK)
def test_a_part_that_was_pinned_after_it_was_listed_stays(store):
    store.put_many({"one": 1, "two": 2})
    listed = list(store.entries())
    store.pin("run", ["one"])
    store.remove(listed)
    assert store.has_many(["one", "two"]) == {"one"}


@every(*QUICK)
def test_the_size_grows_with_what_is_written(store):
    assert store.size() == 0
    store.put(KEY, "x" * 200_000)
    assert store.size() > 200_000
