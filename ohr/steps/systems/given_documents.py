"""Documents as a system gets them: page images in PDFs or PNG files, or text."""

import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from ohr.contracts import Document, Image, Page, PageId, System
from ohr.steps.documents.page_images import ImageRecipe, in_order

_DPI = 150
"""Dots per inch of a page image whose benchmark has no `dpi`: it decides the size of a PDF's page, not its image."""
_ODD = re.compile(r"[^\w.-]+")


def file_stems(documents: Sequence[str]) -> dict[str, str]:
    """Return the name of each document's files, without an ending; no two are equal, whatever the file system."""
    stems: dict[str, str] = {}
    taken: set[str] = set()
    for name in documents:
        plain = stem = _ODD.sub("_", name.replace("/", "__")).strip(".") or "document"
        number = 1
        while stem.casefold() in taken:
            number += 1
            stem = f"{plain}-{number}"
        taken.add(stem.casefold())
        stems[name] = stem
    return stems


def condition_name(base: str) -> str:
    """Return the name of a knowledge base as a system or a folder gets it: letters, digits, `-`, `_` and `.`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", base).strip("-.") or "condition"


def page_file(stem: str, index: int) -> str:
    """Return the name of the file of one page, without an ending; its pages are counted from 1."""
    return f"{stem}-p{index + 1:04d}"


def page_files(stem: str, numbers: Sequence[int]) -> list[str]:
    """Return the names of the files of a document's pages; a page that comes again has a name of its own."""
    names = [page_file(stem, number) for number in numbers]
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [f"{name}-{count}" if count > 1 else name for name, count in zip(names, counts, strict=True)]


def hand_over(
    folder: Path,
    system: System,
    documents: Sequence[Document],
    texts: Mapping[str, Sequence[Page] | None],
    image: Callable[[PageId], Image],
    images: ImageRecipe | None = None,
    dpi: float = _DPI,
) -> None:
    """Write the documents of one condition into a folder.

    Args:
        texts: pages of each document, where text is handed over; a document that failed is left out.
        image: makes the image of a page of the source.
        images: says in which order the pages are; as the source has them where it is None.
        dpi: of the page images.
    """
    stems = file_stems([document.name for document in documents])
    for document in documents:
        stem = stems[document.name]
        placed = images.placed(document) if images else in_order(document, (), 0)
        pages = [(document.name, page.place) for page in placed]
        if system.documents == "pdf":
            write_pdf(folder / f"{stem}.pdf", map(image, pages), dpi, system.jpeg_quality)
        elif system.documents == "images":
            from PIL import Image as Pillow

            for place, name in zip(pages, page_files(stem, [page.number for page in placed]), strict=True):
                Pillow.fromarray(image(place)).save(folder / f"{name}.png")
        elif (read := texts.get(document.name)) is not None:
            _write_text(folder, stem, read, system)


def _write_text(folder: Path, stem: str, pages: Sequence[Page], system: System) -> None:
    if system.text_files == "page":
        names = page_files(stem, [page.index for page in pages])
        files = {name: page.text for name, page in zip(names, pages, strict=True)}
    else:
        files = {stem: "\n\n".join(page.text for page in pages)}
    for name, text in files.items():
        (folder / f"{name}.{system.text_format}").write_text(text, encoding="utf-8", errors="replace")


def write_pdf(path: Path, images: Any, dpi: float, jpeg_quality: int | None) -> None:
    """Write page images as a PDF, one to a page.

    Args:
        images: of the pages, each (H, W, 3) RGB.
        dpi: decides the size of the pages.
        jpeg_quality: 1 to 100; None for lossless images.
    """
    import pypdfium2
    from PIL import Image as Pillow

    document = pypdfium2.PdfDocument.new()
    try:
        for pixels in images:
            picture = Pillow.fromarray(pixels)
            width, height = (72 * size / dpi for size in picture.size)
            page, shown = document.new_page(width, height), pypdfium2.PdfImage.new(document)
            if jpeg_quality:
                buffer = BytesIO()
                picture.save(buffer, "JPEG", quality=jpeg_quality)
                shown.load_jpeg(BytesIO(buffer.getvalue()), inline=True)
            else:
                shown.set_bitmap(pypdfium2.PdfBitmap.from_pil(picture))
            shown.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
            page.insert_obj(shown)
            page.gen_content()
            page.close()
        document.save(path)
    finally:
        document.close()
