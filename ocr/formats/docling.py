"""DoclingDocument JSON: a tree of references into lists of texts, tables and pictures (docling-core 2.x).

A text that runs over two pages has two places; it stays on the first page, as docling has it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from ohr.contracts import Block, OcrFormat

from .markdown import read as read_markdown
from .values import Pages, Unreadable, formula, kind_of, known, mapping, page_number, picture, sequence, string

_BOXES = {"checkbox_selected": "x", "checkbox_unselected": " "}
_WHOLE = ("picture", "chart", "table", "document_index", "inline")
"""Items whose children are parts of them. A group has a label, too, and no text."""


class Docling(OcrFormat, kind="docling"):
    """A document of docling, or its Markdown."""

    version = 3
    endings = (".json", ".md")

    def pages(self, content: Any) -> Pages:
        """Read a document's JSON or Markdown."""
        return read_markdown(content) if isinstance(content, str) else _read(content)


def _read(found: Any) -> Pages:
    """Read a document in its reading order, page headers and footers last."""
    data = mapping(found, "the file")
    if isinstance(reply := data.get("document"), dict):  # of docling-serve, which has what it was asked for
        if not isinstance(reply.get("json_content"), dict) and isinstance(text := reply.get("md_content"), str):
            return read_markdown(text)
        data = mapping(reply.get("json_content"), "json_content")
    if "body" not in data:
        raise Unreadable("not a DoclingDocument: it has no `body`")
    pages: dict[int, list[Block]] = defaultdict(list)
    for number in mapping(data.get("pages") or {}, "pages"):
        pages[page_number(number, first=1)] = []
    known([mapping(text, "a text") for text in sequence(data.get("texts"), "texts")], ("text", "orig"), "text")
    known([mapping(table, "a table") for table in sequence(data.get("tables"), "tables")], ("data",), "table")
    here, walk = 0, _Walk(data)
    for root in ("body", "furniture"):
        for item in walk.items(data.get(root) or {}):
            places = sequence(item.get("prov"), "prov")
            here = page_number(mapping(places[0], "prov").get("page_no"), first=1) if places else here
            pages[here] += _blocks(item, walk)
    return {number: tuple(blocks) for number, blocks in sorted(pages.items())}


class _Walk:
    """Follows references, each once: a caption is a child of the body and of its table, too."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data, self._seen = data, set[str]()

    def items(self, node: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """List what is below a node, in order; the parts of tables and pictures are theirs."""
        if depth > 100:
            raise Unreadable("too deeply nested")
        number = 0
        for child in self.there(node.get("children")):
            if child.get("enumerated") or (child.get("label") == "list_item" and node.get("label") == "ordered_list"):
                number += 1
                child = {**child, "marker": _numeral(child.get("marker"), number)}  # the same item
            if child.get("content_layer") != "invisible":
                yield child
            if child.get("label") not in _WHOLE:
                yield from self.items(child, depth + 1)

    def there(self, references: Any) -> Iterator[Mapping[str, Any]]:
        """Resolve references that nobody followed before."""
        for reference in sequence(references, "references"):
            about = mapping(reference, "a reference")
            path = string(about.get("$ref", about.get("cref")), "a reference")
            if not path.startswith("#/"):
                raise Unreadable(
                    f"not as expected: {path!r} is no reference, such as `#/texts/0` under `$ref` or `cref`"
                )
            if path in self._seen:
                continue
            self._seen.add(path)
            found: Any = self._data
            for key in path.removeprefix("#/").split("/"):
                found = found[int(key)] if isinstance(found, list) else mapping(found, path).get(key)
            yield mapping(found, path)


def _numeral(marker: Any, number: int) -> str:
    """Return the number of a list's item, which some versions leave to the reader."""
    return str(marker) if marker and marker != "-" else f"{number}."


def _blocks(item: Mapping[str, Any], walk: _Walk) -> Iterator[Block]:
    furniture = item.get("content_layer") == "furniture"
    for block in _content(item, walk):
        is_marked = not furniture or block.kind in ("header", "footer", "page_number")
        yield block if is_marked else Block("footer", block.text)


def _content(item: Mapping[str, Any], walk: _Walk) -> Iterator[Block]:
    label = item.get("label")
    text = string(item.get("text"), "text") or string(item.get("orig"), "orig")
    if label in ("table", "document_index", "picture", "chart"):
        yield from _figure(item, walk)
    elif label == "inline":
        yield Block("text", " ".join(_piece(part) for part in walk.there(item.get("children"))))
    elif label == "formula":
        yield Block("formula", formula(text)) if item.get("text") else Block("text", text)
    elif label == "list_item":
        yield Block("list", f"{item.get('marker') or '-'} {text}")
    elif label in _BOXES:
        yield Block("list", f"- [{_BOXES[str(label)]}] {text}")
    elif isinstance(item.get("graph"), dict):
        cells = [mapping(cell, "a cell") for cell in sequence(item["graph"].get("cells"), "cells")]
        yield Block("text", "\n".join(string(cell.get("text"), "a cell") for cell in cells))
    elif label == "code":
        yield Block("code", f"```\n{text}\n```")
    elif text:
        level = item.get("level")
        # as in docling's own Markdown: sections are below the title
        yield Block(kind_of(label), text, level + 1 if isinstance(level, int) else int(label == "title"))


def _figure(item: Mapping[str, Any], walk: _Walk) -> Iterator[Block]:
    if item.get("label") in ("table", "document_index"):
        yield from _captions(item, walk)
        yield Block("table", _table(item.get("data")))
    else:
        yield picture(None)
        yield from (Block("description", said) for said in _descriptions(item) if said)
        yield from _captions(item, walk)
        for part in walk.items(item):
            yield from _blocks(part, walk)
    for note in walk.there(item.get("footnotes")):
        yield Block("footnote", string(note.get("text"), "a footnote"))


def _piece(item: Mapping[str, Any]) -> str:
    text = string(item.get("text"), "text")
    return f"${text}$" if item.get("label") == "formula" and text else text


def _captions(item: Mapping[str, Any], walk: _Walk) -> Iterator[Block]:
    for caption in walk.there(item.get("captions")):
        yield Block("caption", string(caption.get("text"), "a caption"))


def _descriptions(item: Mapping[str, Any]) -> Iterator[str]:
    """List what models wrote about a picture: a description, the table of a chart; older files have annotations."""
    about = mapping(item.get("meta") or {}, "meta")
    notes = {
        str(mapping(note, "an annotation").get("kind")): note for note in sequence(item.get("annotations"), "them")
    }
    if said := about.get("description") or notes.get("description"):
        yield string(mapping(said, "description").get("text"), "description")
    if chart := about.get("tabular_chart") or notes.get("tabular_chart_data"):
        yield _table(mapping(chart, "a chart").get("chart_data"))


def _table(found: Any) -> str:
    """Write a table as HTML, cell by cell; a cell that spans others is listed once."""
    data = mapping(found or {}, "a table's data")
    rows: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for each in sequence(data.get("table_cells"), "table_cells"):
        cell = mapping(each, "a cell")
        tag = "th" if cell.get("column_header") or cell.get("row_header") else "td"
        spans = "".join(
            f' {name}="{cell[key]}"'
            for name, key in (("rowspan", "row_span"), ("colspan", "col_span"))
            if isinstance(cell.get(key), int) and cell[key] > 1
        )
        written = f"<{tag}{spans}>{escape(string(cell.get('text'), 'a cell'), quote=False)}</{tag}>"
        place = cell.get("start_col_offset_idx"), cell.get("start_row_offset_idx")
        rows[page_number(place[1])].append((page_number(place[0]), written))
    lines = ("".join(text for _, text in sorted(cells)) for _, cells in sorted(rows.items()))
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>" if rows else ""
