"""PAGE XML of PRImA, one file a page (schemas of 2009 to 2019), as OCR-D, kraken and Transkribus write it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from ohr.contracts import Block, BlockKind, OcrFormat, Word
from ohr.files.json_input import whole_number

from .cells import Cell, html_table, span
from .values import Pages, Unreadable
from .xml_input import DEEPEST, box_of, children, document, in_order, refuse_without_text, stated_confidence, text_kind

_KINDS: Mapping[str, BlockKind] = {
    "catch-word": "footer",
    "signature-mark": "footer",
    "footnote-continued": "footnote",
    "endnote": "footnote",
    "TOC-entry": "list",
}
_CUSTOM = re.compile(r"\bstructure\s*\{[^{}]*?\btype:\s*([^;{}\s]+)")
_CUSTOM_PLACE = re.compile(r"\breadingOrder\s*\{[^{}]*?\bindex:\s*(\d+)")
_LAST = float("inf")


class PageXml(OcrFormat, kind="page_xml"):
    """PAGE XML of OCR-D, kraken, eScriptorium, Transkribus and others."""

    endings = (".page.xml", "_page.xml", ".xml")
    ignored = ("mets.xml", "metadata.xml")

    def pages(self, content: Any) -> Pages:
        """Read a page, a block for each region, in the reading order that it states."""
        pages = _pages(content)
        return {number: tuple(_blocks(page)) or _whole(page) for number, page in enumerate(pages)}

    def words(self, content: Any) -> dict[int, tuple[Word, ...]]:
        """Return the words of a page with their confidence, or the lines of which no word has one."""
        return {number: tuple(_words(page)) for number, page in enumerate(_pages(content))}

    def fits(self, content: Any) -> bool:
        """Report whether it is PAGE XML, with text or without."""
        return document(content, "PcGts", "PAGE XML").find("Page") is not None


def _pages(content: Any) -> Sequence[Element]:
    root = document(content, "PcGts", "PAGE XML")
    has_text = any(next(root.iter(name), None) is not None for name in ("Unicode", "PlainText"))
    refuse_without_text(root, "TextLine", "Unicode", has_text=has_text)
    return list(children(root, "Page"))


def _regions(page: Element) -> Iterator[Element]:
    """List regions in reading order, each before those within it; a table of cells is one."""
    references = (reference for order in children(page, "ReadingOrder") for reference in _references(order))
    places: dict[str, float] = {}
    for place, reference in enumerate(references):
        places.setdefault(reference, place)

    def within(parent: Element, depth: int) -> Iterator[Element]:
        if depth > DEEPEST:
            raise Unreadable("too deeply nested")
        regions = [child for child in parent if child.tag.endswith("Region")]
        for region in in_order(regions, places) if places else _by_custom(regions):
            yield region
            if not _cells(region):
                yield from within(region, depth + 1)

    return within(page, 0)


def _references(group: Element, depth: int = 0) -> Iterator[str]:
    """List the regions of a reading order; indices count where all members of a group have one."""
    if depth > DEEPEST:
        raise Unreadable("too deeply nested")
    for member in _indexed(list(group), [child.get("index") for child in group]):
        if reference := member.get("regionRef"):
            yield reference
        yield from _references(member, depth + 1)


def _by_custom(elements: Sequence[Element]) -> Sequence[Element]:
    """Sort regions or lines by the place that Transkribus notes, or by their own."""
    noted = [_CUSTOM_PLACE.search(element.get("custom") or "") for element in elements]
    return _indexed(
        elements, [place[1] if place else element.get("index") for place, element in zip(noted, elements, strict=True)]
    )


def _indexed(elements: Sequence[Element], indices: Sequence[str | None]) -> Sequence[Element]:
    places = [number for number in map(whole_number, indices) if number is not None]
    if len(places) < len(elements):
        return elements
    return [elements[place] for place in sorted(range(len(places)), key=places.__getitem__)]


def _blocks(page: Element) -> Iterator[Block]:
    for region in _regions(page):
        if cells := _cells(region):
            yield Block("table", html_table(cells))
        elif text := _region_text(region):
            noted = _CUSTOM.search(region.get("custom") or "")
            label = region.get("type") or (noted[1] if noted else None)
            yield Block(text_kind(label, _KINDS), text)


def _whole(page: Element) -> tuple[Block, ...]:
    """Return the text that a page has itself, without regions."""
    return (Block("text", text),) if (text := _text(page)) else ()


def _cells(region: Element) -> Sequence[Cell]:
    """Return the cells of a table: Transkribus has elements for them, the schema has roles of regions."""
    if region.tag != "TableRegion":
        return ()
    cells = []
    for child in region:
        role = child.find("Roles/TableCellRole") if child.tag == "TextRegion" else None
        about, names = (child, ("row", "col")) if child.tag == "TableCell" else (role, ("rowIndex", "columnIndex"))
        if about is None:
            continue
        row, column = (whole_number(about.get(name)) for name in names)
        if row is None or column is None:
            raise Unreadable("not as expected: a cell of a table has no row and column")
        header = about.get("header") in ("true", "1")
        cells.append(
            Cell(row, column, _region_text(child), span(about.get("rowSpan")), span(about.get("colSpan")), header)
        )
    return cells


def _region_text(region: Element) -> str:
    lines = filter(None, map(_line_text, _by_custom(list(children(region, "TextLine")))))
    return "\n".join(lines) or _text(region)


def _line_text(line: Element) -> str:
    return _text(line) or " ".join(filter(None, map(_word_text, children(line, "Word"))))


def _word_text(word: Element) -> str:
    return _text(word) or "".join(_text(glyph) for glyph in children(word, "Glyph"))


def _text(element: Element) -> str:
    """Return the text of an element's first reading that has any."""
    reading = _reading(element)
    return "" if reading is None else _said(reading)


def _said(reading: Element) -> str:
    text = reading.findtext("Unicode") or reading.findtext("PlainText") or ""
    return "\n".join(filter(None, map(str.strip, text.splitlines())))


def _reading(element: Element) -> Element | None:
    readings = list(children(element, "TextEquiv"))
    if len(readings) < 2:
        return readings[0] if readings else None
    readings = [reading for reading in readings if _said(reading)] or readings

    def place(reading: Element) -> float:
        index = whole_number(reading.get("index"))
        return _LAST if index is None else index

    return min(readings, key=place)


def _words(page: Element) -> Iterator[Word]:
    for region in _regions(page):
        for line in region.iter("TextLine") if _cells(region) else _by_custom(list(children(region, "TextLine"))):
            words = [found for word in children(line, "Word") if (found := _sure(word, _word_text(word)))]
            whole = None if words else _sure(line, _line_text(line))
            yield from words or ([whole] if whole else ())


def _sure(element: Element, text: str) -> Word | None:
    reading = _reading(element)
    stated = None if reading is None else reading.get("conf")
    return Word(text, _box(element), stated_confidence(stated)) if text and stated is not None else None


def _box(element: Element) -> tuple[float, float, float, float] | None:
    coordinates = element.find("Coords")
    if coordinates is None:
        return None
    if points := coordinates.get("points"):
        return box_of([(x, y) for x, _, y in (point.partition(",") for point in points.split())])
    return box_of([(point.get("x"), point.get("y")) for point in children(coordinates, "Point")])
