"""Mistral OCR: `pages` with Markdown, numbered from 0."""

from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block

from .values import FormatError, Pages, index, mapping, mappings, text


def pages(parsed: Any) -> Pages:
    """Read a reply."""
    given = mapping(parsed, "the file")
    if "pages" not in given:
        raise FormatError("it has no `pages`")
    return {index(page.get("index"), "index"): tuple(_blocks(page)) for page in mappings(given["pages"], "pages")}


def _blocks(page: Mapping[str, Any]) -> Iterator[Block]:
    content = text(page.get("markdown"))
    for table in mappings(page.get("tables"), "tables"):  # with `table_format`, tables are apart and linked
        name = text(table.get("id"))
        if name:
            content = content.replace(f"[{name}]({name})", text(table.get("content")))
    if header := text(page.get("header")):
        yield Block("header", header)
    if content.strip():
        yield Block("text", content)
    if footer := text(page.get("footer")):
        yield Block("footer", footer)
