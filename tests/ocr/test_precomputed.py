import json

import pytest

from ohr.contracts import Document, Page
from ohr.errors import DataError, PluginError
from ohr.ocr.ground_truth import GroundTruth
from ohr.ocr.precomputed import Precomputed

LEASE = Document("law/lease", "law", "en", 3)


@pytest.fixture
def recorded(tmp_path):
    def read(entries):
        (tmp_path / "law").mkdir()
        text = entries if isinstance(entries, str) else json.dumps(entries)
        (tmp_path / "law" / "lease.json").write_text(text)
        return list(Precomputed(root=tmp_path).recorded(LEASE))

    return read


def entry(index, text):
    return {"page_idx": index, "text": text}


def test_pages_come_in_order_whatever_the_files(recorded):
    assert [page.text for page in recorded([entry(2, "c"), entry(0, "a"), entry(1, "b")])] == ["a", "b", "c"]


def test_a_page_without_a_result_carries_an_error(recorded):
    assert recorded([entry(1, "b")]) == [
        Page("law/lease", 0, "", "not among the precomputed results"),
        Page("law/lease", 1, "b"),
        Page("law/lease", 2, "", "not among the precomputed results"),
    ]


def test_an_empty_text_is_a_result(recorded):
    assert recorded([entry(0, "")])[0] == Page("law/lease", 0, "")


def test_a_null_text_carries_an_error(recorded):
    assert recorded([entry(0, None)])[0] == Page("law/lease", 0, "", "text is NoneType, not a string")


def test_pages_beyond_the_document_are_left_out(recorded):
    assert [page.index for page in recorded([entry(7, "x")])] == [0, 1, 2]


def test_older_files_number_pages_by_page_no(recorded):
    assert recorded([{"page_no": 0, "text": "a"}])[0].text == "a"


def test_a_document_that_is_absent_has_errors_only(tmp_path):
    (tmp_path / "law").mkdir()
    assert [page.error for page in Precomputed(root=tmp_path).recorded(LEASE)] == [
        "not among the precomputed results"
    ] * 3


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([entry(0, "a"), entry(0, "b")], "page 0 stands twice"),
        ([entry("0", "a")], "entry 0: page_idx must be a whole number from 0 (got '0')"),
        ([entry(0, "a"), entry(-1, "a")], "entry 1: page_idx must be a whole number from 0 (got -1)"),
        ([entry(True, "a")], "entry 0: page_idx must be a whole number from 0 (got True)"),
        ([{"text": "a"}], "entry 0: page_idx must be a whole number from 0 (got None)"),
        ({"pages": []}, "must be a list of {page_idx, text}"),
        (["a"], "must be a list of {page_idx, text}"),
        ("[{", "not readable as JSON: Expecting property name enclosed in double quotes: line 1 column 3 (char 2)"),
    ],
)
def test_a_wrong_file_is_told(recorded, tmp_path, entries, told):
    with pytest.raises(DataError) as caught:
        recorded(entries)
    assert str(caught.value) == f"{tmp_path}/law/lease.json: {told}"


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(PluginError) as caught:
        Precomputed(root=tmp_path / "no").check()
    assert str(caught.value) == f"ocr precomputed: no such folder: {tmp_path}/no"


def test_a_folder_without_results_is_told(tmp_path):
    with pytest.raises(PluginError) as caught:
        Precomputed(root=tmp_path).check()
    assert str(caught.value) == f"ocr precomputed: {tmp_path} holds no <domain>/<document>.json"


def test_ground_truth_is_read_from_the_benchmark_only():
    with pytest.raises(NotImplementedError, match="ground_truth reads images"):
        GroundTruth().recorded(LEASE)
