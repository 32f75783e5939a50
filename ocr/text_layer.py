"""The text layer of a PDF: what people use before any OCR."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import DocumentView, Image, Recognition
from ohr.errors import DataError, PluginError
from ohr.files import pdf

from .structured import StructuredOcr

_PACKAGES = {
    "pdfium": "pypdfium2",
    "pdfplumber": "pdfplumber",
    "liteparse": "liteparse",
    "pymupdf4llm": "pymupdf",
}
"""The distribution of each engine, which is also its module."""
_LICENCES = {"pymupdf4llm": "AGPL-3.0 or commercial: read it before you distribute anything with it"}


class TextLayer(StructuredOcr):
    """Reads the text that the PDF itself has; a scanned page has none, and its text is empty.

    `pdfium` and `pdfplumber` give plain text, `liteparse` keeps the layout with spaces, `pymupdf4llm` writes Markdown
    with tables. It reads the benchmark's own files, so image noise cannot reach it.
    """

    kind: Literal["text_layer"] = "text_layer"
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
        return {**super().identity(), "version": version(_PACKAGES[self.engine])}

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Refuse every image: there is no text layer in one."""
        return [Recognition(error="text_layer reads PDFs, not images") for _ in images]

    def recognise_document(self, view: DocumentView) -> list[Recognition]:
        """Read the pages of a document's PDF."""
        count = len(view.images)
        if view.pdf is None:
            return [Recognition(error="the benchmark has no PDF of this document")] * count
        try:
            texts = list(_READERS[self.engine](view.pdf, count))
        except DataError as error:
            return [Recognition(error=str(error))] * count
        except Exception as error:  # each library raises its own kinds
            return [Recognition(error=f"{type(error).__name__}: {error}")] * count
        lost = Recognition(error=f"the PDF has {len(texts)} of {count} pages")
        return [Recognition(texts[page]) if page < len(texts) else lost for page in range(count)]


def _pdfium(path: Path, count: int) -> Iterator[str]:  # noqa: ARG001 # as the others
    yield from pdf.text_layer(path)


def _pdfplumber(path: Path, count: int) -> Iterator[str]:
    with extras.load("pdfplumber", "text_layer").open(path) as document:
        for page in document.pages[:count]:
            yield page.extract_text()
            page.close()  # it keeps every character of every page otherwise


def _liteparse(path: Path, count: int) -> Iterator[str]:
    parsed: Any = (
        extras.load("liteparse", "text_layer").LiteParse(ocr_enabled=False, quiet=True, num_workers=1).parse(str(path))
    )
    texts = {page.page_num - 1: page.text for page in parsed.pages}
    return (texts.get(page, "") for page in range(count))


def _pymupdf4llm(path: Path, count: int) -> Iterator[str]:
    pages = extras.load("pymupdf4llm", "text_layer").to_markdown(
        str(path), page_chunks=True, show_progress=False, use_ocr=False
    )
    return (page["text"] for page in pages[:count])


_READERS: Mapping[str, Callable[[Path, int], Iterator[str]]] = {
    "pdfium": _pdfium,
    "pdfplumber": _pdfplumber,
    "liteparse": _liteparse,
    "pymupdf4llm": _pymupdf4llm,
}
