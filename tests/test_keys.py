import sysconfig
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from ohr.chunkers.tokens import Tokens
from ohr.contracts import Chunker, execution
from ohr.keys import file_digest, folder_digest, identity, key
from ohr.ocr.precomputed import Precomputed
from ohr.ocr.tesseract import Tesseract


class Fast(Chunker):
    """Gives nothing, fast."""

    kind: Literal["fast"] = "fast"
    size: Annotated[int, Field(description="Size.")] = 1
    threads: Annotated[int, execution("Threads.")] = 1

    def split(self, pages):
        return []


def test_a_key_depends_on_each_part():
    assert len({key("a"), key("b"), key("a", 1), key("a", "1"), key("a", [1]), key("a", None), key("a", 1, 2)}) == 7


def test_a_key_does_not_depend_on_the_order_of_mappings():
    assert key("a", {"x": 1, "y": 2}) == key("a", {"y": 2, "x": 1})


def test_broken_unicode_has_a_key():
    assert key("text", "\ud800") != key("text", "\udfff")


def test_fields_that_change_results_are_in_the_identity_and_others_are_not():
    assert identity(Fast(size=1)) != identity(Fast(size=2))
    assert identity(Fast(threads=1)) == identity(Fast(threads=8))


def test_a_new_version_is_a_new_identity(monkeypatch):
    before = identity(Fast())
    monkeypatch.setattr(Fast, "version", 2)
    assert identity(Fast()) != before


def test_a_field_can_be_left_out():
    assert identity(Tokens(size=9), without=["size"]) == identity(Tokens(size=8), without=["size"])


@pytest.mark.parametrize("changed", ["b/2.txt", "b/3.txt"])
def test_a_folder_is_known_by_names_and_content(tmp_path, changed):
    (tmp_path / "b").mkdir()
    (tmp_path / "a.txt").write_text("1")
    (tmp_path / "b" / "2.txt").write_text("2")
    before = folder_digest(tmp_path)
    assert folder_digest(tmp_path) == before
    (tmp_path / changed).write_text("other")
    assert folder_digest(tmp_path) != before


def test_a_file_is_known_by_content_whatever_its_name(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x" * (1 << 20) + b"y")
    assert file_digest(tmp_path / "a") == file_digest(tmp_path / "b")


def test_recorded_results_are_known_by_content_not_by_path(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "law").mkdir(parents=True)
        (tmp_path / name / "law" / "a.json").write_text("[]")
    one, two = (Precomputed(root=tmp_path / name) for name in ("one", "two"))
    assert identity(one) == identity(two)
    (tmp_path / "two" / "law" / "a.json").write_text('[{"page_idx": 0, "text": "x"}]')
    assert identity(one) != identity(two)


def test_language_packs_are_known_by_content_not_by_place(tmp_path):
    packaged = Path(sysconfig.get_paths()["data"]) / "share" / "tessdata" / "eng.traineddata"
    for name, extra in (("same", b""), ("other", b"x")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "eng.traineddata").write_bytes(packaged.read_bytes() + extra)
    assert identity(Tesseract(tessdata=tmp_path / "same")) == identity(Tesseract())
    assert identity(Tesseract(tessdata=tmp_path / "other")) != identity(Tesseract())
