"""Google Document AI: a `Document` as JSON, with the keys of its API or of its Python client, or a list of shards."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat, Word
from ohr.files.json_input import whole_number

from .cells import Cell, html_table, refuse_large, span
from .values import Pages, Unreadable, confidence, known, mapping, page_number, sequence, string
from .xml_input import DEEPEST, box_of

_PARTS = ("paragraphs", "blocks", "lines")
"""Lists of a page's texts, the first of which is read that it has."""
_KINDS: Mapping[str, BlockKind] = {"header": "header", "footer": "footer", "subtitle": "heading", "title": "heading"}

_MOST = 10
"""Times that a file's parts may be as long as the text that they refer to; short files could ask for gigabytes."""

_Node = Mapping[str, Any]


class DocumentAi(OcrFormat, kind="document_ai"):
    """Google Document AI: a document of its OCR, form and layout parsers."""

    endings = (".json",)

    def pages(self, content: Any) -> Pages:
        """Read a document: the blocks of its layout, or the paragraphs of each page with its tables in place."""
        pages: dict[int, list[Block]] = defaultdict(list)
        for shard in _shards(content):
            if (layout := _get(shard, "documentLayout")) is not None:
                for number, block in _layout(sequence(mapping(layout, "documentLayout").get("blocks"), "blocks"), 0):
                    pages[number].append(block)
                continue
            text = string(shard.get("text"), "text")
            _refuse_repeats((node for _, page in _pages(shard) for node in _referring(page)), text)
            for number, page in _pages(shard):
                pages[number] += _blocks(page, text)
        return {number: tuple(blocks) for number, blocks in sorted(pages.items())}

    def words(self, content: Any) -> dict[int, tuple[Word, ...]]:
        """Return the tokens of each page that have a confidence."""
        words: dict[int, tuple[Word, ...]] = {}
        for shard in _shards(content):
            text = string(shard.get("text"), "text")
            _refuse_repeats((token for _, page in _pages(shard) for token in _list(page, "tokens")), text)
            words |= {number: tuple(_words(page, text)) for number, page in _pages(shard)}
        return words

    def fits(self, content: Any) -> bool:
        """Report whether its pages have a layout or its blocks are those of the layout parser."""
        shards = _shards(content)
        return any(
            _get(shard, "documentLayout") or any("layout" in page for _, page in _pages(shard)) for shard in shards
        )


def _get(node: _Node, name: str) -> Any:
    """Return a value by its name in the API, such as `textAnchor`, or in Python, `text_anchor`."""
    return node[name] if name in node else node.get("".join(f"_{c.lower()}" if c.isupper() else c for c in name))


def _list(node: _Node, name: str) -> Sequence[_Node]:
    return [mapping(each, f"one of {name}") for each in sequence(_get(node, name), name)]


def _shards(content: Any) -> Sequence[_Node]:
    shards = [mapping(shard, "the file") for shard in (content if isinstance(content, list) else [content])]
    shards = [mapping(shard.get("document", shard), "document") for shard in shards]
    if not shards or not all("pages" in shard or _get(shard, "documentLayout") for shard in shards):
        raise Unreadable("not Document AI's: it has no `pages` and no `documentLayout`")
    known([page for shard in shards for page in _list(shard, "pages")], ("layout", "pageNumber", "page_number"), "page")
    return shards


def _pages(shard: _Node) -> Iterator[tuple[int, _Node]]:
    for place, page in enumerate(_list(shard, "pages"), start=1):
        number = _get(page, "pageNumber")
        yield page_number(place if number is None else number, first=1), page


def _anchor(node: _Node) -> _Node:
    return mapping(_get(mapping(node.get("layout") or {}, "a layout"), "textAnchor") or {}, "textAnchor")


def _spans(node: _Node, text: str) -> Sequence[tuple[int, int]]:
    """Return where a node's text is in that of the document; offsets are texts in JSON, and 0 is left out."""
    spans = []
    for segment in _list(_anchor(node), "textSegments"):
        start, end = (whole_number(_get(segment, name) or 0) for name in ("startIndex", "endIndex"))
        if start is None or end is None or not start <= end <= len(text):
            raise Unreadable(f"not as expected: it refers to {start} to {end} of a text of {len(text):,} characters")
        spans.append((start, end))
    return spans


def _refuse_repeats(nodes: Iterable[_Node], text: str) -> None:
    if sum(end - start for node in nodes for start, end in _spans(node, text)) > _MOST * len(text):
        raise Unreadable(f"not as expected: its parts refer more than {_MOST} times to its text")


def _said(node: _Node, text: str) -> str:
    spans = _spans(node, text)
    return (
        "".join(text[start:end] for start, end in spans) if spans else string(_anchor(node).get("content"), "content")
    )


def _parts(page: _Node) -> Sequence[_Node]:
    return next((parts for name in _PARTS if (parts := _list(page, name))), [page] if "layout" in page else [])


def _referring(page: _Node) -> Sequence[_Node]:
    """List what a page is read from: its parts, or else its tokens, and its cells."""
    cells = [cell for table in _list(page, "tables") for _, _, row in _rows(table) for cell in row]
    return *(_parts(page) or _list(page, "tokens")), *cells


def _blocks(page: _Node, text: str) -> Iterator[Block]:
    parts = _parts(page)
    tables = [(table, _cells(table, text)) for table in _list(page, "tables")]
    known(parts, ("layout",), "part of a page")
    if parts != [page]:  # which a blank page has itself
        layouts = [mapping(part.get("layout") or {}, "a layout") for part in parts]
        known(layouts, ("textAnchor", "text_anchor"), "layout")
    if not parts and (said := "".join(_said(token, text) for token in _list(page, "tokens")).strip()):
        yield Block("text", said)
    taken = {place: number for number, (table, _) in enumerate(tables) for place in _places(table, text)}
    written = set[int]()
    for part in parts:
        spans = _spans(part, text)
        for number in dict.fromkeys(
            taken[place] for start, end in spans for place in range(start, end) if place in taken
        ):
            if number not in written:
                written.add(number)
                yield Block("table", html_table(tables[number][1]))
        outside = "".join(text[place] for start, end in spans for place in range(start, end) if place not in taken)
        if said := (outside if spans else _said(part, text)).strip():
            yield Block("text", said)


def _rows(table: _Node) -> Iterator[tuple[int, bool, Sequence[_Node]]]:
    heads, bodies = _list(table, "headerRows"), _list(table, "bodyRows")
    for number, row in enumerate((*heads, *bodies)):
        yield number, number < len(heads), _list(row, "cells")


def _places(table: _Node, text: str) -> Iterator[int]:
    """List the characters that are in a table's cells."""
    for _, _, cells in _rows(table):
        yield from (place for cell in cells for start, end in _spans(cell, text) for place in range(start, end))


def _cells(table: _Node, text: str | None) -> Sequence[Cell]:
    """Return the cells of a table, whose columns follow from their order; without a text they have blocks."""
    found, free = [], defaultdict[int, int](int)
    for row, is_head, cells in _rows(table):
        column = 0
        for cell in cells:
            while free[column] > row:
                column += 1
            refuse_large(row, column)
            rows, columns = span(_get(cell, "rowSpan")), span(_get(cell, "colSpan"))
            inside = _said(cell, text) if text is not None else "\n".join(_inside(cell))
            found.append(Cell(row, column, inside, rows, columns, is_head))
            free.update(dict.fromkeys(range(column, column + columns), row + rows))
            column += columns
    return found


def _layout(blocks: Any, page: int, depth: int = 0) -> Iterator[tuple[int, Block]]:
    """List the blocks of the layout parser with their pages; a block is within the heading that it is below."""
    if depth > DEEPEST:
        raise Unreadable("too deeply nested")
    for each in sequence(blocks, "blocks"):
        block = mapping(each, "a block")
        extent = mapping(_get(block, "pageSpan") or {}, "pageSpan")
        start = _get(extent, "pageStart")
        page = page if start is None else page_number(start, first=1)
        if text := _get(block, "textBlock"):
            about = mapping(text, "textBlock")
            kind = string(about.get("type"), "a type")
            level = whole_number(kind.removeprefix("heading-")) or 0
            if said := string(about.get("text"), "text").strip():
                yield page, Block("heading" if kind.startswith("heading") else _KINDS.get(kind, "text"), said, level)
            yield from _layout(about.get("blocks"), page, depth + 1)
        if table := _get(block, "tableBlock"):
            about = mapping(table, "tableBlock")
            if caption := string(about.get("caption"), "a caption"):
                yield page, Block("caption", caption)
            yield page, Block("table", html_table(_cells(about, None)))
        if items := _get(block, "listBlock"):
            entries = _list(mapping(items, "listBlock"), "listEntries")
            yield page, Block("list", "\n".join(f"- {' '.join(_inside(entry))}" for entry in entries))


def _inside(node: _Node) -> Iterator[str]:
    """List the texts of the blocks in a cell or an item of a list."""
    return (block.text for _, block in _layout(node.get("blocks"), 0, 1))


def _words(page: _Node, text: str) -> Iterator[Word]:
    size = mapping(page.get("dimension") or {}, "dimension")
    for token in _list(page, "tokens"):
        layout = mapping(token.get("layout") or {}, "a layout")
        said, stated = _said(token, text).strip(), layout.get("confidence")
        if said and stated is not None:
            yield Word(said, _box(layout, size), confidence(stated))


def _box(layout: _Node, size: _Node) -> tuple[float, float, float, float] | None:
    """Return a token's box in pixels, which a file has as such or as shares of its page; 0 is left out."""
    outline = mapping(_get(layout, "boundingPoly") or {}, "boundingPoly")
    width = height = 1.0
    corners = _list(outline, "vertices")
    if not corners:
        corners = _list(outline, "normalizedVertices")
        width, height = (size.get(name) for name in ("width", "height"))  # type: ignore[assignment] # checked below
    try:
        return box_of([(str(corner.get("x", 0) * width), str(corner.get("y", 0) * height)) for corner in corners])
    except TypeError:
        return None
