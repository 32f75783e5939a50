"""Docling: a DoclingDocument as JSON (versions 1.0 to 1.10); its pages are numbered from 1."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from ohr.contracts import Block, BlockKind

from .values import FormatError, Pages, formula, index, mapping, mappings, text

_KINDS: dict[str, BlockKind] = {
    "title": "heading",
    "section_header": "heading",
    "list_item": "list",
    "code": "code",
    "formula": "formula",
    "caption": "caption",
    "footnote": "footnote",
    "page_header": "header",
    "page_footer": "footer",
}
_DEEPEST = 100
"""Levels of groups: a document that refers to itself would have no end."""


def pages(parsed: Any) -> Pages:
    """Read a DoclingDocument, in its reading order."""
    document = mapping(parsed, "the file")
    for wrapper in ("document", "json_content"):  # of docling-serve's replies
        document = mapping(document.get(wrapper) or document, wrapper)
    if "body" not in document:
        raise FormatError("it has no `body`")
    made: dict[int, list[Block]] = {index(page, "a page", 1): [] for page in document.get("pages") or {}}
    for body in ("body", "furniture"):
        for page, block in _walk(document, document.get(body) or {}, 0):
            made.setdefault(page, []).append(block)
    return {page: tuple(blocks) for page, blocks in made.items()}


def _walk(document: Mapping[str, Any], node: Mapping[str, Any], depth: int) -> Iterator[tuple[int, Block]]:
    if depth > _DEEPEST:
        raise FormatError("its groups are nested too deeply")
    for child in mappings(node.get("children"), "children"):
        item = _target(document, text(child.get("$ref")))
        places = [*mappings(item.get("prov"), "prov")]
        if places:
            page = index(places[0].get("page_no"), "page_no", 1)
            yield from ((page, block) for block in _item(item))
        yield from _walk(document, item, depth + 1)


def _target(document: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    """Follow a reference such as `#/texts/3`."""
    found: Any = document
    for part in reference.removeprefix("#/").split("/"):
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise FormatError(f"it refers to {reference!r}, which is not there") from None
    return mapping(found, reference)


def _item(item: Mapping[str, Any]) -> Iterator[Block]:
    label = str(item.get("label"))
    if "data" in item and isinstance(item["data"], Mapping) and "table_cells" in item["data"]:
        yield Block("table", _table(item["data"]))
    elif label in ("picture", "chart"):
        yield Block("image", "![]()")
        for note in mappings(item.get("annotations"), "annotations"):
            if words := text(note.get("text")):
                yield Block("description", words)
    elif words := text(item.get("text")) or text(item.get("orig")):
        kind, level = _KINDS.get(label, "text"), item.get("level")
        shown = formula(words) if kind == "formula" else f"- {words}" if kind == "list" else words
        yield Block(kind, shown, level if isinstance(level, int) and kind == "heading" else 0)


def _table(data: Mapping[str, Any]) -> str:
    """Write a table's cells as HTML, with their spans."""
    rows: dict[int, list[tuple[int, str]]] = {}
    for cell in mappings(data.get("table_cells"), "table_cells"):
        row, column = (index(cell.get(f"start_{way}_offset_idx"), "a cell's place") for way in ("row", "col"))
        spans = "".join(f' {way}span="{_span(cell, way)}"' for way in ("row", "col") if _span(cell, way) > 1)
        tag, words = "th" if cell.get("column_header") else "td", escape(text(cell.get("text")), quote=False)
        rows.setdefault(row, []).append((column, f"<{tag}{spans}>{words}</{tag}>"))
    lines = ("".join(cell for _, cell in sorted(rows[row])) for row in sorted(rows))
    return "<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"


def _span(cell: Mapping[str, Any], way: str) -> int:
    count = cell.get(f"{way}_span")
    return count if isinstance(count, int) else 1
