"""OCR results that exist already, as a folder in OHRBench's layout."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Document, Image, OcrBackend, Page, Recognition
from ohr.errors import PluginError
from ohr.files.names import UNWRITABLE, by_form, other_form
from ohr.files.ohrbench_json import document_files, read_document, unwritable_files
from ohr.keys import folder_digest
from ohr.messages.faults import Fault, sentences

_ABSENT = "not among the precomputed results"


class Precomputed(OcrBackend):
    """Takes each page's text from `<root>/<domain>/<document>.json`; a page that is not there is missing.

    A damaged file costs its own pages only: each carries an error, scores 0 and is counted. A file whose name differs
    from the document's only in its Unicode form is read, and a note says so.
    """

    kind: Literal["precomputed"] = "precomputed"
    version: ClassVar[int] = 2
    reads_images: ClassVar[bool] = False
    root: Annotated[Path, Field(description="Folder with one folder per domain.")]

    def check(self) -> None:
        """Refuse a folder that does not exist or holds no results."""
        if not self.root.is_dir():
            raise PluginError(f"ocr precomputed: no such folder: {self.root}")
        if not any(self.root.rglob("*.json")):
            raise PluginError(f"ocr precomputed: {self.root} holds no <domain>/<document>.json")

    def identity(self) -> Mapping[str, object]:
        """Identify the folder by its content."""
        return {"kind": self.kind, "content": folder_digest(self.root)}

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Refuse every image: the results exist already."""
        return [Recognition("", "precomputed reads no images") for _ in images]

    def recorded(self, document: Document) -> Sequence[Page]:
        """Read a document's pages; each page without a result carries an error."""
        path = self._file(document)
        if path is None:
            return [Page(document.name, index, "", _ABSENT) for index in range(document.pages)]
        reading = read_document(path, document.name)
        found = {page.index: page for page in reading.pages}
        absent = reading.error or _ABSENT
        return [found.get(index, Page(document.name, index, "", absent)) for index in range(document.pages)]

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:
        """Count and name the domains, documents and pages that the folder lacks, and the faults of its files."""
        return sentences(self._faults(documents)) if self.root.is_dir() else ()

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
