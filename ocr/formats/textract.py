"""Amazon Textract: a response of DetectDocumentText, AnalyzeDocument or GetDocumentAnalysis, or a list of its parts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat, Word

from .cells import Cell, html_table, span
from .values import Pages, Unreadable, confidence, known, mapping, page_number, sequence, string

_KINDS: Mapping[str, BlockKind] = {
    "LAYOUT_TITLE": "heading",
    "LAYOUT_SECTION_HEADER": "heading",
    "LAYOUT_HEADER": "header",
    "LAYOUT_FOOTER": "footer",
    "LAYOUT_PAGE_NUMBER": "page_number",
    "LAYOUT_LIST": "list",
}
_LEVELS = {"LAYOUT_TITLE": 1, "LAYOUT_SECTION_HEADER": 2}
_BOXES = {"SELECTED": "[x]", "NOT_SELECTED": "[ ]"}

_Item = Mapping[str, Any]
"""A block in Textract's sense: a page, a line, a word, a table, a cell or a part of the layout."""


class Textract(OcrFormat, kind="textract"):
    """Amazon Textract: a response, or a list of the parts of one."""

    endings = (".json",)

    def pages(self, content: Any) -> Pages:
        """Read a document: the parts of its layout where it was asked for, else lines; tables are in their places."""
        return {number: tuple(page.blocks()) for number, page in _pages(content).items()}

    def words(self, content: Any) -> dict[int, tuple[Word, ...]]:
        """Return the words of each page; Textract gives places as shares of the page, so that they have no boxes."""
        return {number: tuple(page.words()) for number, page in _pages(content).items()}

    def fits(self, content: Any) -> bool:
        """Report whether its blocks have a `BlockType`, and a page is among them."""
        return any(item.get("BlockType") == "PAGE" for item in _items(content))


def _items(content: Any) -> list[_Item]:
    """Return the blocks of all parts."""
    parts = content if isinstance(content, list) else [content]
    if parts and all(isinstance(part, dict) and "BlockType" in part for part in parts):
        return parts
    items: list[_Item] = []
    for part in parts:
        response = mapping(part, "a response")
        status = response.get("JobStatus", "SUCCEEDED")
        if status not in ("SUCCEEDED", "PARTIAL_SUCCESS"):
            raise Unreadable(f"of a job without a result: its `JobStatus` is {str(status)[:40]}")
        if "Blocks" not in response:
            raise Unreadable("not Textract's: it has no `Blocks`")
        items += (mapping(item, "a block") for item in sequence(response["Blocks"], "Blocks"))
    if parts and parts[-1].get("NextToken"):
        raise Unreadable("one part of a response (it has a `NextToken`): join all parts in one list")
    known(items, ("BlockType",), "block")
    known([item for item in items if item.get("BlockType") in ("LINE", "WORD")], ("Text",), "line")
    return items


def _pages(content: Any) -> dict[int, "_Page"]:
    by_id, by_page = dict[str, _Item](), defaultdict[int, list[_Item]](list)
    for item in _items(content):
        if name := string(item.get("Id"), "an Id"):
            by_id[name] = item
        by_page[page_number(item.get("Page", 1), first=1)].append(item)
    written = set[int]()
    return {number: _Page(items, by_id, written) for number, items in sorted(by_page.items())}


class _Page:
    """A page; each line is written once, and each table where its first line is.

    `written` has what the pages have written: a short file can refer to its blocks without end.
    """

    def __init__(self, items: Sequence[_Item], by_id: Mapping[str, _Item], written: set[int]) -> None:
        self._items, self._by_id, self._written = items, by_id, written
        self._tables: dict[str, _Item] = {}
        cells = {cell: table for table in self._of("TABLE") for cell in _related(table, "CHILD")}
        for cell, table in cells.items():
            self._tables |= dict.fromkeys(_related(by_id.get(cell, {}), "CHILD"), table)

    def _of(self, kind: str) -> list[_Item]:
        return [item for item in self._items if item.get("BlockType") == kind]

    def blocks(self) -> Iterator[Block]:
        layout = [item for item in self._items if str(item.get("BlockType")).startswith("LAYOUT_")]
        inner = {id for item in layout for id in _related(item, "CHILD")}
        for part in layout:
            if part.get("Id") not in inner:
                kind = str(part.get("BlockType"))
                yield from self._texts(list(self._lines(part)), _KINDS.get(kind, "text"), _LEVELS.get(kind, 0))
        yield from self._texts(lines := self._of("LINE"), "text")
        if not lines:
            yield from (Block("table", html_table(self._cells(table))) for table in self._of("TABLE"))
            words = list(filter(None, map(self._text, self._of("WORD"))))
            yield from _joined([" ".join(words)] if words else (), "text", 0)

    def _is_new(self, item: _Item) -> bool:
        """Report whether a block is written for the first time, and note it."""
        is_new = id(item) not in self._written
        self._written.add(id(item))
        return is_new

    def _lines(self, part: _Item, depth: int = 0) -> Iterator[_Item]:
        """List the lines of a part of the layout; a list has parts of its own."""
        for child in self._children(part):
            if child.get("BlockType") == "LINE":
                yield child
            elif depth < 5 and self._is_new(child):
                yield from self._lines(child, depth + 1)

    def _children(self, item: _Item, kind: str = "CHILD") -> list[_Item]:
        return [self._by_id[name] for name in _related(item, kind) if name in self._by_id]

    def _texts(self, lines: Sequence[_Item], kind: BlockKind, level: int = 0) -> Iterator[Block]:
        texts: list[str] = []
        for line in lines:
            if not self._is_new(line):
                continue
            words = _related(line, "CHILD")
            tables = [self._tables[word] for word in words if word in self._tables]
            for table in tables:
                if self._is_new(table):
                    yield from _joined(texts, kind, level)
                    texts.clear()
                    yield Block("table", html_table(self._cells(table)))
            texts += filter(None, [self._outside(words) if tables else string(line.get("Text"), "a line")])
        yield from _joined(texts, kind, level)

    def _outside(self, words: Sequence[str]) -> str:
        """Return what a line has outside of tables."""
        return " ".join(self._text(self._by_id.get(word, {})) for word in words if word not in self._tables)

    def _cells(self, table: _Item) -> Iterator[Cell]:
        merged = self._children(table, "MERGED_CELL")
        for cell in (*merged, *self._children(table)):
            if cell.get("BlockType") in ("CELL", "MERGED_CELL") and id(cell) not in self._written:
                row, column = (page_number(cell.get(key), first=1) for key in ("RowIndex", "ColumnIndex"))
                spans = span(cell.get("RowSpan")), span(cell.get("ColumnSpan"))
                header = "COLUMN_HEADER" in sequence(cell.get("EntityTypes"), "EntityTypes")
                yield Cell(row, column, self._text(cell), *spans, header)

    def _text(self, item: _Item, depth: int = 0) -> str:
        """Return a word, the mark of a check box, or the text of a cell, which may be merged of others; each once."""
        if not self._is_new(item):
            return ""
        if "Text" in item or depth > 2:
            return string(item.get("Text"), "a word")
        if item.get("BlockType") == "SELECTION_ELEMENT":
            return _BOXES.get(str(item.get("SelectionStatus")), "")
        return " ".join(filter(None, (self._text(child, depth + 1) for child in self._children(item))))

    def words(self) -> Iterator[Word]:
        for item in self._of("WORD"):
            if item.get("Confidence") is not None:
                yield Word(string(item.get("Text"), "a word"), None, confidence(item["Confidence"], 100))


def _related(item: _Item, kind: str) -> Sequence[str]:
    relations = [mapping(each, "a relationship") for each in sequence(item.get("Relationships"), "Relationships")]
    return [str(id) for each in relations if each.get("Type") == kind for id in sequence(each.get("Ids"), "Ids")]


def _joined(texts: Sequence[str], kind: BlockKind, level: int) -> Iterator[Block]:
    if texts:
        yield Block(kind, (" " if kind == "heading" else "\n").join(texts), level)
