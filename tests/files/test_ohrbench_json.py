import json
import os
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.files.ohrbench_json import document_files, read_file, read_pages, set_names, unwritable_files, with_texts


@pytest.fixture
def file(tmp_path):
    def write(content):
        (tmp_path / "a.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return tmp_path / "a.json"

    return write


def test_pages_come_in_ascending_order_and_null_text_is_an_error(file):
    path = file([{"page_idx": 1, "text": "b"}, {"page_no": "0", "text": "a"}, {"page_idx": 2, "text": None}])
    assert read_file(path, "a") == [
        Page("a", 0, "a"),
        Page("a", 1, "b"),
        Page("a", 2, "", "text is null, not a string"),
    ]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("[{", "not readable as JSON: Expecting property name"),
        ({"page_idx": 0}, "not a list of pages: it must list {page_idx, text}"),
        ([{"text": "a"}], "1 page without a page number, left out: "),
        ([{"page_idx": -1, "text": "a"}, "b"], "2 pages without a page number, left out: "),
        ([{"page_idx": 0, "text": "a"}] * 2, "1 page listed again, of which the first counts: "),
    ],
)
def test_a_file_that_would_lose_a_page_is_refused(file, content, fault):
    path = file(content)
    with pytest.raises(DataError) as caught:
        read_file(path, "a")
    assert str(caught.value).startswith(f"{path}: {fault}")


def test_a_file_of_the_working_folder_is_named_in_its_faults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text('[{"text": "a"}]')
    with pytest.raises(DataError, match=rf"a\.json: 1 page without a page number, left out: {tmp_path.name}/a entry 0"):
        read_file(Path("a.json"), "a")


def test_an_absent_document_has_no_pages(tmp_path):
    assert read_pages(tmp_path, "law/none") == []


def test_other_texts_replace_those_of_their_pages_only(file):
    path = file([{"page_idx": 0, "text": "a", "more": 1}, {"page_idx": 1, "text": "b"}, {"page_idx": 2, "text": None}])
    assert json.loads(with_texts(path, {0: "x", 2: "y"})) == [
        {"page_idx": 0, "text": "x", "more": 1},
        {"page_idx": 1, "text": "b"},
        {"page_idx": 2, "text": None},
    ]


def test_files_whose_names_cannot_be_written_are_listed_apart(tmp_path):
    (tmp_path / "law").mkdir()
    for name in (b"lease", b"caf\xe9", b"a\x1b[31m", "café".encode()):
        (tmp_path / "law" / os.fsdecode(name + b".json")).write_text("[]")
    assert list(document_files(tmp_path)) == ["law/café", "law/lease"]
    assert unwritable_files(tmp_path) == [
        f"{tmp_path.name}/law/a\N{REPLACEMENT CHARACTER}[31m.json",
        f"{tmp_path.name}/law/caf\N{REPLACEMENT CHARACTER}.json",
    ]


def test_a_ring_of_links_ends(tmp_path):
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "lease.json").write_text("[]")
    (tmp_path / "law" / "ring").symlink_to(tmp_path)
    assert list(document_files(tmp_path)) == ["law/lease"]


@given(st.lists(st.text("aAé/\u0301_.2 中", min_size=1, max_size=8), max_size=12, unique=True))
def test_names_of_a_set_have_two_levels_and_are_distinct_on_every_file_system(names):
    deep = [f"law/{name}" for name in names]
    chosen = set_names(deep)
    assert list(chosen) == deep
    assert all(name.count("/") == 1 and name.startswith("law/") for name in chosen.values())
    assert len({normalize("NFC", name).casefold() for name in chosen.values()}) == len(deep)


def test_names_of_a_set_are_joined_numbered_and_cut():
    long = "law/" + "合" * 100
    chosen = set_names(["law/a", "law/x/y/z", "law/A", "law/cafe\u0301", long, f"{long}b"])
    assert list(chosen.values())[:4] == ["law/a", "law/x__y__z", "law/A-2", "law/café"]
    assert chosen[long] == "law/" + "合" * 66
    assert chosen[f"{long}b"] == "law/" + "合" * 66 + "-2"
