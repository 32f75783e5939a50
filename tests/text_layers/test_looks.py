"""Looks at PDFs: the process of the second reader, its limits, the cache, and the warnings."""

import signal

import pytest

from ohr.text_layers import looks as module
from ohr.text_layers.looks import Look, counts, looks, warnings
from ohr.text_layers.second_reader import Reading, readings
from tests.files.test_pdf_text import FONT, drawn, to_unicode
from tests.paper import Paper, prose

SHIFTED = {code: chr((code - 97 + 5) % 26 + 97) for code in range(97, 123)}


def shifted(path):
    """Write a page whose font shows other letters than its text layer has."""
    pieces = [(20, 380 - 12 * row, f"({line})") for row, line in enumerate(prose("harbor", 30))]
    font = f"{FONT[:-2]} /ToUnicode 6 0 R >>"
    return drawn(path, *pieces, font=font, size=6, more=[to_unicode(SHIFTED)])


def test_the_second_reader_reads_what_is_on_the_page_once(tmp_path):
    inside, bold, outside = (60, 300, "(Kelp)"), (60.3, 300, "(Kelp)"), (60, 40, "(Gulls)")
    path = drawn(tmp_path / "a.pdf", inside, bold, outside, crop="/CropBox [0 200 420 400]")
    assert list(readings(path)) == [Reading("Kelp", 0)]


def test_a_page_is_looked_at_by_both_readers_and_the_answer_is_kept(tmp_path, monkeypatch):
    path = Paper().page(prose("harbor")).page().save(tmp_path / "a.pdf")
    first, second = looks(path)
    assert (first.verdict, first.second, second.verdict) == ("whole", True, "none")
    monkeypatch.setattr(module, "_made", None)
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(path.read_bytes())
    assert looks(copy) == (first, second)


@pytest.mark.parametrize(
    "kept", ["[]", "{}", "null", "[[1, 2, 3, 4], [1, 2, 3, 4]]", '[["t", "whole", "", true]]', "["]
)
def test_a_damaged_answer_is_made_again(tmp_path, monkeypatch, kept):
    monkeypatch.setattr(module, "user_cache", lambda: tmp_path / "cache")
    path = Paper().page(prose("harbor")).page().save(tmp_path / "a.pdf")
    answer = looks(path)
    (place,) = (tmp_path / "cache/text-layers").glob("*.json")
    place.write_text(kept)
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(path.read_bytes())
    assert looks(copy) == answer


def test_letters_that_a_font_shows_otherwise_are_garbled(tmp_path):
    (look,) = looks(shifted(tmp_path / "a.pdf"), 0)
    assert look.verdict == "garbled"
    assert look.reason == "its text layer is not words: 27% of its letters are frequent ones"


def test_ocr_decides_about_doubtful_pages(tmp_path):
    pytest.importorskip("tesserocr")
    (look,) = looks(shifted(tmp_path / "a.pdf"))
    assert look.verdict == "garbled" and "words that OCR reads on the page" in look.reason
    drawn_so = Paper().page(["".join(SHIFTED.get(ord(sign), sign) for sign in line) for line in prose("harbor", 30)])
    (look,) = looks(drawn_so.save(tmp_path / "b.pdf"))
    assert look.verdict == "whole"


def test_a_page_that_takes_the_second_reader_too_long_is_not_checked_and_the_next_is(tmp_path, monkeypatch):
    path = Paper().page(["Kelp grows"]).page(["Gulls nest"]).save(tmp_path / "a.pdf")
    seconds = iter([1e-6, 10.0])
    start = signal.setitimer
    monkeypatch.setattr(
        signal, "setitimer", lambda timer, limit: start(timer, next(seconds)) if limit else start(timer, 0)
    )
    assert list(readings(path)) == [None, Reading("Gulls nest", 0)]


def test_a_second_reader_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_START", 0.0)
    monkeypatch.setattr(module, "PAGE_SECONDS", 0.0)
    (look,) = looks(Paper().page(["Kelp grows"]).save(tmp_path / "a.pdf"))
    assert (look.verdict, look.second) == ("whole", False)


def test_a_cache_that_is_damaged_or_cannot_be_written_costs_another_look(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(module, "user_cache", lambda: tmp_path / "file")
    assert looks(Paper().page(["Kelp"]).save(tmp_path / "a.pdf"))[0].verdict == "whole"
    monkeypatch.setattr(module, "user_cache", lambda: tmp_path / "cache")
    path = Paper().page(["Gulls"]).save(tmp_path / "b.pdf")
    looks(path)
    (kept,) = (tmp_path / "cache" / "text-layers").iterdir()
    kept.write_text("[[1]]")
    looks.__wrapped__(path)
    assert looks.__wrapped__(path)[0].text == "Gulls"


WHOLE, GARBLED = Look("Kelp", "whole", "", second=True), Look("Xy", "garbled", "it is not words", second=True)


def test_pages_that_are_not_whole_are_named_with_reason_and_advice():
    lines = list(warnings({"d/a": [WHOLE, GARBLED, GARBLED], "d/b": [WHOLE]}))
    assert lines[0] == "d/a page 2 and 1 more page: the text layer is garbled: it is not words"
    assert lines[1].startswith("text layers: 2 whole, 2 garbled; what is not whole")
    assert counts([WHOLE, Look("", "none", "", second=True)]) == "1 whole"
    assert not list(warnings({"d/b": [WHOLE]}))
    assert "10 more" in list(warnings({str(n): [GARBLED] for n in range(15)}))[5]


def test_a_reader_alone_is_reported(monkeypatch):
    alone = [WHOLE._replace(second=False)]
    assert "1 page" in next(warnings({"d/a": alone}))
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert "pip install 'ohr[text_layer]'" in next(warnings({"d/a": alone}))
