"""A store behind a URL: a second machine, what is damaged on the way, a server that does not answer."""

import json
import os

import fsspec
import pytest
from fsspec.registry import known_implementations

from ohr.errors import MissingExtra, StoreError
from ohr.store import open_store

everywhere = pytest.mark.parametrize("place", ["disk", "memory", "s3"], indirect=True)
elsewhere = pytest.mark.parametrize("place", ["disk", "memory"], indirect=True)


def fill(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "a.txt").write_text("a")


@pytest.fixture
def second_machine(place, tmp_path, monkeypatch):
    """Open the store as a machine that has downloaded nothing."""

    def opened():
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "second"))
        return place.open()

    return opened


@everywhere
def test_a_folder_travels_to_another_machine(store, second_machine, tmp_path):
    store.put_folder("index", fill)
    path = second_machine().folder("index")
    assert path.is_relative_to(tmp_path / "second")
    assert (path / "deep" / "a.txt").read_text() == "a"


@elsewhere
def test_a_damaged_copy_is_downloaded_again(store):
    path = store.put_folder("index", fill)
    (path / "deep" / "a.txt").write_text("x")
    assert (store.folder("index") / "deep" / "a.txt").read_text() == "a"


@elsewhere
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep/a.txt", b"x"),
        ("checksums.json", b"[]"),
        ("checksums.json", b"\xff"),
        ("checksums.json", json.dumps({"../../outside": "0"}).encode()),
    ],
)
def test_a_folder_that_is_damaged_in_the_store_is_absent_and_removed(store, second_machine, name, content, tmp_path):
    store.put_folder("index", fill)
    store._bucket.write({f"folders/index/{name}": content})
    store = second_machine()
    assert store.folder("index") is None
    assert [entry for entry in store.entries() if entry.kind == "folder"] == []
    assert not (tmp_path / "second" / "outside").exists()
    store.put_folder("index", fill)
    assert (store.folder("index") / "deep" / "a.txt").read_text() == "a"


@elsewhere
def test_a_folder_without_its_list_of_checksums_is_not_there_yet(store, second_machine):
    store.put_folder("index", fill)
    store._bucket.delete(["folders/index/checksums.json"])
    assert second_machine().folder("index") is None


@elsewhere
def test_a_copy_of_another_making_gives_way_to_the_one_in_the_store(store, second_machine):
    store.put_folder("index", lambda folder: (folder / "a").write_text("first") and None)
    second = second_machine()
    second._cache.keep("index", lambda folder: (folder / "a").write_text("second") and None)
    assert (second.folder("index") / "a").read_text() == "first"


@elsewhere
def test_what_the_store_says_about_itself_is_mended_when_it_is_damaged(place, store):
    store.put("key", 1)
    store._bucket.write({"store.json": b"damaged"})
    assert store.get("key") == 1
    assert place.open().get("key") == 1
    store.put("key", 2)
    assert store.get("key") == 2


@everywhere
def test_damaged_pins_keep_everything_until_they_are_dropped(store):
    store.put("key", 1)
    store.pin("run", ["key"])
    (name,) = store._bucket.listed("pins/run")
    store._bucket.write({f"pins/run/{name}": b"damaged"})
    with pytest.raises(StoreError, match=r"pins of run in the store .* are damaged: unpin it"):
        list(store.entries())
    store.unpin("run")
    assert [entry.runs for entry in store.entries()] == [()]


@elsewhere
def test_a_leftover_is_removed_without_the_values_beside_it(place, store):
    store.put("key", 1)
    fs, root = fsspec.url_to_fs(place.url)
    fs.pipe_file(f"{root}/objects/.odd", b"x")
    store.remove([entry for entry in store.entries() if entry.kind == "leftover"])
    assert (fs.exists(f"{root}/objects/.odd"), store.get("key")) == (False, 1)


@elsewhere
def test_damaged_claims_are_void(store):
    store.put("key", 1)
    store._bucket.write({"claims/x": b"damaged"})
    assert store.claim(["key"]) == {"key"}
    assert len(store._bucket.listed("claims")) == 1
    store.release(["key"])
    assert store._bucket.listed("claims") == []


@pytest.mark.parametrize("place", ["disk"], indirect=True)
@pytest.mark.parametrize("odd", ["folder", "pipe", "dangling link"])
def test_an_odd_thing_in_a_values_place_on_a_disk_is_no_value(store, tmp_path, odd):
    store.put("other", 1)
    path = tmp_path / "store/objects/ke/y"
    path.parent.mkdir()
    {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "dangling link": lambda: path.symlink_to("/nowhere/x")}[
        odd
    ]()
    assert store.get("key") is None
    assert not store.has("key")
    store.put("key", 1)
    assert store.get("key") == 1


@pytest.mark.parametrize("place", ["disk"], indirect=True)
def test_a_read_error_is_not_taken_for_absence(store, tmp_path):
    store.put("key", 1)
    path = tmp_path / "store/objects/ke/y"
    path.unlink()
    path.symlink_to("/proc/self/mem")  # a regular file, whose first bytes cannot be read
    with pytest.raises(StoreError, match=r"the store at file:.* cannot be read: "):
        store.get("key")


def test_a_missing_bucket_is_reported_at_the_first_write(s3):
    store = open_store("s3://no-such-bucket/ohr")
    assert store.get("key") is None
    with pytest.raises(StoreError, match=r"the store at s3://no-such-bucket/ohr cannot be written: .*does not exist"):
        store.put("key", 1)


def test_a_server_that_does_not_answer_is_reported(s3, monkeypatch):
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    monkeypatch.setitem(fsspec.config.conf, "s3", {"config_kwargs": {"retries": {"max_attempts": 0}}})
    store = open_store("s3://nobody-there/ohr")
    for verb in (lambda: store.get("key"), lambda: store.put("key", 1), lambda: store.has("key")):
        with pytest.raises(StoreError, match=r"the store at s3://nobody-there/ohr cannot be read: .*127\.0\.0\.1:9"):
            verb()


def test_an_unknown_kind_of_url_is_refused():
    with pytest.raises(StoreError, match="nothing://x cannot be a store"):
        open_store("nothing://x")


def test_a_url_whose_library_is_missing_names_the_extra(monkeypatch):
    monkeypatch.setitem(known_implementations, "absent", {"class": "no_such_module.FS", "err": "it is not here"})
    with pytest.raises(MissingExtra, match=r"absent://x: it is not here: pip install 'ohr\[cluster\]'"):
        open_store("absent://x")


@pytest.mark.parametrize("place", ["memory"], indirect=True)
def test_a_store_that_was_removed_is_noticed_two_seconds_later(place, store, monkeypatch):
    now = 0.0
    monkeypatch.setattr("ohr.store.remote.monotonic", lambda: now)
    monkeypatch.setattr("ohr.store.remote._TRUST", 2.0)
    store.put("key", 1)
    place.delete()
    now = 1.9
    assert store.get("key") is None
    now = 2.1
    with pytest.raises(StoreError, match="was removed"):
        store.get("key")
