"""Hashes of input files are kept by size and times, and a changed file is found."""

import os
from time import time

import pytest

from ohr.files import digests
from ohr.files.digests import KEPT, folder_digest, input_digest, input_value, remembered
from ohr.files.ohrbench_json import document_facts
from ohr.keys import file_digest


@pytest.fixture
def read(monkeypatch):
    """Note the files that are read; hashes of other tests are forgotten."""
    found = []
    monkeypatch.setattr(digests, "_known", {})
    monkeypatch.setattr(digests, "file_digest", lambda path: found.append(path.name) or file_digest(path))
    return found


@pytest.fixture
def old(tmp_path, monkeypatch):
    """Make a file that is long settled."""
    path = tmp_path / "lease.pdf"
    path.write_bytes(b"the rent is 300")
    monkeypatch.setattr(digests, "_SETTLED", -1)
    return path


@pytest.fixture
def store(tmp_path):
    (tmp_path / "store" / "values").mkdir(parents=True)
    return tmp_path / "store"


def test_a_file_that_is_as_it_was_is_read_once(old, read, store):
    with remembered(store):
        first = input_digest(old)
    digests._known.clear()  # another process
    with remembered(store):
        assert input_digest(old) == first == file_digest(old)
        assert folder_digest(old.parent, "*.pdf") == folder_digest(old.parent, "lease.*")
    assert read == ["lease.pdf"]


def test_a_file_is_read_again_where_somebody_asks_for_it(old, read, store):
    for verify in (False, True):
        with remembered(store, verify=verify):
            input_digest(old)
    assert read == ["lease.pdf"] * 2


@pytest.mark.parametrize("change", ["in place", "another file of its name"])
def test_a_change_that_keeps_size_and_time_is_found(old, read, change):
    first, about = input_digest(old), old.stat()
    other = b"the rent is 900"
    if change == "in place":
        old.write_bytes(other)
    else:
        (old.parent / "new").write_bytes(other)
        (old.parent / "new").replace(old)
    os.utime(old, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert input_digest(old) != first


def test_a_file_that_was_written_just_now_is_not_kept(tmp_path, read):
    path = tmp_path / "lease.pdf"
    path.write_bytes(b"the rent is 300")
    assert time() - path.stat().st_mtime < 1
    input_digest(path)
    input_digest(path)
    assert read == ["lease.pdf"] * 2


@pytest.mark.parametrize(
    "kept", [b"", b"[]", b"null", b"\xff", b'{"a": 1}', b'{"a": [["x"], "y"]}', b'{"a": [[1e999, 1, 1, 1], "x"]}',
             b"[" * 200_000],
)  # fmt: skip
def test_damaged_hashes_are_made_again(old, read, store, kept):
    (store / KEPT).write_bytes(kept)
    with remembered(store):
        assert input_digest(old) == file_digest(old)
    assert read == ["lease.pdf"]


def test_without_a_store_nothing_is_written(old, read, tmp_path):
    for folder in (tmp_path / "none", tmp_path):  # the second is somebody's own
        digests._known.clear()
        with remembered(folder):
            input_digest(old)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lease.pdf"]


def test_what_follows_from_a_file_is_read_once_by_its_name(old, read, store):
    values = iter([1, 2, 3])
    with remembered(store):
        assert input_value(old, "pages", lambda: next(values)) == 1
        assert input_value(old, "language", lambda: next(values)) == 2
    digests._known.clear()  # another process
    with remembered(store):
        assert input_value(old, "pages", lambda: next(values)) == 1
        input_digest(old)
        old.write_bytes(b"the rent is gone")
        assert input_value(old, "pages", lambda: next(values)) == 3
    assert read == ["lease.pdf"]


def test_facts_of_a_document_are_those_of_its_file(old, read, store):
    path = old.parent / "gt" / "law" / "lease.json"
    path.parent.mkdir(parents=True)
    path.write_text('[{"page_idx": 0, "text": "rent"}, {"page_idx": 2, "text": 3}, {"text": "no number"}]')
    with remembered(store):
        facts = document_facts(path, "law/lease")
    digests._known.clear()
    with remembered(store):
        assert document_facts(path, "law/lease") == facts
    assert facts[0] == {0, 2}
    assert [fault.where for fault in facts[1]] == ["gt/law/lease page 3", "gt/law/lease entry 2 (it has text)"]


@pytest.mark.parametrize("held", [5, [1], [[0], [["page"]]], {"a": 1}])
def test_facts_that_somebody_has_edited_are_read_again(old, read, held):
    path = old.with_name("lease.json")
    path.write_text('[{"page_idx": 4, "text": "rent"}]')
    facts = document_facts(path, "law/lease")
    name = next(name for name in digests._known if "facts" in name)
    digests._known[name] = (digests._known[name][0], held)
    assert document_facts(path, "law/lease") == facts == ({4}, [])
