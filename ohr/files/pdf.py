"""Page images from PDF files. Pages are shown as a viewer shows them: with what was typed into form fields."""

import re
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files import MOST_PAGES, images
from ohr.files.changes import kept_until_changed
from ohr.files.names import printable
from ohr.messages.wording import counted

_KNOWN = {
    "ASCIIHexDecode", "ASCII85Decode", "LZWDecode", "FlateDecode", "RunLengthDecode", "CCITTFaxDecode", "JBIG2Decode",
    "DCTDecode", "JPXDecode", "Crypt", "AHx", "A85", "LZW", "Fl", "RL", "CCF", "DCT",
}  # fmt: skip
"""Filters of PDF 2.0 (ISO 32000-2, table 6), and the short names of some (table 92)."""
_ANY_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_FILTERS = re.compile(rb"/Filter\s*(?:\[([^\]]*)\]|(/[^\s/<>\[\](){}%]+))")
_NAME = re.compile(rb"/([^\s/<>\[\](){}%]+)")
_CODE = re.compile(rb"#([0-9A-Fa-f]{2})")
_LONGEST = 4096
"""Bytes of a dictionary before its stream: longer ones have no filter that is looked for."""


def unknown_filters(content: bytes) -> list[str]:
    """Return the names of filters of streams that PDF 2.0 does not have, sorted.

    The dictionary of a stream is never compressed itself; a `/Filter` elsewhere, as of encryption, is something else.
    """
    found = set[str]()
    for stream in _ANY_STREAM.finditer(content):
        start = content.rfind(b"obj", max(stream.start() - _LONGEST, 0), stream.start())
        for several, single in _FILTERS.findall(content, max(start, 0), stream.start()) if start >= 0 else ():
            names = (
                _CODE.sub(lambda code: bytes([int(code[1], 16)]), name) for name in _NAME.findall(several or single)
            )
            found.update(printable(name.decode("latin-1")) for name in names)
    return sorted(found - _KNOWN)


@kept_until_changed(64)
def unread(path: Path) -> str:
    """Name the filters of a file that are not undone here, as what compresses it; nothing where there are none."""
    return compressed_by(path.read_bytes())


def compressed_by(content: bytes) -> str:
    """As `unread`, of the content of a file."""
    names = unknown_filters(content)
    return f"compressed by {' and '.join(names)}, which {'is' if len(names) == 1 else 'are'} not read here" * bool(
        names
    )


_BELIEVED = 1_000  # pages: up to here a claimed page that is missing costs only itself
_TRACE = 0.002  # of a pixel
_UNIT = re.compile(rb"/UserUnit\s+(\d*\.?\d+)")
_STREAM = re.compile(rb"/ObjStm.*?stream\r?\n", re.DOTALL)
_SOME_MEGABYTES = 1 << 25


def render(path: Path, index: int, dpi: int) -> Image:
    """Render one page as (H, W, 3) RGB, with its annotations and form fields, in the units that it states.

    Raises:
        DataError: the file is missing, empty, encrypted or no PDF, has no such page, or the page is too large.
    """
    import pypdfium2

    with opened(path) as document:
        if not 0 <= index < len(document):
            raise DataError(f"{path}: no page {index}: it has {counted(len(document), 'page')}, counted from 0")
        try:
            page = document[index]
            try:
                scale = dpi / 72 * unit(path, document, index)
                _refuse_large(page.get_size(), scale, dpi, f"{path}: page {index + 1}")
                bitmap = page.render(scale=scale, rev_byteorder=True)
                image = bitmap.to_numpy()[:, :, :3].copy()
                bitmap.close()
            finally:
                page.close()
        except pypdfium2.PdfiumError as error:
            raise DataError(f"{path}: page {index + 1} does not render: {error}") from None
    return np.asarray(image, dtype=np.uint8)


def peculiarities(path: Path) -> list[str]:
    """Return what changed the images of a few PDFs when ohr came to draw it, for their fingerprints.

    A file that cannot be read has none.
    """
    try:
        with opened(path) as document:
            fields = ["fields"] if document.formenv else []
            return fields + ["units"] * any(unit(path, document, index) != 1 for index in range(len(document)))
    except Exception:  # it is reported where the file is read
        return []


def write(path: Path, pages: Iterable[Image], dpi: int) -> None:
    """Write page images as a PDF, without loss: rendered at the same dpi they come back pixel by pixel."""
    import pypdfium2
    from PIL import Image as Pillow

    document = pypdfium2.PdfDocument.new()
    try:
        for image in pages:
            bitmap = pypdfium2.PdfBitmap.from_pil(Pillow.fromarray(image))
            # a trace too small, since a renderer rounds the page up to whole pixels
            height, width = ((length - _TRACE) * 72 / dpi for length in image.shape[:2])
            page, placed = document.new_page(width, height), pypdfium2.PdfImage.new(document)
            placed.set_bitmap(bitmap)
            placed.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
            page.insert_obj(placed)
            page.gen_content()
            page.close()
            bitmap.close()
        document.save(path)
    finally:
        document.close()


def faults(path: Path, dpi: int) -> Iterator[str]:
    """Report pages that do not load, those of which parts cannot be decompressed, and those too large to render.

    None is rendered.

    Raises:
        DataError: as `render`.
    """
    import pypdfium2

    with opened(path) as document:
        for index in range(len(document)):
            try:
                scale = dpi / 72 * unit(path, document, index)
                _refuse_large(document.get_page_size(index), scale, dpi, f"page {index + 1} of {len(document)}")
                if unread(path) and (why := compressed_by(_alone(document, index))):
                    yield f"{path}: page {index + 1} of {len(document)} lacks what is {why}"
            except pypdfium2.PdfiumError:
                why = f"; parts of the file are {unread(path)}" if unread(path) else ""
                yield f"{path}: page {index + 1} of {len(document)} is missing or damaged{why}"
            except DataError as error:
                yield f"{path}: {error}"


def _refuse_large(size: tuple[float, float], scale: float, dpi: int, what: str) -> None:
    """Raise a DataError that names the resolution at which the page would do, or that it has no size at all."""
    if min(size) <= 0:
        raise DataError(f"{what} cannot be drawn: it is {size[0]:g} x {size[1]:g} points")
    width, height = (round(min(length * scale, 1e9)) for length in size)
    try:
        images.refuse_large(width, height, f"{what} at {dpi} dpi")
    except DataError as error:
        most = int(dpi * (images.PIXELS / (width * height)) ** 0.5)
        raise DataError(f"{error}; {most} dpi would do") from None


def unit(path: Path, document: Any, index: int) -> float:
    """Return the points of a page's unit, which pdfium does not give: nearly always 1."""
    if not _states_units(path):
        return 1.0
    stated = _UNIT.search(_alone(document, index))
    return float(stated[1]) or 1.0 if stated else 1.0


def _alone(document: Any, index: int) -> bytes:
    """Write a PDF of one page, whose dictionary is not compressed and whose streams are as they were."""
    import pypdfium2

    alone, written = pypdfium2.PdfDocument.new(), BytesIO()
    try:
        alone.import_pages(document, [index])
        alone.save(written)
    finally:
        alone.close()
    return written.getvalue()


@kept_until_changed(64)
def _states_units(path: Path) -> bool:
    """Report whether a page of the file may state a unit: dictionaries may be in compressed streams."""
    content = path.read_bytes()
    if b"/UserUnit" in content or b"/Encrypt" in content:
        return True
    for stream in _STREAM.finditer(content):
        try:
            if b"/UserUnit" in zlib.decompressobj().decompress(content[stream.end() :], _SOME_MEGABYTES):
                return True
        except zlib.error:  # another filter, or damaged
            continue
    return False


def page_count(path: Path) -> int:
    """Count a PDF's pages.

    Raises:
        DataError: as `render`, or the file claims more pages than it can have: a file of 300 bytes may claim millions.
    """
    with opened(path) as document:
        count = len(document)
        if count > MOST_PAGES:
            raise DataError(f"{path}: it claims {count:,} pages, and no document has more than {MOST_PAGES:,}")
        if count > _BELIEVED and not _loads(document, count - 1):
            raise DataError(f"{path}: it claims {count:,} pages, but the last of them is missing: it is damaged")
        return count


def _loads(document: Any, index: int) -> bool:
    import pypdfium2

    try:
        document[index].close()
    except pypdfium2.PdfiumError:
        return False
    return True


def opened(path: Path) -> Any:
    """Open a PDF with its form fields, as a context. Raises DataError as `render` does."""
    import pypdfium2

    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty")
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        known = [("password", "it is encrypted with a password")]
        known += [("", f"it is {unread(path)}")] if unread(path) else []
        known += [("success", "the PDF has no pages, or lists none"), ("", "it is not a PDF, or damaged")]
        reason = next(why for sign, why in known if sign in str(error).lower())
        raise DataError(f"{path}: {reason} ({error})") from None
    if len(document) == 0:
        document.close()
        raise DataError(f"{path}: {f'it is {unread(path)}' if unread(path) else 'the PDF has no pages'}")
    document.init_forms()
    return document
