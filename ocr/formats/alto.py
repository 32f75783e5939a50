"""ALTO: pages as XML with a string for each word (versions 1 to 4 of the Library of Congress, and that of CCS)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from ohr.contracts import Block, BlockKind, OcrFormat, Word

from .values import Pages
from .xml_input import (
    box_of,
    children,
    document,
    in_order,
    page_keys,
    refuse_without_text,
    stated_confidence,
    text_kind,
)

_AREAS: Mapping[str, BlockKind] = {"TopMargin": "header", "BottomMargin": "footer"}
_ZONES: Mapping[str, BlockKind] = {
    "RunningTitleZone": "header",
    "NumberingZone": "page_number",
    "QuireMarksZone": "footer",
}
"""Labels of SegmOnto, which eScriptorium writes."""


class Alto(OcrFormat, kind="alto"):
    """ALTO of Tesseract, ABBYY, kraken, eScriptorium, Transkribus and libraries."""

    endings = (".alto.xml", "_alto.xml", ".alto", ".xml")
    ignored = ("mets.xml", "metadata.xml")

    def pages(self, content: Any) -> Pages:
        """Read a document, a block for each text block; a word that a line's end parts is written whole."""
        root = _root(content)
        kinds = _kinds(root)
        return {number: page.read(kinds) for number, page in _pages(root)}

    def words(self, content: Any) -> dict[int, tuple[Word, ...]]:
        """Return the strings of each page that have a `WC`; boxes are known where a file measures in pixels."""
        root = _root(content)
        in_pixels = (root.findtext(".//MeasurementUnit") or "pixel").strip() == "pixel"
        return {number: tuple(_words(page, in_pixels)) for number, page in _pages(root)}

    def fits(self, content: Any) -> bool:
        """Report whether it is an ALTO file, with text or without."""
        return document(content, "alto", "ALTO").find("Layout") is not None


def _root(content: Any) -> Element:
    root = document(content, "alto", "ALTO")
    has_text = any("CONTENT" in string.attrib for string in root.iter("String"))
    refuse_without_text(root, "TextLine", "CONTENT", has_text=has_text)
    return root


def _pages(root: Element) -> Iterator[tuple[int, "_Page"]]:
    places: dict[str, float] = {}
    references = (reference.get("REF", "") for group in root.iter("ReadingOrder") for reference in group.iter())
    for place, reference in enumerate(references):
        places.setdefault(reference, place)
    pages = root.findall("Layout/Page")
    numbers = page_keys([page.get("PHYSICAL_IMG_NR") for page in pages])
    return ((number, _Page(page, places)) for number, page in zip(numbers, pages, strict=True))


def _kinds(root: Element) -> Mapping[str, BlockKind]:
    """Return the kinds of blocks by the ids of the tags that they refer to."""
    tags = (tag for group in root.iter("Tags") for tag in group)
    return {tag.get("ID", ""): text_kind(tag.get("LABEL"), _ZONES) for tag in tags}


class _Page:
    """A page with its blocks in the reading order of its file, which has places by id."""

    def __init__(self, page: Element, places: dict[str, float]) -> None:
        self._places = places
        self._has_spaces = next(page.iter("SP"), None) is not None
        self._whole: str | None = None
        areas = sorted(
            page, key=lambda area: ("TopMargin", "", "BottomMargin").index(area.tag if area.tag in _AREAS else "")
        )
        self.blocks = [(area.tag, block) for area in areas for block in self._sorted(list(area.iter("TextBlock")))]

    def _sorted(self, blocks: Sequence[Element]) -> Sequence[Element]:
        if not self._places:
            return blocks
        for block in blocks:  # a reading order may list lines only
            places = [self._places[id] for part in block.iter() if (id := part.get("ID")) in self._places]
            if places and (id := block.get("ID")):
                self._places[id] = min(places)
        return in_order(blocks, self._places)

    def read(self, kinds: Mapping[str, BlockKind]) -> tuple[Block, ...]:
        found = []
        for area, block in self.blocks:
            tagged = [kinds[tag] for tag in (block.get("TAGREFS") or "").split() if tag in kinds]
            kind = next((each for each in tagged if each != "text"), _AREAS.get(area, "text"))
            lines = filter(None, map(self._line, _lines(block)))
            if text := "\n".join(lines):
                found.append(Block(kind, text))
        return tuple(found)

    def strings(self) -> Iterator[Element]:
        """List the strings of the page's lines."""
        for _, block in self.blocks:
            yield from (string for line in _lines(block) for string in children(line, "String"))

    def _line(self, line: Element) -> str:
        """Write a line; where a file has spaces, what has none between it is one word."""
        pieces, is_whole = list[str](), False
        for part in line:
            if part.tag == "String":
                text, is_whole = self._string(part)
                pieces.append(text if self._has_spaces or not text else f" {text}")
            elif part.tag == "SP":
                pieces.append(" ")
            elif part.tag == "HYP" and not is_whole:
                pieces.append(part.get("CONTENT", "-").replace("\N{SOFT HYPHEN}", "-"))
        return " ".join("".join(pieces).split())

    def _string(self, string: Element) -> tuple[str, bool]:
        """Return a string's text, of a parted word all at its first part, and whether it is such a word."""
        text, whole, part = string.get("CONTENT", ""), string.get("SUBS_CONTENT"), string.get("SUBS_TYPE")
        if part == "HypPart1" and whole:
            self._whole = whole
            return whole, True
        if part == "HypPart2" and whole and whole == self._whole:
            self._whole = None
            return "", False
        return text, False


def _lines(block: Element) -> Sequence[Element]:
    """Return the lines of a block, with the block itself: some have strings without a line."""
    return block, *children(block, "TextLine")


def _words(page: _Page, in_pixels: bool) -> Iterator[Word]:
    """Yield the words; one of two parts is where its first is, and as sure as the less sure of them."""
    half: Word | None = None
    for string in page.strings():
        text, stated = string.get("CONTENT", "").strip(), string.get("WC")
        whole, part = string.get("SUBS_CONTENT"), string.get("SUBS_TYPE")
        if not text or stated is None:
            continue
        confidence = stated_confidence(stated)
        if half and part == "HypPart2" and whole == half.text:
            yield replace(half, confidence=min(half.confidence or 0.0, confidence))
            half = None
            continue
        if half:
            yield half
        word = Word(text, _box(string) if in_pixels else None, confidence)
        half = replace(word, text=whole) if whole and part == "HypPart1" else None
        if half is None:
            yield word
    if half:
        yield half


def _box(string: Element) -> tuple[float, float, float, float] | None:
    start = box_of([(string.get("HPOS"), string.get("VPOS"))])
    size = box_of([(string.get("WIDTH"), string.get("HEIGHT"))])
    return (start[0], start[1], start[0] + size[0], start[1] + size[1]) if start and size else None
