"""Azure Document Intelligence: `analyzeResult`, with its content as Markdown; its pages are numbered from 1.

The offsets of pages count grapheme clusters by default, so pages are cut at the page breaks of the Markdown where it
has them; offsets are used where the result says that they count code points.
"""

import re
from collections.abc import Iterator
from typing import Any

from ohr.contracts import Block, BlockKind

from .values import FormatError, Pages, index, listed, mapping, mappings, text

_BREAK = re.compile(r"<!--\s*PageBreak\s*-->")
_FURNITURE = re.compile(r'<!--\s*(PageHeader|PageFooter|PageNumber)="(.*?)"\s*-->', re.DOTALL)
_FIGURE = re.compile(r"</?figure>")
_KINDS: dict[str, BlockKind] = {"PageHeader": "header", "PageFooter": "footer", "PageNumber": "page_number"}


def pages(parsed: Any) -> Pages:
    """Read the result of an analysis."""
    given = mapping(parsed, "the file")
    result = mapping(given.get("analyzeResult", given), "analyzeResult")
    content = result.get("content")
    if not isinstance(content, str):
        raise FormatError("it has no `content`")
    numbers = [index(page.get("pageNumber"), "pageNumber", 1) for page in mappings(result.get("pages"), "pages")]
    parts = _BREAK.split(content)
    if len(parts) != max(len(numbers), 1):
        parts = [*_by_offsets(result, content)]
    return {number: tuple(blocks(part)) for number, part in zip(numbers or [0], parts, strict=True)}


def _by_offsets(result: Any, content: str) -> Iterator[str]:
    if result.get("stringIndexType") not in ("unicodeCodePoint", None) and not content.isascii():
        raise FormatError("its pages cannot be told apart: ask for `stringIndexType=unicodeCodePoint`")
    for page in mappings(result.get("pages"), "pages"):
        spans = mappings(listed(page.get("spans"), "spans"), "spans")
        places = [(index(span.get("offset"), "offset"), index(span.get("length"), "length")) for span in spans]
        yield "".join(content[start : start + length] for start, length in places)


def blocks(part: str) -> Iterator[Block]:
    """Divide a page's Markdown into text and page furniture, which it has as comments."""
    place = 0
    for match in _FURNITURE.finditer(part):
        yield from _text(part[place : match.start()])
        yield Block(_KINDS[match[1]], text(match[2]).replace('\\"', '"'))
        place = match.end()
    yield from _text(part[place:])


def _text(part: str) -> Iterator[Block]:
    if words := _FIGURE.sub("", part).strip():
        yield Block("text", words)
