"""Azure Document Intelligence: an analysis result as JSON, with its content as Markdown or text (API of 2024-11-30).

Content Understanding (2025-11-01) has the same under `result` and `contents`, one for each file or part of it.

Pages end at the page breaks of its Markdown. Where there are none, offsets are used as `stringIndexType` says; those
of `textElements` count what a reader sees as characters, so that the pages' lines are taken instead.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat, Word

from .markdown import page as page_of_markdown
from .markdown import read as read_markdown
from .values import Pages, Unreadable, box, confidence, known, mapping, page_number, sequence, string

_BREAK = re.compile(r"<!--\s*PageBreak\s*-->")
_FURNITURE = re.compile(r'<!--\s*(PageHeader|PageFooter|PageNumber)="(.*?)"\s*-->', re.DOTALL)
_FIGURE = re.compile(r"</?figure>[ \t]*\n?|</?figcaption>", re.IGNORECASE)
_KINDS: Mapping[str, BlockKind] = {"PageHeader": "header", "PageFooter": "footer", "PageNumber": "page_number"}


class Azure(OcrFormat, kind="azure"):
    """Azure Document Intelligence: an analysis result, or its Markdown."""

    version = 2
    endings = (".json", ".md")

    def pages(self, content: Any) -> Pages:
        """Read a document's JSON or Markdown."""
        return read_markdown(content) if isinstance(content, str) else _read(content)

    def words(self, content: Any) -> Mapping[int, Sequence[Word]]:
        """Return the words of each page; their boxes are in the unit of the page."""
        found = [page for data in _results(content) for page in _pages(data)] if isinstance(content, dict) else []
        return {page_number(page.get("pageNumber"), first=1): tuple(_words(page)) for page in found}


def _read(found: Any) -> Pages:
    read: Pages = {}
    for data in _results(found):
        pages = _pages(data)
        numbers = [page_number(page.get("pageNumber"), first=1) for page in pages]
        texts = _texts(string(data["content"], "content"), pages, str(data.get("stringIndexType", "textElements")))
        read |= {number: tuple(_blocks(text)) for number, text in zip(numbers, texts, strict=True)}
    return read


def _results(found: Any) -> Iterator[Mapping[str, Any]]:
    data = mapping(found, "the file")
    if "contents" in (inside := mapping(data.get("result", data), "result")):
        for each in sequence(inside["contents"], "contents"):
            part = mapping(each, "a content")
            unit = inside.get("stringEncoding", "codePoint")
            unit = {"codePoint": "unicodeCodePoint", "utf16": "utf16CodeUnit"}.get(str(unit), "textElements")
            yield {**part, "content": part.get("markdown"), "stringIndexType": unit}
        return
    data = mapping(data.get("analyzeResult", data), "analyzeResult")
    if "pages" not in data or "content" not in data:
        raise Unreadable("not Azure's: it has no `pages` and `content`")
    yield data


def _pages(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [mapping(page, "a page") for page in sequence(data.get("pages"), "pages")]


def _words(page: Mapping[str, Any]) -> Iterator[Word]:
    for each in sequence(page.get("words"), "words"):
        word = mapping(each, "a word")
        if word.get("confidence") is not None:
            yield Word(string(word.get("content"), "a word"), box(word.get("polygon")), confidence(word["confidence"]))


def _texts(content: str, pages: list[Mapping[str, Any]], unit: str) -> list[str]:
    parts = _BREAK.split(content)
    if len(parts) == len(pages) and content.strip():
        return parts
    if unit == "unicodeCodePoint":
        return ["".join(content[start:end] for start, end in _spans(page)) for page in pages]
    if unit == "utf16CodeUnit":
        coded = content.encode("utf-16-le")
        cut = (b"".join(coded[2 * start : 2 * end] for start, end in _spans(page)) for page in pages)
        return [piece.decode("utf-16-le", "replace") for piece in cut]
    return ["\n".join(_lines(page)) for page in pages]


def _spans(page: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    for each in sequence(page.get("spans"), "spans"):
        span = mapping(each, "a span")
        start, length = span.get("offset"), span.get("length")
        if not isinstance(start, int) or not isinstance(length, int) or min(start, length) < 0:
            raise Unreadable("not as expected: a span has no offset and length")
        yield start, start + length


def _lines(page: Mapping[str, Any]) -> Iterator[str]:
    lines = [mapping(line, "a line") for line in sequence(page.get("lines"), "lines")]
    known(lines, ("content",), "line")
    yield from (string(line.get("content"), "a line") for line in lines)


def _blocks(text: str) -> Iterator[Block]:
    """Part page furniture, which is in comments, from the text."""
    text, *parts = _FURNITURE.split(_FIGURE.sub("", text))
    yield from page_of_markdown(text)
    for label, said, after in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield Block(_KINDS[label], unescape(said).strip())
        yield from page_of_markdown(after)
