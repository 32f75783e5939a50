"""EasyOCR with the weights of its English package; both, and torchvision, are in the extra `easyocr`."""

from pathlib import Path

import numpy as np
import pytest

from ohr.errors import MissingExtra, PluginError
from ohr.keys import identity
from ohr.ocr.easyocr import EasyOcr

from ..conftest import typeset


@pytest.fixture
def engine(torchvision):
    for package in ("easyocr", "easyocr_en_models"):
        pytest.importorskip(package)
    made = EasyOcr()
    made.check()
    return made


@pytest.mark.slow
def test_a_crop_is_read_in_order_with_boxes_and_confidence(engine, capfd):
    first, second = typeset("Rent of 1250 francs"), typeset("is due in May 1964")
    width = max(first.shape[1], second.shape[1])
    rows = [np.pad(row, ((0, 0), (0, width - row.shape[1]), (0, 0)), constant_values=255) for row in (first, second)]
    page, blank = np.vstack(rows), np.full((1, 40, 3), 255, np.uint8)
    before = page.copy()
    (read, empty) = engine.recognise([page, blank])
    assert " ".join(read.text.split()) == "Rent of 1250 francs is due in May 1964", read.error
    assert [word.text for word in read.words] == read.text.split("\n")
    (left, top, right, bottom), below = read.words[0].box, read.words[-1].box
    assert 0 <= left < right <= width and 0 <= top < bottom < first.shape[0] <= below[3]
    assert 0.5 < read.confidence <= 1
    assert (empty.text, empty.error) == ("", None)
    assert np.array_equal(page, before)
    assert EasyOcr(min_confidence=1).recognise([page])[0].text == ""
    assert capfd.readouterr().out == ""


def test_missing_weights_are_reported_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("ohr.ocr.easyocr.extras.require", lambda *_: None)
    with pytest.raises(PluginError, match=rf"^ocr easyocr: no weights craft_mlt_25k\.pth in {tmp_path}\. Put"):
        EasyOcr(weights=tmp_path).check()
    (tmp_path / "craft_mlt_25k.pth").write_bytes(b"weights")
    for languages, name in ((("en",), "english_g2"), (("de", "en"), "latin_g2"), (("ch_sim", "en"), "zh_sim_g2")):
        with pytest.raises(PluginError, match=rf"no weights {name}\.pth"):
            EasyOcr(weights=tmp_path, languages=languages).check()


def test_damaged_weights_are_reported_and_nothing_is_downloaded(engine, tmp_path):
    for name in ("craft_mlt_25k.pth", "english_g2.pth"):
        (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(PluginError, match=r"^ocr easyocr: cannot load .*MD5 mismatch.* downloads disabled"):
        EasyOcr(weights=tmp_path).recognise([typeset("Rent")])
    assert not (Path.home() / ".EasyOCR" / "user_network").exists()


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("ohr.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"easyocr is not installed: pip install 'ohr\[easyocr\]'"):
        EasyOcr().check()


def test_the_weights_are_in_the_key_and_the_device_is_not(tmp_path):
    def key(content, **how):
        (tmp_path / content).mkdir(exist_ok=True)
        for name in ("craft_mlt_25k.pth", "english_g2.pth"):
            (tmp_path / content / name).write_text(content)
        return identity(EasyOcr(weights=tmp_path / content, **how))

    assert key("one") == key("one", device="cuda") != key("two")


def test_it_reads_the_languages_that_it_was_given():
    assert EasyOcr().reads("en") and not EasyOcr().reads("zh")
    assert EasyOcr(languages=("ch_sim", "en")).reads("zh")
