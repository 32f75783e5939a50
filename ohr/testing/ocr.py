"""Conformance of OCR backends."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ohr.contracts import AnyOcr, Document, DocumentView, Image, OcrBackend, Recognition
from ohr.files import pdf
from ohr.messages.wording import counted
from ohr.testing.noise import odd_images
from ohr.testing.stage import check_stage, require, suite


@suite
def check_ocr(ocr: AnyOcr, *, line: Image | None = None, reads: str = "") -> None:
    """Check an OCR backend.

    Args:
        ocr: the backend.
        line: a page image with text on it.
        reads: what must be among what is read on `line`.
    """
    check_stage(ocr)
    require(
        ocr,
        isinstance(ocr.reads("en"), bool) and isinstance(ocr.reads("xx"), bool),
        "`reads` must return True or False",
    )
    if isinstance(ocr, OcrBackend):
        _check_engine(ocr, line, reads)


@suite
def _check_engine(ocr: OcrBackend, line: Image | None, reads: str) -> None:
    require(ocr, list(ocr.recognise([])) == [], "no image must give no result")
    odd = odd_images()
    images = [odd[0], odd[2], odd[-1], *([line] if line is not None else [])]
    before = [image.copy() for image in images]
    found = list(ocr.recognise(images))
    require(ocr, len(found) == len(images), f"{counted(len(images), 'image')} gave {counted(len(found), 'result')}")
    _check_results(ocr, found)
    require(ocr, all(map(np.array_equal, images, before)), "it must not change its input")
    require(
        ocr,
        list(ocr.recognise(images[::-1])) == found[::-1],
        "results must be repeatable, in the order of the images",
    )
    if ocr.reads_documents:
        _check_document(ocr, images)
    if ocr.reads_original and found[0].error:
        require(ocr, all(result.error for result in found), "it must refuse each image with an error")
        return
    require(ocr, all(result.error is None for result in found), f"it must read odd images too: {found}")
    if line is not None:
        text = ocr.written(found[-1])
        require(ocr, reads in text, f"it read {text!r} where {reads!r} is written")


@suite
def _check_results(ocr: OcrBackend, found: Sequence[Recognition]) -> None:
    for result in found:
        require(ocr, isinstance(result, Recognition) and isinstance(result.text, str), f"{result!r} is no Recognition")
        require(ocr, result.error is None or result.text == "", "a page that failed has an error and no text")
        require(ocr, isinstance(ocr.written(result), str), "`written` must return the page's text")
        sure = all(word.text and 0 <= (word.confidence or 0) <= 1 for word in result.words)
        require(ocr, sure, "words must have a text, and a confidence in [0, 1] or none")


@suite
def _check_document(ocr: OcrBackend, images: Sequence[Image]) -> None:
    """Check that a document gives one result per page, with its file and without."""
    document = Document("law/lease", "law", "en", len(images))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lease.pdf"
        pdf.write(path, images, 100)
        for view in (DocumentView(document, images, path), DocumentView(document, images)):
            found = list(ocr.recognise_document(view))
            given = f"{counted(len(images), 'page')} gave {counted(len(found), 'result')}"
            require(ocr, len(found) == len(images), given)
            _check_results(ocr, found)
