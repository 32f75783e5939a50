"""The text layer of PDFs, read by each engine that is installed."""

import importlib
import tracemalloc

import numpy as np
import pypdfium2
import pytest

from ohr.benchmarks.mini import Mini
from ohr.contracts import Document, DocumentView
from ohr.errors import PluginError
from ohr.files import pdf
from ohr.ocr.text_layer import TextLayer
from ohr.text.words import words

MINI = Mini(domains=("law",), languages=("en",))
BYLAW = next(document for document in MINI.documents() if document.name == "law/noise_bylaw")
MODULES = {"pdfium": "pypdfium2", "pdfplumber": "pdfplumber", "liteparse": "liteparse", "pymupdf4llm": "pymupdf4llm"}


def blank(count):
    return [np.zeros((1, 1, 3), np.uint8)] * count


@pytest.mark.parametrize("engine", MODULES)
def test_a_text_layer_has_the_words_of_the_truth(engine, capfd):
    try:
        importlib.import_module(MODULES[engine])
    except ImportError:
        pytest.skip(f"{MODULES[engine]} is not installed")
    layer = TextLayer(engine=engine)
    layer.check()
    found = layer.recognise_document(DocumentView(BYLAW, blank(BYLAW.pages), MINI.pdf(BYLAW)))
    for page, read in zip(MINI.pages(BYLAW), found, strict=True):
        wanted, got = set(words(page.text)), set(words(layer.written(read)))
        assert len(wanted & got) / len(wanted) > 0.8, page.index
    assert capfd.readouterr().out == ""
    assert "version" in layer.identity()


def test_a_scan_has_no_text_and_a_missing_file_is_an_error(tmp_path):
    path = tmp_path / "scan.pdf"
    pdf.write(path, [np.full((60, 80, 3), 255, np.uint8)] * 2, 72)
    scan = Document("law/scan", "law", "en", 2)
    found = TextLayer().recognise_document(DocumentView(scan, blank(2), path))
    assert [(read.text, read.error) for read in found] == [("", None), ("", None)]
    (lost,) = TextLayer().recognise_document(DocumentView(scan, blank(1), None))
    assert lost.error == "the benchmark has no PDF of this document"
    path.write_bytes(b"%PDF-1.4 broken")
    (broken,) = TextLayer().recognise_document(DocumentView(scan, blank(1), path))
    assert "not a PDF, or damaged" in broken.error


def test_a_thousand_pages_are_read_page_by_page(tmp_path):
    document = pypdfium2.PdfDocument.new()
    for _ in range(1000):
        document.new_page(100, 100).close()
    document.save(tmp_path / "long.pdf")
    document.close()
    tracemalloc.start()
    view = DocumentView(Document("law/long", "law", "en", 1000), range(1000), tmp_path / "long.pdf")
    found = TextLayer().recognise_document(view)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 1000 and peak < 8 << 18


def test_an_engine_that_is_not_there_is_named_with_its_licence(monkeypatch):
    monkeypatch.setitem(importlib.import_module("ohr.ocr.text_layer")._PACKAGES, "pymupdf4llm", "no_such_package")
    with pytest.raises(PluginError, match=r"AGPL-3.0 or commercial.*pip install no_such_package"):
        TextLayer(engine="pymupdf4llm").check()
