"""The text layer of a PDF: what people use before any OCR."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import DocumentView, Image, Recognition
from ohr.errors import DataError, PluginError
from ohr.files.pdf import page_count
from ohr.files.pdf_text import missing_pages, shown, text_layer
from ohr.messages.wording import counted

from .structured import MISSING, StructuredOcr

_PACKAGES = {
    "pdfium": "pypdfium2",
    "pdfplumber": "pdfplumber",
    "liteparse": "liteparse",
    "pymupdf4llm": "pymupdf",
}
"""The distribution of each engine, which is also its module."""
_LICENCES = {"pymupdf4llm": "AGPL-3.0 or commercial: read it before you distribute anything with it"}


class TextLayer(StructuredOcr, kind="text_layer"):
    """Reads the text that the PDF itself has; a scanned page has none, and its text is empty.

    `pdfium` and `pdfplumber` give plain text, `liteparse` keeps the layout with spaces, `pymupdf4llm` writes Markdown
    with tables. What form fields and annotations hold is read, too. It reads the benchmark's own files, so image noise
    cannot reach it.
    """

    extra: ClassVar[str | None] = "text_layer"
    reads_original: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = True
    engine: Annotated[
        Literal["pdfium", "pdfplumber", "liteparse", "pymupdf4llm"],
        Field(description="pdfium comes with ohr, pymupdf4llm is under the AGPL."),
    ] = "pdfium"

    def check(self) -> None:
        """Raise when the engine's package is missing."""
        try:
            extras.require(_PACKAGES[self.engine], "text_layer")
        except PluginError:
            if self.engine not in _LICENCES:
                raise
            package = _PACKAGES[self.engine]
            raise PluginError(
                f"ocr text_layer: {self.engine} needs the package {package} ({_LICENCES[self.engine]}): "
                f"pip install {package}"
            ) from None

    def identity(self) -> Mapping[str, object]:
        """Identify the engine and its version."""
        return {**super().identity(), "version": version(_PACKAGES[self.engine]), "reading": 4}

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Refuse every image: there is no text layer in one."""
        return [Recognition(error="text_layer reads PDFs, not images") for _ in images]

    def recognise_document(self, view: DocumentView) -> list[Recognition]:
        """Read the pages of a document's PDF."""
        count = len(view.images)
        if view.pdf is None:
            return [Recognition(error="the benchmark has no PDF of this document")] * count
        try:
            missing = missing_pages(view.pdf)
            with shown(view.pdf) as path, _named(view.pdf):
                pages = _READERS[self.engine](path, count)
        except DataError as error:
            return [Recognition(error=str(error))] * count
        except Exception as error:  # each library raises its own kinds
            return [Recognition(error=f"{type(error).__name__}: {error}")] * count
        lost = Recognition(error=f"{self.engine} has no text of this page: it found {counted(len(pages), 'page')}")
        return [MISSING if index in missing else pages.get(index, lost) for index in range(count)]


Pages = dict[int, Recognition]


def _pdfium(path: Path, count: int) -> Pages:
    layers = islice(text_layer(path), count)
    return {index: Recognition(layer.text, layer.error) for index, layer in enumerate(layers)}


def _pdfplumber(path: Path, count: int) -> Pages:
    with extras.load("pdfplumber", "text_layer").open(path) as document:
        found, expected = len(document.pages), page_count(path)
        if found != expected:  # it leaves out pages that it cannot load
            raise DataError(f"{path}: pdfplumber finds {found} of {counted(expected, 'page')}, and not which they are")
        return {index: _page_text(page) for index, page in enumerate(document.pages[:count])}


def _page_text(page: Any) -> Recognition:
    try:
        return Recognition(page.extract_text())
    except Exception as error:  # pdfminer raises many kinds on damaged pages
        return Recognition(error=f"{type(error).__name__}: {error}")
    finally:
        page.close()  # it keeps every character of every page otherwise


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Put the document's name before what pdfminer logs, once for each message."""
    logger, seen = logging.getLogger("pdfminer"), set[str]()

    class Named(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if (message := record.getMessage()) not in seen:
                seen.add(message)
                logging.getLogger("ohr.ocr.text_layer").warning("%s: %s", path, message)

    handler, propagated = Named(logging.WARNING), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


def _liteparse(path: Path, count: int) -> Pages:
    parsed: Any = (
        extras.load("liteparse", "text_layer").LiteParse(ocr_enabled=False, quiet=True, num_workers=1).parse(str(path))
    )
    texts = {page.page_num - 1: page.text for page in parsed.pages}
    return {index: Recognition(texts.get(index, "")) for index in range(count)}  # it lists no blank page


def _pymupdf4llm(path: Path, count: int) -> Pages:
    pages = extras.load("pymupdf4llm", "text_layer").to_markdown(
        str(path), page_chunks=True, show_progress=False, use_ocr=False
    )
    numbers = (page.get("metadata", {}).get("page", place) - 1 for place, page in enumerate(pages, 1))
    texts = {number: page["text"] for number, page in zip(numbers, pages, strict=True)}
    return {number: Recognition(text) for number, text in texts.items() if number < count}


_READERS: Mapping[str, Callable[[Path, int], Pages]] = {
    "pdfium": _pdfium,
    "pdfplumber": _pdfplumber,
    "liteparse": _liteparse,
    "pymupdf4llm": _pymupdf4llm,
}
