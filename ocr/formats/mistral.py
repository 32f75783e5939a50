"""Mistral OCR: a reply as JSON, Markdown by page (mistralai 3.7)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block, OcrFormat

from .markdown import page as page_of_markdown
from .markdown import read as read_markdown
from .values import Pages, Unreadable, known, mapping, page_number, sequence, string


class Mistral(OcrFormat, kind="mistral"):
    """Mistral OCR: a reply, or its Markdown."""

    endings = (".json", ".md")

    def pages(self, content: Any) -> Pages:
        """Read a document's JSON or Markdown."""
        return read_markdown(content) if isinstance(content, str) else _read(content)


def _read(found: Any) -> Pages:
    """Read a reply; its page numbers start at 0."""
    data = mapping(found, "the file")
    if "pages" not in data:
        raise Unreadable("not Mistral's: it has no `pages`")
    pages = [mapping(page, "a page") for page in sequence(data["pages"], "pages")]
    known(pages, ("markdown",), "page")
    return {page_number(page.get("index")): tuple(_blocks(page)) for page in pages}


def _blocks(page: Mapping[str, Any]) -> Iterator[Block]:
    text = string(page.get("markdown"), "markdown")
    for each in sequence(page.get("tables"), "tables"):  # with `table_format`, the Markdown has links to them
        found = mapping(each, "a table")
        name = string(found.get("id"), "a table's id")
        text = text.replace(f"[{name}]({name})", string(found.get("content"), "a table"))
    header, footer = (string(page.get(key), key) for key in ("header", "footer"))
    yield from [Block("header", header)] if header else []
    yield from page_of_markdown(text)
    for each in sequence(page.get("images"), "images"):
        said = mapping(each, "a picture").get("image_annotation")
        yield from [Block("description", said)] if isinstance(said, str) and said else []
    yield from [Block("footer", footer)] if footer else []
