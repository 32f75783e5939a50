"""Text layers of PDFs, page by page: what is drawn as text, with what form fields and annotations hold."""

import ctypes
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ohr.files.pdf import opened

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points from the page's lower left corner."""

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_NO_CHARACTER = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_BLANK = (612, 792)  # points
_WITHOUT_TEXT = (1, 2, 16)  # notes, links and pop-ups


@dataclass(frozen=True, slots=True)
class Layer:
    """The text layer of a page.

    Args:
        error: why the page cannot be read; None for one that can.
        glyphs: how many are drawn as text, spaces among them.
        unknown: how many of them have no Unicode, so that the text lacks them or has others in their place.
    """

    text: str = ""
    error: str | None = None
    glyphs: int = 0
    unknown: int = 0


def text_layer(path: Path) -> Iterator[Layer]:
    """Read the text layer of a PDF; scanned pages have none, and a page that is damaged has an error.

    Raises:
        DataError: the file is missing, empty, encrypted or no PDF.
    """
    import pypdfium2

    with opened(path) as document:
        for index in range(len(document)):
            try:
                yield _layer(document, index)
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


def _layer(document: Any, index: int) -> Layer:
    layer, signs = _read(document, index)
    if boxes := _flatten(document, index):
        whole, drawn = _read(document, index, is_flat=True)
        layer = replace(whole, text=_with_fields(signs, drawn, boxes) or whole.text)
    return layer


@dataclass(frozen=True, slots=True)
class _Sign:
    text: str
    box: Box

    @property
    def is_drawn(self) -> bool:
        return self.box[0] < self.box[2]

    def is_in(self, box: Box) -> bool:
        across, up = (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2
        return box[0] <= across <= box[2] and box[1] <= up <= box[3]


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


def _read(document: Any, index: int, *, is_flat: bool = False) -> tuple[Layer, list[_Sign]]:
    """Read a page; and its signs one by one, where it has annotations or had some."""
    import pypdfium2.raw as pdfium

    page = document[index]
    layer = page.get_textpage()
    try:
        text = layer.get_text_bounded()
        places = range(layer.count_chars())
        codes = [pdfium.FPDFText_GetUnicode(layer, place) for place in places]
        drawn = [place for place in places if pdfium.FPDFText_IsGenerated(layer, place) != 1]
        unknown = sum(
            pdfium.FPDFText_IsHyphen(layer, place) != 1
            and (pdfium.FPDFText_HasUnicodeMapError(layer, place) == 1 or _lacks_character(codes, place))
            for place in drawn
        )
        if _RIGHT_TO_LEFT.search(text):
            text = _in_logical_order(layer, codes)
        with_signs = is_flat or pdfium.FPDFPage_GetAnnotCount(page) > 0
        signs = [_Sign(chr(codes[n]), layer.get_charbox(n)) for n in places if codes[n]] if with_signs else []
    finally:
        layer.close()
        page.close()
    return Layer(text.replace("\r\n", "\n"), None, len(drawn), unknown), signs


def _lacks_character(codes: Sequence[int], place: int) -> bool:
    """Report whether a code is no character; a private one by itself is a bullet or a picture."""
    code = codes[place]
    if not is_private(chr(code)):
        return code == 0 or _NO_CHARACTER.match(chr(code)) is not None
    return any(0 <= near < len(codes) and not chr(codes[near]).isspace() for near in (place - 1, place + 1))


def is_private(sign: str) -> bool:
    """Report whether a sign has a meaning in its font only, as those of symbol fonts have."""
    return unicodedata.category(sign) == "Co"


def _in_logical_order(layer: Any, codes: Sequence[int]) -> str:
    """Write a page with scripts from right to left.

    pdfium reverses their signs one by one, and so the letters of a glyph of several letters, such as lam-alef.
    """
    import pypdfium2.raw as pdfium

    across, up = ctypes.c_double(), ctypes.c_double()
    text = ""
    signs = []
    for place, code in enumerate(codes):
        pdfium.FPDFText_GetCharOrigin(layer, place, across, up)
        is_letter = _RIGHT_TO_LEFT.match(chr(code)) and unicodedata.category(chr(code)) == "Lo"
        signs.append(((across.value, up.value) if is_letter else place, chr(code)))
    for _, group in groupby(signs, key=lambda sign: sign[0]):
        letters = "".join(sign for _, sign in group)
        text += letters if letters in _ligatures() and letters[::-1] not in _ligatures() else letters[::-1]
    return text.replace("\0", "")


@lru_cache(maxsize=1)
def _ligatures() -> frozenset[str]:
    """The letters of Arabic ligatures that have a code of their own, which pdfium parts in the right order."""
    signs = (chr(code) for code in (*range(0xFB50, 0xFE00), *range(0xFE70, 0xFEFD)))
    return frozenset(unicodedata.normalize("NFKC", sign) for sign in signs)


def _with_fields(signs: Sequence[_Sign], drawn: Sequence[_Sign], boxes: Sequence[Box]) -> str:
    """Write what fields hold where a reader sees it: behind its label on the line, before it, or below the line above.

    Args:
        signs: of the page alone.
        drawn: of the page with its fields, in an order of their own.

    Returns:
        Nothing where the order of the page's own signs is another with its fields.
    """
    page, own = "".join(sign.text for sign in signs), {(sign.text, sign.box) for sign in signs}
    if _RIGHT_TO_LEFT.search(page):
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
        page = page[:place] + text + page[place:]
    return page.replace("\r\n", "\n")


def _place(signs: Sequence[_Sign], box: Box) -> tuple[int, str, str]:
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
