"""Text whose lines run from top to bottom."""

import sys

import pytest

from ohr.files import pdf, pdf_vertical
from ohr.files.pdf_text import lacks_pieces, text_layer

from .test_pdf_text import drawn

LINES = "海の上の灯台は夜明けに光を消した", "港の人々は船の帰りを待っていた", "風が強く波が高い日であった"


def vertical(path, pieces, crop="", coding="UniJIS-UTF16-V"):
    font = f"<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /{coding} /DescendantFonts [6 0 R] >>"
    about = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 4 >> /FontDescriptor 7 0 R /DW 1000"
    descriptor = (
        "/Flags 6 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80"
    )
    more = (
        f"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light {about} >>",
        f"<< /Type /FontDescriptor /FontName /Ryumin-Light {descriptor} >>",
    )
    written = [(across, up, f"<{text.encode('utf-16-be').hex()}>") for across, up, text in pieces]
    return drawn(path, *written, font=font, size=14, more=more, crop=crop)


@pytest.fixture
def no_font_here(tmp_path):
    """Skip where this machine has a font for Japanese: pdfium then leaves nothing out."""
    path = vertical(tmp_path / "font.pdf", [(350, 380, LINES[0])])
    with pdf.opened(path) as document:
        if not pdf_vertical.left_out(document[0], ""):
            pytest.skip("a font of this machine has Japanese letters, so pdfium leaves none out")


BY_LINE = [(350 - 24 * n, 380, line) for n, line in enumerate(LINES)]
BY_LETTER = [(350 - 24 * n, 380 - 14 * m, letter) for n, line in enumerate(LINES) for m, letter in enumerate(line)]


@pytest.mark.parametrize("pieces", [BY_LINE, BY_LETTER, BY_LINE[::-1], sorted(BY_LETTER, key=lambda each: -each[1])])
def test_lines_from_top_to_bottom_are_read_whole_and_from_the_right(tmp_path, pieces):
    pytest.importorskip("pdfplumber")
    (layer,) = text_layer(vertical(tmp_path / "v.pdf", pieces))
    assert (layer.text.splitlines(), layer.left_out) == (list(LINES), 0)


def test_lines_from_top_to_bottom_that_cannot_be_read_are_counted(tmp_path, monkeypatch, no_font_here):
    monkeypatch.setitem(sys.modules, "pdfplumber", None)
    (layer,) = text_layer(vertical(tmp_path / "v.pdf", BY_LETTER))
    assert (layer.left_out, len(layer.text.split())) == (42, 2)


HEADER = (20, 385, "Kelp and Gulls 2020")


@pytest.mark.parametrize("coding", ["UniJIS-UTF16-H", "UniJIS-UTF16-V"])
def test_lines_from_top_to_bottom_beside_words_of_latin_are_read(tmp_path, coding):
    pytest.importorskip("pdfplumber")
    header = [(20 + 10 * n, 385, letter) for n, letter in enumerate("Kelp 2020")]
    letters = [(350 - 24 * n, 340 - 14 * m, letter) for n, line in enumerate(LINES) for m, letter in enumerate(line)]
    (layer,) = text_layer(vertical(tmp_path / "v.pdf", [*header, *letters], coding=coding))
    assert (layer.text.splitlines(), layer.left_out) == (["Kelp 2020", *LINES], 0)


def test_lines_from_top_to_bottom_in_a_page_of_latin_are_counted(tmp_path, monkeypatch, no_font_here):
    words = [(20, 300 - 14 * n, f"Kelp grows ashore {n}") for n in range(8)]
    (layer,) = text_layer(vertical(tmp_path / "v.pdf", [*words, *BY_LETTER[:6]], coding="UniJIS-UTF16-H"))
    assert (layer.left_out, layer.text.splitlines()) == (6, [text for _, _, text in words])
    monkeypatch.setitem(sys.modules, "pdfplumber", None)
    (layer,) = text_layer(vertical(tmp_path / "v.pdf", [HEADER, *BY_LETTER]))
    assert layer.left_out == 42


def test_a_page_of_latin_is_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf_vertical, "read", None)
    (layer,) = text_layer(drawn(tmp_path / "k.pdf", (20, 300, "( )"), (60, 300, "(Kelp)"), (90, 300, "()")))
    assert (layer.text.strip(), layer.left_out) == ("Kelp", 0)


CELLS = [(20 + 40 * n, 340 - 14 * m, "甲乙丙丁戊己庚辛壬"[3 * m + n]) for m in range(3) for n in range(3)]


@pytest.mark.parametrize(
    ("coding", "cells", "lines"),
    [
        ("UniJIS-UTF16-H", CELLS, ["甲 乙 丙", "丁 戊 己", "庚 辛 壬"]),
        ("UniJIS-UTF16-H", sorted(CELLS, key=lambda cell: cell[0]), ["丙己壬", "乙戊辛", "甲丁庚"]),  # drawn by column
        ("UniJIS-UTF16-V", CELLS, ["丙己壬", "乙戊辛", "甲丁庚"]),
    ],
)
def test_cells_of_one_letter_that_are_drawn_by_row_are_read_by_row(tmp_path, coding, cells, lines):
    pytest.importorskip("pdfplumber")
    (layer,) = text_layer(vertical(tmp_path / "v.pdf", cells, coding=coding))
    assert (layer.text.splitlines(), layer.left_out) == (lines, 0)


def test_a_title_across_is_read_before_the_lines_from_top_to_bottom(tmp_path):
    pytest.importorskip("pdfplumber")
    pieces = [(350 - 24 * n, 335, line) for n, line in enumerate(LINES)]
    title = [(20 + 14 * n, 385, letter) for n, letter in enumerate("海と港の物語海と港の話")]
    (layer,) = text_layer(vertical(tmp_path / "v.pdf", [*title, *pieces]))
    assert (layer.text.splitlines(), layer.left_out) == (["海と港の物語海と港の話", *LINES], 0)


def test_a_library_that_is_installed_is_not_advised(monkeypatch):
    pytest.importorskip("pdfplumber")
    assert "pip install" not in lacks_pieces(2)
    monkeypatch.setitem(sys.modules, "pdfplumber", None)
    assert "pip install" in lacks_pieces(2)


def test_letters_across_the_edge_of_the_page_are_read_and_others_outside_are_not(tmp_path):
    pytest.importorskip("pdfplumber")
    more = [(350, 407, "灯"), (326, 440, "海"), (50, 380, "港")]
    path = vertical(tmp_path / "v.pdf", [*BY_LINE, *more], crop="/CropBox [100 0 420 400]")
    (layer,) = text_layer(path)
    assert (layer.text.splitlines(), layer.left_out) == (["灯" + LINES[0], LINES[1], LINES[2]], 0)
