"""olmOCR's Dolma files: one document a line, its pages as stretches of characters (olmocr 0.4)."""

from typing import Any

from ohr.contracts import OcrFormat

from .markdown import page
from .markdown import read as read_markdown
from .values import Pages, Unreadable, known, mapping, page_number, sequence, string


class OlmOcr(OcrFormat, kind="olmocr"):
    """olmOCR's Dolma files, one document a line, or its Markdown."""

    version = 2
    endings = (".jsonl", ".md")

    def pages(self, content: Any) -> Pages:
        """Read a line, or a document's Markdown."""
        return read_markdown(content) if isinstance(content, str) else _read(content)

    def document_of(self, line: Any) -> str:
        """Return the path or address of a line's document."""
        about = mapping(mapping(line, "a line").get("metadata"), "metadata")
        return string(about.get("Source-File"), "Source-File")


def _read(found: Any) -> Pages:
    data = mapping(found, "a line")
    known([data], ("text",), "line")
    text = string(data.get("text"), "text")
    stretches = sequence(mapping(data.get("attributes"), "attributes").get("pdf_page_numbers"), "pdf_page_numbers")
    pages: Pages = {}
    for stretch in stretches:
        if not isinstance(stretch, list) or len(stretch) != 3 or not all(isinstance(n, int) for n in stretch):
            raise Unreadable("not as expected: pdf_page_numbers must hold [start, end, page]")
        start, end, number = stretch
        pages[page_number(number, first=1)] = page(text[max(start, 0) : max(end, 0)])
    return pages
