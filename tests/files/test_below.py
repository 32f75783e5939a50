"""Files below a folder: those of linked folders are read and hashed, too."""

import json

import pytest

from benchmarks.folder.own_documents import find
from ocr.precomputed import Precomputed
from ohr.files import documents
from ohr.files.below import files_below
from ohr.files.digests import folder_digest


@pytest.fixture
def linked(tmp_path):
    """A folder whose only documents are in a folder that is a link, with a ring, a dangling link and a hidden file."""
    away, here = tmp_path / "disk/law", tmp_path / "here"
    away.mkdir(parents=True)
    here.mkdir()
    (here / "law").symlink_to(away)
    (away / "ring").symlink_to(here)
    (away / "gone.json").symlink_to(tmp_path / "nowhere")
    (away / ".hidden.json").write_text("[]")
    (away / "lease.json").write_text(json.dumps([{"page_idx": 0, "text": "It began in 1964."}]))
    return here


def test_files_of_a_linked_folder_are_listed_once(linked):
    (linked / "law/plan.PNG").touch()
    assert [path.relative_to(linked).as_posix() for path in files_below(linked)] == ["law/lease.json", "law/plan.PNG"]
    assert files_below(linked, ".png") == [linked / "law/plan.PNG"]
    assert files_below(linked / "law/plan.PNG") == files_below(linked / "nowhere") == []
    assert [path.as_posix() for path in documents.files(linked)] == ["law/lease.json", "law/plan.PNG"]


@pytest.mark.parametrize("format", [{}, {"format": "ohrbench"}])
def test_results_in_a_linked_folder_have_another_identity_once_they_change(linked, format):
    results = Precomputed.model_validate({"root": linked, **format})
    results.check()
    before = results.identity(), folder_digest(linked, "*.json")
    (linked / "law/lease.json").write_text(json.dumps([{"page_idx": 0, "text": "It began in 1965."}]))
    after = results.identity(), folder_digest(linked, "*.json")
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_documents_in_a_linked_folder_are_found(linked):
    (linked / "law/scan.png").write_bytes(b"")
    assert {*find(linked).sources, *find(linked).broken} == {"documents/law"}
