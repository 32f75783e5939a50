"""Words with confidences in files of results: read, converted, and left out where a confidence is none."""

import json

import pytest

from ohr.contracts import Document
from ohr.ocr.precomputed import Precomputed

HOCR = """\
<html><body><div class="ocr_page" title="bbox 0 0 99 99; ppageno 0"><p class="ocr_par"><span class="ocr_line">
<span class="ocrx_word" title="bbox 0 0 9 9; x_wconf 96">Rent</span>
<span class="ocrx_word" title="bbox 10 0 19 9; x_wconf {}">due</span>
</span></p></div></body></html>
"""
LEASE = Document("law/lease", "law", "en", 1)


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results/law"
    folder.mkdir(parents=True)
    (folder / "lease.hocr").write_text(HOCR.format(41))
    return folder.parent


def stated(engine):
    return {page: [(word.text, word.confidence) for word in words] for page, words in engine.words(LEASE).items()}


def test_a_conversion_keeps_them(results, ohr, tmp_path):
    engine = Precomputed(root=results, format="hocr")
    assert stated(engine) == {0: [("Rent", 0.96), ("due", 0.41)]}
    assert ohr("data", "convert", results, tmp_path / "out").exit_code == 0
    assert stated(Precomputed(root=tmp_path / "out")) == stated(engine)
    (page,) = json.loads((tmp_path / "out/law/lease.json").read_text())
    assert page == {"page_idx": 0, "text": "Rent due", "words": [["Rent", 0.96], ["due", 0.41]]}


def test_a_document_keeps_its_text_where_a_confidence_is_none(results):
    (results / "law/lease.hocr").write_text(HOCR.format(410))
    engine = Precomputed(root=results, format="hocr")
    assert [page.text for page in engine.recorded(LEASE)] == ["Rent due"]
    assert not stated(engine)
    (note,) = engine.notes([LEASE])
    assert note.endswith("its result is not as expected: a confidence is no number from 0 to 100: law/lease")


@pytest.mark.parametrize("words", [7, [["Rent"]], [["Rent", "0.9"]], [["Rent", 1.5]], [[3, 0.5]], [None]])
def test_words_of_another_form_are_left_out_of_our_own_layout(tmp_path, words):
    (tmp_path / "law").mkdir()
    (tmp_path / "law/lease.json").write_text(json.dumps([{"page_idx": 0, "text": "Rent", "words": words}]))
    engine = Precomputed(root=tmp_path)
    assert (engine.words(LEASE), [page.text for page in engine.recorded(LEASE)]) == ({}, ["Rent"])
