"""Page images from PDF files."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files import MOST_PAGES, images
from ohr.messages.wording import counted

_BELIEVED = 1_000  # pages: up to here a claimed page that is missing costs only itself
_TRACE = 0.002  # of a pixel


def render(path: Path, index: int, dpi: int) -> Image:
    """Render one page as (H, W, 3) RGB.

    Raises:
        DataError: the file is missing, empty, encrypted or no PDF, has no such page, or the page is too large.
    """
    import pypdfium2

    with _opened(path) as document:
        if not 0 <= index < len(document):
            raise DataError(f"{path}: no page {index}: it has {counted(len(document), 'page')}, counted from 0")
        try:
            page = document[index]
            try:
                width, height = (round(length * dpi / 72) for length in page.get_size())
                images.refuse_large(width, height, f"{path}: page {index} at {dpi} dpi")
                bitmap = page.render(scale=dpi / 72, rev_byteorder=True)
                image = bitmap.to_numpy()[:, :, :3].copy()
                bitmap.close()
            finally:
                page.close()
        except pypdfium2.PdfiumError as error:
            raise DataError(f"{path}: page {index} does not render: {error}") from None
    return np.asarray(image, dtype=np.uint8)


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


def text_layer(path: Path) -> Iterator[str]:
    """Read the text layer of a PDF, page by page; scanned pages have none. Raises DataError as `render` does."""
    with _opened(path) as document:
        for page in document:
            layer = page.get_textpage()
            text = layer.get_text_bounded().replace("\r\n", "\n")
            layer.close()
            page.close()
            yield text


def page_count(path: Path) -> int:
    """Count a PDF's pages.

    Raises:
        DataError: as `render`, or the file claims more pages than it can have: a file of 300 bytes may claim millions.
    """
    with _opened(path) as document:
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


def _opened(path: Path) -> Any:
    import pypdfium2

    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty")
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        reason = (
            "it is encrypted with a password" if "password" in str(error).lower() else "it is not a PDF, or damaged"
        )
        raise DataError(f"{path}: {reason} ({error})") from None
    if len(document) == 0:
        document.close()
        raise DataError(f"{path}: the PDF has no pages")
    return document
