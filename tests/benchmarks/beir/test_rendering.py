"""Page images that are drawn from texts."""

import re
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from ohr.benchmarks.beir import Beir
from ohr.errors import DataError
from ohr.ocr.tesseract import Tesseract


def image(benchmark, place=0):
    return benchmark.page_image(benchmark.documents()[place], 0)


def prints(benchmark):
    return benchmark.fingerprint(benchmark.documents()[0], images=True)


def test_a_page_is_as_wide_as_a4_and_as_long_as_its_text(data_set):
    data_set.corpus[1]["text"] = "The ferry leaves at noon. " * 40
    benchmark = data_set.read()
    short, long = image(benchmark), image(benchmark, 1)
    assert short.shape[1] == long.shape[1] == round(8.27 * 150)
    assert short.shape[0] < 350 < long.shape[0]
    assert (short[:100].min(), short.min(), short[:, :140].min()) == (255, 0, 255)  # black on white, with margins
    assert image(data_set.read(dpi=75)).shape[1] == 620


def test_the_same_text_gives_the_same_pixels_and_a_page_has_no_second_one(data_set):
    benchmark = data_set.read()
    assert np.array_equal(image(benchmark), image(benchmark))
    with pytest.raises(DataError, match="port/d1: no page 1: a document is one page"):
        benchmark.page_image(benchmark.documents()[0], 1)


def test_an_engine_reads_what_is_drawn(data_set):
    data_set.corpus[0]["text"] = "A night costs 14 crowns, and half as much for boats below six meters. " * 3
    benchmark = data_set.read()
    (found,) = Tesseract(dpi=150).recognise([image(benchmark)])
    assert " ".join(found.text.split()) == " ".join(benchmark.pages(benchmark.documents()[0])[0].text.split())


def test_a_word_that_is_wider_than_the_page_and_a_text_without_spaces_are_broken(data_set):
    data_set.corpus[0] = {"_id": "d1", "text": "x" * 1000}
    drawn = image(data_set.read())
    assert drawn.shape[0] > 500
    assert drawn[:, -100:].min() == 255  # nothing is drawn into the margin


def test_characters_that_the_font_lacks_are_named_and_not_drawn_as_boxes(data_set):
    data_set.corpus[0]["text"] = "\u03b1-catenin \u2265 5 \u2013 \u4e2d"
    absent = "\u03b1 (U+03B1), \u2013 (U+2013), \u2265 (U+2265), \u4e2d (U+4E2D)"
    with pytest.raises(
        DataError, match=re.escape(f"port/d1: the font lacks {absent}: take `font: dejavu`, or `font:`")
    ):
        image(data_set.read(font="ascii"))
    with pytest.raises(DataError, match=r"the font lacks \S \(U\+4E2D\): take `font:` with the path"):
        image(data_set.read())
    plain = image(data_set.read(missing_glyphs="leave_out"))
    data_set.corpus[0]["text"] = "\u03b1-catenin \u2265 5 \u2013"
    assert image(data_set.read()).min() == 0
    assert np.array_equal(image(data_set.read()), plain)


def test_without_matplotlib_texts_are_read_and_images_say_what_they_need(data_set, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    benchmark = data_set.read()
    benchmark.check()
    assert benchmark.pages(benchmark.documents()[0])
    for drawn in (image, prints):
        with pytest.raises(DataError, match=r"`font: dejavu` needs Matplotlib: pip install 'ohr\[report\]'"):
            drawn(benchmark)
    assert image(data_set.read(font="ascii")).min() == 0


def test_a_fingerprint_has_all_that_decides_the_pixels(data_set, monkeypatch):
    font = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSerif.ttf"
    read = data_set.read
    found = [prints(read()), prints(read(dpi=100)), prints(read(font="ascii")), prints(read(font=font))]
    monkeypatch.setattr("ohr.benchmarks.beir.rendering.RENDERING", 2)
    found.append(prints(read()))
    assert len(set(found)) == 5


def test_a_font_that_is_none_is_refused_at_once(data_set):
    (data_set.root.parent / "font.ttf").write_text("no font")
    for name in ("font.ttf", "nowhere.ttf"):
        with pytest.raises(DataError, match=rf"font: \S+{name}: cannot be read as a font"):
            data_set.read(font=data_set.root.parent / name).check()


def test_a_page_without_text_is_white(data_set):
    data_set.corpus[0] = {"_id": "d1"}
    benchmark = data_set.read()
    assert image(benchmark).min() == 255
    assert isinstance(benchmark, Beir)


def test_marks_that_nobody_sees_change_no_pixel(data_set):
    plain = image(data_set.read())
    data_set.corpus[0]["text"] = "A ni\u00adght co\u200bsts\u00a014\x00 crowns.\u200f"
    assert np.array_equal(image(data_set.read()), plain)
    data_set.corpus[0]["text"] = "Caf\u00e9"
    composed = image(data_set.read())
    data_set.corpus[0]["text"] = "Cafe\u0301"
    assert np.array_equal(image(data_set.read()), composed)
