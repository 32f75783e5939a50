"""Paragraphs and elements of a page, and the spots among them that prompts are about."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ohr.contracts import EvidenceSource, Span
from ohr.markup.regions import NOTATION, Region, regions
from ohr.text.chinese import HAN, without_spacing
from ohr.text.sentences import sentence_spans

BlockKind = Literal["text", "heading", "table", "formula", "chart"]

_ELEMENTS: Mapping[str, BlockKind] = {"table": "table", "block_formula": "formula"}
_SIGN = re.compile(f"[{HAN}]|[^\\s{HAN}]{{1,20}}")  # a run without spaces, as of a damaged page, is several words
_PARAGRAPH = re.compile(r"\S(?:(?!\n[ \t]*\n).)*", re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]+\S|\\(?:title|(?:sub)*section|chapter)\*?\{")
_MARKS = re.compile(r"^#{1,6}|\\(?:title|(?:sub)*section|chapter)\*?\{|[#*_}]+$|\*\*")
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’」』)\]]*\s*$")
_TITLE_WORDS = 30
_LEAST_WORDS = 40
"""Words of the shortest text that is asked about: fewer are captions, signatures and page furniture."""
_LEAST_PARAGRAPH = 15
"""The same, of one of the two paragraphs of a question on reading order."""
_CAPTION = re.compile(r"\W*(?:table|fig(?:ure|\.)?|chart|box|表|图|圖)\s*[0-9A-Z]", re.IGNORECASE)
_MOST_BLOCKS = 2000
"""Blocks of a page that are looked at: no page of a document has more, and damaged ones take long."""
_CONTEXT = 3
"""An element gets paragraphs around it for a third of the longest passage: with more, small models ask about those."""


class Block(NamedTuple):
    """Characters [start, end) of a paragraph, heading or element, without white space around them."""

    kind: BlockKind
    start: int
    end: int


class Spot(NamedTuple):
    """A part of a page that a prompt asks about.

    Args:
        spans: the characters that the prompt shows; two where two paragraphs are to be joined.
        rank: 0 for the spots of the page that are taken first.
    """

    source: EvidenceSource
    spans: tuple[Span, ...]
    rank: int = 0


def size(text: str) -> int:
    """Count the words of a text, a Chinese sign as one: near its number of tokens, and fast."""
    return sum(1 for _ in _SIGN.finditer(text))


def blocks(text: str) -> list[Block]:
    """Cut a page into paragraphs, headings and elements, in order. A chart holds its table."""
    every = regions(text)
    elements = [Block("chart", *span) for span in _charts(text, every)]
    inside = iter([*elements, Block("chart", len(text), len(text))])
    chart = next(inside)
    for region in every:
        while region.start >= chart.end and chart.start < len(text):
            chart = next(inside)
        if region.kind in _ELEMENTS and not chart.start <= region.start < chart.end:
            elements.append(Block(_ELEMENTS[region.kind], region.start, region.end))
    every_block: list[Block] = []
    place = 0
    for element in [*sorted(elements, key=lambda block: block.start), Block("text", len(text), len(text))]:
        every_block += _paragraphs(text, place, element.start)
        every_block += [element] if element.start < element.end else []
        place = element.end
    return every_block


def title(text: str) -> str:
    """Return the first heading of a page, else its first line, if it is as short as a title."""
    first = next(filter(str.strip, text.splitlines()), "")
    line = next((text[block.start : block.end] for block in blocks(text) if block.kind == "heading"), first)
    return plain_heading(line) if size(line) <= _TITLE_WORDS else ""


def plain_heading(line: str) -> str:
    """Return a heading without its marks, and without spaces between Chinese characters."""
    return without_spacing(_MARKS.sub("", line.strip()).strip())


def section(text: str, place: int) -> str:
    """Return the last heading before a place of a page; "" where there is none."""
    above = [block for block in blocks(text) if block.kind == "heading" and block.start <= place]
    return plain_heading(text[above[-1].start : above[-1].end]) if above else ""


def spots(text: str, most_words: int) -> list[Spot]:
    """List what can be asked about a page, each as long as a prompt may be.

    A text spot is a run of paragraphs; they do not overlap. A table, formula or chart has the paragraphs around it. A
    formula inside a paragraph counts where it is an equation. Two paragraphs make a spot of reading order where only
    elements and captions are between them; such as do not end their sentence come first.
    """
    parts = blocks(text)[:_MOST_BLOCKS]
    found = [Spot("text", (span,)) for span in _windows(text, parts, most_words)]
    for place, block in enumerate(parts):
        if block.kind in ("table", "formula", "chart"):
            found.append(Spot(block.kind, (_around(text, parts, place, most_words),)))
        elif block.kind == "text" and _has_equation(text[block.start : block.end]):
            found.append(Spot("formula", (_around(text, parts, place, most_words),), 1))
    found += (spot for spot in _parted(text, parts, most_words))
    return list(dict.fromkeys(found))


def _charts(text: str, every: Sequence[Region]) -> Iterator[Span]:
    begun = -1
    for region in every:
        if region.kind != "chart":
            continue
        begun = region.start if begun < 0 else begun
        if text[region.start : region.end].rstrip().lower().endswith("</chart>"):
            yield begun, region.end
            begun = -1


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    for match in _PARAGRAPH.finditer(text, start, end):
        heading = _HEADING.match(match[0]) and "\n" not in match[0].strip()
        yield Block("heading" if heading else "text", match.start(), match.start() + len(match[0].rstrip()))


def _has_equation(text: str) -> bool:
    return any(
        region.kind == "inline_formula" and "=" in text[region.start : region.end] and NOTATION.search(text)
        for region in regions(text)
    )


def _windows(text: str, parts: Sequence[Block], most: int) -> Iterator[Span]:
    """Yield runs of paragraphs and sentences of at most so many words; no element is inside of one."""
    start = end = words = 0
    for block in [*parts, Block("table", len(text), len(text))]:
        pieces = cut(text, block.start, block.end, most) if block.kind in ("text", "heading") else [(0, 0)]
        for piece in pieces:
            more = size(text[slice(*piece)])
            if words and (words + more > most or not more or (block.kind == "heading" and words >= most / 2)):
                if words >= _LEAST_WORDS:
                    yield start, end
                words = 0
            start, end, words = (start if words else piece[0]), piece[1], words + more


def cut(text: str, start: int, end: int, most: int) -> list[Span]:
    """Cut a passage into pieces of at most so many words: at sentences, then at lines, then anywhere."""
    if size(text[start:end]) <= most:
        return [(start, end)]
    inner = text[start:end]
    pieces = sentence_spans(inner)
    if len(pieces) < 2:
        pieces = [match.span() for match in re.finditer(r"[^\n]+\n?", inner)]
    if len(pieces) < 2:
        signs = [match.span() for match in _SIGN.finditer(inner)]
        pieces = [(signs[at][0], signs[min(at + most, len(signs)) - 1][1]) for at in range(0, len(signs), most)]
    return [span for first, last in pieces for span in cut(text, start + first, start + last, most)]


def _around(text: str, parts: Sequence[Block], place: int, most: int) -> Span:
    """Return an element with as many of its neighbors as fit; a longer one is cut at the end of a line."""
    start, end = parts[place].start, parts[place].end
    words = size(text[start:end])
    if words > most:
        return _beginning(text, start, end, most)
    most = min(most, words + most // _CONTEXT)
    before, after = place - 1, place + 1
    while before >= 0 or after < len(parts):
        for step in (-1, 1):
            beside = before if step < 0 else after
            block = parts[beside] if 0 <= beside < len(parts) else None
            more = size(text[block.start : block.end]) if block and block.kind not in ("table", "chart") else most
            if block is None or words + more > most:
                before, after = (-1, after) if step < 0 else (before, len(parts))
                continue
            words += more
            start, end = min(start, block.start), max(end, block.end)
            before, after = (before - 1, after) if step < 0 else (before, after + 1)
    return start, end


def _beginning(text: str, start: int, end: int, most: int) -> Span:
    words, last = 0, start
    for match in re.finditer(r"[^\n]*\n?", text[start:end]):
        words += size(match[0])
        if words > most and last > start:
            break
        last = start + match.end()
    return start, min(last, end)


def _parted(text: str, parts: Sequence[Block], most: int) -> Iterator[Spot]:
    first: Block | None = None
    apart = False
    for block in parts:
        shown = text[block.start : block.end]
        if block.kind == "heading":
            first = None
        elif block.kind != "text":
            apart = True
        elif size(shown) >= _LEAST_PARAGRAPH and not _CAPTION.match(shown):
            if first and apart:
                continued = not _SENTENCE_END.search(text[first.start : first.end]) or text[block.start].islower()
                half = most // 2
                above, below = cut(text, first.start, first.end, half)[-1], cut(text, block.start, block.end, half)[0]
                yield Spot("reading_order", (above, below), 0 if continued else 1)
            first, apart = block, False
