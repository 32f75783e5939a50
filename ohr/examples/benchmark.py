"""Documents and questions of your own."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont
from pydantic import Field

from ohr.contracts import Benchmark, Document, Image, Page, Question
from ohr.errors import DataError
from ohr.keys import key

PAGES = {
    "law/lease": ["The lease of the ferry berth began in 1964. It ends after ninety years.", "Rent is due each May."],
    "finance/report": ["Sales rose to 310 million in 2025. Costs fell by four per cent."],
}
"""Ground truth: the text of each page. A document's name starts with its domain."""

ASKED = [
    ("lease-1", "law/lease", 0, "When did the lease of the ferry berth begin?", "1964", "began in 1964"),
    ("lease-2", "law/lease", 1, "In which month is rent due?", "May", "Rent is due each May."),
    ("report-1", "finance/report", 0, "By how much did costs fall?", "four per cent", "Costs fell by four per cent."),
]
"""Id, document, page, question, answer, and the passage that it needs."""


class Example(Benchmark, kind="example"):
    """Two short documents and three questions."""

    size: Annotated[int, Field(gt=5, description="Height of the letters in page images, in pixels.")] = 28

    def documents(self) -> Sequence[Document]:
        """List the documents."""
        return [Document(name, name.split("/")[0], "en", len(pages)) for name, pages in PAGES.items()]

    def pages(self, document: Document) -> Sequence[Page]:
        """Return a document's text, a page at a time."""
        return [Page(document.name, index, text) for index, text in enumerate(PAGES[document.name])]

    def page_image(self, document: Document, index: int) -> Image:
        """Draw a page; yours would render a PDF."""
        if not 0 <= index < document.pages:
            raise DataError(f"{document.name} has no page {index}")
        page = Pillow.new("RGB", (800, 400), "white")
        lines = PAGES[document.name][index].replace(". ", ".\n")
        ImageDraw.Draw(page).text((40, 60), lines, fill="black", font=ImageFont.load_default(self.size))
        return np.asarray(page).copy()

    def questions(self) -> Sequence[Question]:
        """List the questions."""
        return [
            Question(name, text, (answer,), document, (page,), (passage,), "text", document.split("/")[0])
            for name, document, page, text, answer, passage in ASKED
        ]

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the source of a document's text or of its images."""
        return key("pages", document.name, PAGES[document.name], [self.size] if images else [])
