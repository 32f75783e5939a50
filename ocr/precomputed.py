"""OCR results that exist already, as a folder in OHRBench's layout or as a system has written them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Document, Image, OcrBackend, Page, Recognition
from ohr.errors import PluginError
from ohr.files.names import UNWRITABLE, by_form, other_form
from ohr.files.ohrbench_json import document_files, read_document, unwritable_files
from ohr.keys import folder_digest
from ohr.markup.page import Markup, MarkupField, page_text, tidy
from ohr.messages.faults import Fault, sentences

from .formats.catalog import FormatName
from .formats.folder import ResultsFolder

_ABSENT = "not among the precomputed results"


class Precomputed(OcrBackend):
    """Takes each page's text from a folder of results; a page that is not there is missing.

    `ohrbench` has a file `<root>/<domain>/<document>.json` for each document; the other formats are the files that a
    system writes, in any folders, by the document's name. A damaged file costs its own pages only: each carries an
    error, scores 0 and is counted. A file whose name differs from the document's only in its Unicode form is read, and
    a note says so.
    """

    kind: Literal["precomputed"] = "precomputed"
    version: ClassVar[int] = 2
    reads_images: ClassVar[bool] = False
    root: Annotated[Path, Field(description="Folder with one folder per domain, or with a system's results.")]
    format: Annotated[FormatName, Field(description="How the results are written.")] = "ohrbench"
    markup: Annotated[
        MarkupField | None, Field(description="What of the markup is kept; by default all, but links to pictures.")
    ] = None

    def check(self) -> None:
        """Refuse a folder that does not exist or holds no results."""
        if not self.root.is_dir():
            raise PluginError(f"ocr precomputed: no such folder: {self.root}")
        if self.format != "ohrbench":
            if not self._folder.documents():
                raise PluginError(f"ocr precomputed: {self.root} holds no file as {self.format} writes them")
        elif not any(self.root.rglob("*.json")):
            raise PluginError(f"ocr precomputed: {self.root} holds no <domain>/<document>.json")

    def identity(self) -> Mapping[str, object]:
        """Identify the folder by its content."""
        usual = {"format": "ohrbench", "markup": None}
        own = {"format": self.format, "markup": self.markup and self.markup.model_dump()}
        changed = {name: value for name, value in own.items() if value != usual[name]}
        return {"kind": self.kind, "content": folder_digest(self.root), **changed}

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Refuse every image: the results exist already."""
        return [Recognition("", "precomputed reads no images") for _ in images]

    def recorded(self, document: Document) -> Sequence[Page]:
        """Read a document's pages; each page without a result carries an error."""
        if self.format != "ohrbench":
            return self._written(document)
        path = self._file(document)
        if path is None:
            return [Page(document.name, index, "", _ABSENT) for index in range(document.pages)]
        reading = read_document(path, document.name)
        found = {page.index: self._kept(page) for page in reading.pages}
        absent = reading.error or _ABSENT
        return [found.get(index, Page(document.name, index, "", absent)) for index in range(document.pages)]

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:
        """Count and name the domains, documents and pages that the folder lacks, and the faults of its files."""
        if not self.root.is_dir():
            return ()
        return sentences(self._faults(documents) if self.format == "ohrbench" else self._faults_of_results(documents))

    def names(self) -> list[str]:
        """Name the documents that the folder has results of."""
        return list(document_files(self.root)) if self.format == "ohrbench" else self._folder.documents()

    def everything(self, document: str) -> list[Page]:
        """Read all pages of one of `names`; a file that cannot be read is one page with an error."""
        if self.format == "ohrbench":
            reading = read_document(document_files(self.root)[document], document)
            return [self._kept(page) for page in reading.pages] or [Page(document, 0, "", reading.error or _ABSENT)]
        found, markup = self._folder.read(document), self.markup or Markup()
        if found.error is not None:
            return [Page(document, 0, "", found.error)]
        return [Page(document, index, page_text(blocks, markup)) for index, blocks in sorted(found.pages.items())]

    # --- as systems write them ----------------------------------------------------------------------------

    @property
    def _folder(self) -> ResultsFolder:
        return ResultsFolder(self.root, self.format)

    def _written(self, document: Document) -> list[Page]:
        found = {page.index: page for page in self.everything(document.name)}
        lost = next((page.error for page in found.values() if page.error is not None), _ABSENT)
        return [
            found[index] if index in found and found[index].error is None else Page(document.name, index, "", lost)
            for index in range(document.pages)
        ]

    def _faults_of_results(self, documents: Sequence[Document]) -> Iterator[Fault]:
        base = self.root.resolve().name
        for document in documents:
            found = self._folder.read(document.name)
            if found.error is not None and not found.files:
                about = "missing from" if found.error.startswith("not among") else "with several files in"
                yield Fault("document", f"{about} {base}, so that all questions on it score 0 there", document.name)
            elif found.error is not None:
                yield Fault("file", "not readable, so that its pages have failed", found.error)
            else:
                places = [f"{document.name} page {i}" for i in range(document.pages) if i not in found.pages]
                yield from (Fault("page", f"missing from {base}", place) for place in places)
                beyond = sum(index >= document.pages for index in found.pages)
                if beyond:
                    yield Fault("document", "with results of pages beyond its end, left out", document.name)

    # --- in OHRBench's layout -----------------------------------------------------------------------------

    def _kept(self, page: Page) -> Page:
        return (
            page if self.markup is None else Page(page.document, page.index, tidy(page.text, self.markup), page.error)
        )

    def _faults(self, documents: Sequence[Document]) -> Iterator[Fault]:
        base = self.root.resolve().name
        domains = {document.domain for document in documents}
        absent = {domain for domain in domains if not (self.root / domain).is_dir()}
        missing = f"missing from {base}, so that all questions on it score 0 there"
        for domain in sorted(absent):
            yield Fault("domain", missing, domain)
        for name in unwritable_files(self.root):
            yield Fault("file", f"whose {UNWRITABLE}, left out", name)
        for document in documents:
            path = None if document.domain in absent else self._file(document)
            if path is None:
                if document.domain not in absent:
                    yield Fault("document", missing, document.name)
                continue
            if path != self.root / f"{document.name}.json":
                yield Fault("document", f"named in another Unicode form in {base}, matched", document.name)
            reading = read_document(path, document.name)
            yield from reading.faults
            if reading.pages:
                here = {page.index for page in reading.pages}
                for index in range(document.pages):
                    if index not in here:
                        yield Fault("page", f"missing from {base}", f"{document.name} page {index}")

    def _file(self, document: Document) -> Path | None:
        path = self.root / f"{document.name}.json"
        if path.is_file():
            return path
        folder = self.root / document.domain
        if not folder.is_dir():
            return None
        files = document_files(self.root) if document.name.isascii() is False else {}
        other = other_form(document.name, by_form(files))
        return files[other] if other is not None else None
