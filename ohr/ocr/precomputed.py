"""OCR results that somebody already has, as a folder in OHRBench's layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr import layout
from ohr.contracts import Document, Image, OcrBackend, Page, Recognition
from ohr.errors import PluginError
from ohr.keys import folder_digest


class Precomputed(OcrBackend):
    """Takes each page's text from `<root>/<domain>/<document>.json`; a page that is not there is missing."""

    kind: Literal["precomputed"] = "precomputed"
    reads_images: ClassVar[bool] = False
    root: Annotated[Path, Field(description="Folder with one folder per domain.")]

    def check(self) -> None:
        """Refuse a folder that is not there."""
        if not self.root.is_dir():
            raise PluginError(f"ocr precomputed: no such folder: {self.root}")
        if not any(self.root.rglob("*.json")):
            raise PluginError(f"ocr precomputed: {self.root} holds no <domain>/<document>.json")

    def identity(self) -> Mapping[str, object]:
        """Identify the folder by its content."""
        return {"kind": self.kind, "content": folder_digest(self.root)}

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Refuse every image: the results are already there."""
        return [Recognition("", "precomputed reads no images") for _ in images]

    def recorded(self, document: Document) -> Sequence[Page]:
        """Read a document's pages; each page without a result carries an error."""
        found = {page.index: page for page in layout.read_pages(self.root, document.name)}
        return [
            found.get(index, Page(document.name, index, "", "not among the precomputed results"))
            for index in range(document.pages)
        ]
