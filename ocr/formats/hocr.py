"""hOCR 1.2, as Tesseract, OCRopus and ABBYY write it: HTML whose classes say what is a page, a line or a word."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder

from ohr.contracts import Block, BlockKind, OcrFormat, Word

from .cells import Cell, html_table, span
from .values import Pages, Unreadable
from .xml_input import DEEPEST, box_of, page_keys, parse_xml, stated_confidence

_KINDS: Mapping[str, BlockKind] = {
    "ocr_title": "heading",
    "ocr_header": "header",
    "ocr_footer": "footer",
    "ocr_pageno": "page_number",
    "ocr_caption": "caption",
    "ocr_footnote": "footnote",
}
"""Kinds of blocks; on lines, where Tesseract writes them, some mean others, as `ocr_header` a heading."""
_LINES = frozenset({"ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat"})
_PARTS = frozenset({"p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "section"})
_UNSEEN = frozenset({"del", "script", "style"})
"""Elements without text of the page; of two readings of a word, the worse is deleted."""
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*+)([^<>]*+)>|<[!?][^<>]*+>")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_EMPTY = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
_BOX = re.compile(r"\bbbox\s+(\S+)\s+(\S+)\s+(\S+)\s+([^\s;]+)")
_SURE = re.compile(r"\bx_w?conf\s+([^\s;]+)")
_NUMBER = re.compile(r"\bppageno\s+(\d+)")


class Hocr(OcrFormat, kind="hocr"):
    """hOCR of Tesseract, OCRopus, kraken, ABBYY and others."""

    endings = (".hocr", ".hocr.html", "_hocr.html", "_chocr.html", "_hocr.xml", ".html", ".htm", ".xhtml", ".xml")

    def pages(self, content: Any) -> Pages:
        """Read a document, a block for each paragraph; pages have the numbers that they state, where these rise."""
        pages = _pages(content)
        return {number: _Text().of(page) for number, page in zip(_keys(pages), pages, strict=True)}

    def words(self, content: Any) -> dict[int, tuple[Word, ...]]:
        """Return the words of each page with their confidence, or the lines of which no word has one."""
        pages = _pages(content)
        return {number: tuple(_words(page)) for number, page in zip(_keys(pages), pages, strict=True)}

    def fits(self, content: Any) -> bool:
        """Report whether it is hOCR, and no other page for a browser."""
        pages = _pages(content)
        return "ocr-capabilities" in content or "ocr-system" in content or any(_BOX.search(_title(p)) for p in pages)


def _pages(content: Any) -> Sequence[Element]:
    if not isinstance(content, str) or "ocr_page" not in content:
        raise Unreadable("not hOCR: it has no `ocr_page`")
    try:
        root = parse_xml(content)
    except Unreadable as error:
        if "declares" in str(error):
            raise
        root = _parse_html(content)
    pages = [element for element in root.iter() if "ocr_page" in _classes(element)]
    if not pages:
        raise Unreadable("not hOCR: none of its elements is an `ocr_page`")
    return pages


def _parse_html(content: str) -> Element:
    """Build a tree of HTML that is not well-formed: an end without its beginning is left out, others are implied."""
    builder, open_tags, place = TreeBuilder(), ["html"], 0
    builder.start("html", {})
    content = _COMMENT.sub("", content)
    for tag in _TAG.finditer(content):
        builder.data(unescape(content[place : tag.start()]))
        place, name = tag.end(), (tag[2] or "").lower()
        if tag[1] and name in open_tags[1:]:
            while (last := open_tags.pop()) != name:
                builder.end(last)
            builder.end(name)
        elif name and not tag[1]:
            about = {key.lower(): unescape(one or other) for key, one, other in _ATTRIBUTE.findall(tag[3])}
            builder.start(name, about)
            if name in _EMPTY or tag[3].endswith("/"):
                builder.end(name)
            else:
                open_tags.append(name)
            if len(open_tags) > DEEPEST:
                raise Unreadable("too deeply nested")
    builder.data(unescape(content[place:]))
    for name in reversed(open_tags):
        builder.end(name)
    return builder.close()


def _keys(pages: Sequence[Element]) -> Sequence[int]:
    stated = [_NUMBER.search(_title(page)) for page in pages]
    return page_keys([number[1] if number else None for number in stated])


def _title(element: Element) -> str:
    return element.get("title") or ""


def _classes(element: Element) -> Sequence[str]:
    return (element.get("class") or "").split()


class _Text:
    """Collects the blocks of a page: paragraphs, lines and words as the elements part them."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._lines: list[str] = []
        self._pieces: list[str] = []

    def of(self, page: Element) -> tuple[Block, ...]:
        self._read(page, "text", 0)
        self._end_block("text")
        return tuple(self._blocks)

    def _read(self, element: Element, kind: BlockKind, depth: int) -> None:
        if depth > DEEPEST:
            raise Unreadable("too deeply nested")
        self._pieces.append(element.text or "")
        for child in element:
            self._child(child, kind, depth)
            self._pieces.append(child.tail or "")

    def _child(self, child: Element, kind: BlockKind, depth: int) -> None:
        tag, classes = child.tag, _classes(child)
        if "ocrx_word" in classes:
            self._pieces += " ", _word(child), " "  # some files have no space between them
        elif tag == "table":
            self._end_block(kind)
            self._blocks.append(Block("table", html_table(_cells(child))))
        elif tag in _PARTS:
            self._end_block(kind)
            own = next((_KINDS[each] for each in classes if each in _KINDS), kind)
            self._read(child, own, depth + 1)
            self._end_block(own)
        elif tag == "br" or not _LINES.isdisjoint(classes):
            self._end_line()
            self._read(child, kind, depth + 1)
            self._end_line()
        elif tag not in _UNSEEN:
            self._read(child, kind, depth + 1)

    def _end_line(self) -> None:
        if line := " ".join("".join(self._pieces).split()):
            self._lines.append(line)
        self._pieces.clear()

    def _end_block(self, kind: BlockKind) -> None:
        self._end_line()
        if self._lines:
            self._blocks.append(Block(kind, "\n".join(self._lines), int(kind == "heading")))
        self._lines.clear()


def _word(word: Element) -> str:
    if not len(word):
        return word.text or ""
    text = "".join(_seen(word))
    has_characters = any("ocrx_cinfo" in _classes(part) for part in word.iter())
    return "".join(text.split()) if has_characters else text


def _seen(element: Element, depth: int = 0) -> Iterator[str]:
    if depth > DEEPEST:
        raise Unreadable("too deeply nested")
    yield element.text or ""
    for child in element:
        if child.tag not in _UNSEEN:
            yield from _seen(child, depth + 1)
        yield child.tail or ""


def _cells(table: Element) -> Iterator[Cell]:
    for row, line in enumerate(table.iter("tr")):
        for column, cell in enumerate(each for each in line if each.tag in ("td", "th")):
            spans = span(cell.get("rowspan")), span(cell.get("colspan"))
            yield Cell(row, column, " ".join(_seen(cell)), *spans, cell.tag == "th")


def _words(page: Element) -> Iterator[Word]:
    line: Word | None = None
    for element in page.iter():
        classes = _classes(element)
        if "ocrx_word" in classes:
            if word := _sure(element, _word(element)):
                line = None
                yield word
        elif not _LINES.isdisjoint(classes):
            if line:
                yield line
            line = _sure(element, " ".join(_seen(element)))
    if line:
        yield line


def _sure(element: Element, text: str) -> Word | None:
    title, text = _title(element), " ".join(text.split())
    stated, box = _SURE.search(title), _BOX.search(title)
    if stated is None or stated[1] == "-1" or not text:  # which Tesseract writes where it has none
        return None
    corners = ((box[1], box[2]), (box[3], box[4])) if box else ()
    return Word(text, box_of(corners), stated_confidence(stated[1], 100))
