"""Pages of PDFs as a reader sees them: how much of their text is visible, and how much of their ink is text."""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohr.files.pdf import opened

_PIXELS = 1_000_000
"""At most so many a page: A4 at 72 dpi has half a million, in which a letter of 6 points is 4 pixels high."""
_CHANGED, _INK = 8, 48
"""Differences of grey values: by which a glyph changes a page at least, and of ink from the background."""
_DEPTH = 16  # forms in forms


class Sight(NamedTuple):
    """A page as a reader sees it.

    Attributes:
        glyphs: how many its text layer has, without white space.
        hidden: how many of them the page looks the same without: an earlier OCR's, drawn invisibly or under an image.
        ink: share of the page that is not background, in [0, 1].
        unread: share of the ink that is outside of the text layer's visible glyphs; 0 where there is no ink.
    """

    glyphs: int
    hidden: int
    ink: float
    unread: float


def sights(path: Path) -> Iterator[Sight | None]:
    """Look at each page of a PDF, with its text and without it; None for one that is damaged.

    Raises:
        DataError: the file is missing, empty, encrypted or no PDF.
    """
    import pypdfium2

    with opened(path) as document:
        for index in range(len(document)):
            try:
                page = document[index]
                try:
                    yield _sight(page)
                finally:
                    page.close()
            except pypdfium2.PdfiumError:
                yield None


def _sight(page: Any) -> Sight:
    scale = min(1.0, (_PIXELS / max(page.get_width() * page.get_height(), 1)) ** 0.5)
    whole = _grey(page, scale)
    boxes = _boxes(page, whole.shape)
    without_text = _grey_without_text(page, scale) if boxes else whole
    changed = abs(whole - without_text) > _CHANGED
    is_ink = abs(whole - np.bincount(whole.ravel(), minlength=256).argmax()) > _INK
    is_text, hidden = np.zeros(whole.shape, dtype=bool), 0
    for box in boxes:
        if changed[box].any():
            is_text[box] = True
        else:
            hidden += 1
    ink = int(is_ink.sum())
    return Sight(len(boxes), hidden, ink / is_ink.size, int((is_ink & ~is_text).sum()) / ink if ink else 0.0)


def _grey(page: Any, scale: float) -> NDArray[np.int16]:
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        return np.asarray(bitmap.to_numpy(), dtype=np.int16).reshape(bitmap.height, bitmap.width)
    finally:
        bitmap.close()


def _grey_without_text(page: Any, scale: float) -> NDArray[np.int16]:
    """Draw the page with all of its text in the mode of invisible text; what is open in memory is changed, no file."""
    import pypdfium2.raw as pdfium

    for text in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT], max_depth=_DEPTH):
        pdfium.FPDFTextObj_SetTextRenderMode(text, pdfium.FPDF_TEXTRENDERMODE_INVISIBLE)
    return _grey(page, scale)


def _boxes(page: Any, shape: tuple[int, ...]) -> list[tuple[slice, slice]]:
    """Return the pixels of each glyph that is no white space, with one more on each side."""
    import pypdfium2.raw as pdfium

    layer, boxes = page.get_textpage(), []
    across, down = ctypes.c_int(), ctypes.c_int()
    try:
        for place in range(layer.count_chars()):
            generated = pdfium.FPDFText_IsGenerated(layer, place) == 1
            if generated or chr(pdfium.FPDFText_GetUnicode(layer, place)).isspace():
                continue
            left, bottom, right, top = layer.get_charbox(place)
            corners = []
            for x, y in ((left, bottom), (right, top)):
                pdfium.FPDF_PageToDevice(page, 0, 0, shape[1], shape[0], 0, x, y, across, down)
                corners.append((across.value, down.value))
            (x0, y0), (x1, y1) = corners
            boxes.append(
                (slice(max(min(y0, y1) - 1, 0), max(y0, y1, 0) + 2), slice(max(min(x0, x1) - 1, 0), max(x0, x1, 0) + 2))
            )
    finally:
        layer.close()
    return boxes
