"""Text layers of PDFs, page by page: what is drawn as text or held by form fields, and how much of it a reader sees."""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohr.files import pdf_vertical
from ohr.files.pdf import opened
from ohr.files.pdf_signs import Box, Reading, Sign, character, is_right_to_left, read_signs
from ohr.messages.wording import counted

_BLANK = (612, 792)  # points
_WITHOUT_TEXT = (1, 2, 16)  # notes, links and pop-ups


@dataclass(frozen=True, slots=True)
class Layer:
    """The text layer of a page.

    Args:
        error: why the page cannot be read; None for one that can.
        glyphs: how many are drawn as text, spaces among them.
        unknown: how many of them have no Unicode, so that the text lacks them or has others in their place.
        left_out: how many pieces of text are missing, as those of vertical lines may be.
    """

    text: str = ""
    error: str | None = None
    glyphs: int = 0
    unknown: int = 0
    left_out: int = 0


def lacks_pieces(count: int) -> str:
    """Sentence that pieces of text are missing from a text layer, and what may read them, unless it is installed."""
    advice = "" if find_spec("pdfplumber") else ": pip install 'ohr[text_layer]' brings a library that reads them"
    return (
        f"{counted(count, 'piece')} of its text may be missing, as lines from top to bottom are in fonts outside of a "
        f"PDF{advice}"
    )


def text_layer(path: Path) -> Iterator[Layer]:
    """Read the text layer of a PDF; scanned pages have none, and a page that is damaged has an error.

    Raises:
        DataError: the file is missing, empty, encrypted or no PDF.
    """
    import pypdfium2

    with opened(path) as document:
        for index in range(len(document)):
            try:
                yield _layer(path, document, index)
            except pypdfium2.PdfiumError as error:
                yield Layer(error=f"{path}: page {index + 1} of {len(document)} cannot be read: {error}")


def flattened(path: Path, folder: Path, *, forms_only: bool = False) -> Path:
    """Return a PDF in which form fields and annotations are part of the pages: a copy in `folder`, where it has any.

    A page that is missing is blank in the copy. Libraries that read text leave fields and annotations out, and many
    that render leave out fields; a viewer and a printer show them.

    Args:
        forms_only: whether a PDF without form fields stays as it is.
    """
    import pypdfium2

    with opened(path) as document:
        lost = missing_pages(path)
        changed = [
            index
            for index in range(0 if forms_only and not document.formenv else len(document))
            if index not in lost and _flatten(document, index)
        ]
        if not changed and not lost:
            return path
        whole = document
        if lost:  # blank pages in their places keep the numbers of the others
            whole = pypdfium2.PdfDocument.new()
            whole.import_pages(document, [index for index in range(len(document)) if index not in lost])
            for index in sorted(lost):
                whole.new_page(*_BLANK, index=index).close()
        whole.save(folder / path.name)
        return folder / path.name


def missing_pages(path: Path) -> frozenset[int]:
    """Return the numbers, from 0, of pages that a PDF claims and does not have. Raises DataError as `text_layer`."""
    import pypdfium2

    found = set()
    with opened(path) as document:
        for index in range(len(document)):
            try:
                document.get_page_size(index)
            except pypdfium2.PdfiumError:
                found.add(index)
    return frozenset(found)


@contextmanager
def shown(path: Path, *, forms_only: bool = False) -> Iterator[Path]:
    """Hold what `flattened` returns, with its copy in a temporary folder."""
    with TemporaryDirectory(prefix="ohr-", ignore_cleanup_errors=True) as folder:
        yield flattened(path, Path(folder), forms_only=forms_only)


def _layer(path: Path, document: Any, index: int) -> Layer:
    alone, left_out = _read(document, index)
    whole, text = alone, alone.text
    if boxes := _flatten(document, index):
        whole, left_out = _read(document, index)
        text = _with_fields(alone.signs, whole.signs, boxes) or whole.text
    if left_out or pdf_vertical.may_run_down(text):
        in_columns, left_out = pdf_vertical.read(path, index, whole.signs, left_out)
        text = in_columns or text
    return Layer(text, None, whole.glyphs, whole.unknown, left_out)


def _flatten(document: Any, index: int) -> list[Box]:
    """Make fields and annotations part of a page, which has to be loaded again; return the boxes of what was drawn."""
    import pypdfium2.raw as pdfium

    page, boxes = document[index], []
    try:
        for place in range(pdfium.FPDFPage_GetAnnotCount(page)):
            annotation, box = pdfium.FPDFPage_GetAnnot(page, place), pdfium.FS_RECTF()
            if pdfium.FPDFAnnot_GetSubtype(annotation) not in _WITHOUT_TEXT:
                pdfium.FPDFAnnot_GetRect(annotation, box)
                boxes.append((box.left, box.bottom, box.right, box.top))
            pdfium.FPDFPage_CloseAnnot(annotation)
        done = bool(boxes) and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS
    finally:
        page.close()
    return boxes if done else []


def _read(document: Any, index: int) -> tuple[Reading, int]:
    """Read a page; and count the pieces of text that pdfium leaves out of it."""
    page = document[index]
    layer = page.get_textpage()
    try:
        reading = read_signs(page, layer)
        return reading, pdf_vertical.left_out(page, reading.text)
    finally:
        layer.close()
        page.close()


def _with_fields(signs: Sequence[Sign], drawn: Sequence[Sign], boxes: Sequence[Box]) -> str:
    """Write what fields hold where a reader sees it: behind its label on the line, before it, or below the line above.

    Args:
        signs: of the page alone.
        drawn: of the page with its fields, in an order of their own.

    Returns:
        Nothing where the order of the page's own signs is another with its fields.
    """
    page, own = [sign.text for sign in signs], {(sign.text, sign.box) for sign in signs}
    if is_right_to_left("".join(page)):
        return ""
    added = []
    for box in sorted(boxes, key=lambda box: (-box[3], box[0])):
        held, inside = "", False
        for sign in drawn:
            if sign.is_drawn:
                inside = sign.is_in(box) and (sign.text, sign.box) not in own
            held += sign.text if inside else ""
        if held.strip():
            place, before, after = _place(signs, box)
            added.append((place, f"{before}{held.strip()}{after}"))
    for place, text in sorted(added, key=lambda each: each[0], reverse=True):
        page.insert(place, text)
    return "".join(page)


def _place(signs: Sequence[Sign], box: Box) -> tuple[int, str, str]:
    """Return where among the signs a field belongs, and what parts it from the text before and after."""
    seen = [(place, sign.box) for place, sign in enumerate(signs) if not sign.text.isspace()]
    line = [(place, at) for place, at in seen if box[1] <= (at[1] + at[3]) / 2 <= box[3]]
    if before := [(at[2], place) for place, at in line if at[2] <= box[0] + 1]:
        return max(before)[1] + 1, " ", ""
    if after := [(at[0], place) for place, at in line if at[0] >= box[2] - 1]:
        return min(after)[1], "", " "
    above = [(at, place) for place, at in seen if at[1] >= box[3] - 1]
    top = min((at for at, _ in above), key=lambda at: at[1], default=box)[3]  # of the lowest sign above
    last = max((place for at, place in above if at[1] < top), default=None)
    return (0, "", "\n") if last is None else (last + 1, "\n", "")


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
            except (pypdfium2.PdfiumError, ValueError):  # the latter for a page without a size
                yield None


def _sight(page: Any) -> Sight:
    scale = min(1.0, (_PIXELS / max(page.get_width() * page.get_height(), 1)) ** 0.5)
    whole = _grey(page, scale)
    boxes = [box for box in _boxes(page, whole.shape) if whole[box].size]  # the others are outside of the page
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


def _boxes(page: Any, shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """Return the pixels of each glyph that is no white space, with one more on each side."""
    import pypdfium2.raw as pdfium

    layer, boxes = page.get_textpage(), []
    across, down = ctypes.c_int(), ctypes.c_int()
    try:
        for place in range(layer.count_chars()):
            generated = pdfium.FPDFText_IsGenerated(layer, place) == 1
            if generated or character(pdfium.FPDFText_GetUnicode(layer, place)).isspace():
                continue
            left, bottom, right, top = layer.get_charbox(place)
            corners = []
            for x, y in ((left, bottom), (right, top)):
                pdfium.FPDF_PageToDevice(page, 0, 0, shape[1], shape[0], 0, x, y, across, down)
                corners.append((across.value, down.value))
            (x0, y0), (x1, y1) = corners
            boxes.append(tuple(slice(max(min(ends) - 1, 0), max(max(ends) + 2, 0)) for ends in ((y0, y1), (x0, x1))))
    finally:
        layer.close()
    return boxes
