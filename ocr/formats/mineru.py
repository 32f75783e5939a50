"""MinerU, MonkeyOCR and rapid-doc: content list (first and second form), structured content, middle JSON.

Keys as MinerU 0.9 to 4.0 and rapid-doc 0.9 write them. A paragraph that runs over two pages is on the first, where
MinerU puts it, and the second has an empty text.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block, BlockKind

from .values import FormatError, Pages, blocks_of, formula, index, listed, mapping, mappings, text, unwrapped

_KINDS: dict[str, BlockKind] = {
    "title": "heading",
    "doc_title": "heading",
    "paragraph_title": "heading",
    "header": "header",
    "page_header": "header",
    "footer": "footer",
    "page_footer": "footer",
    "page_number": "page_number",
    "page_footnote": "footnote",
    "discarded": "header",  # rapid-doc: page furniture of any kind
    "list": "list",
    "index": "list",
    "code": "code",
    "algorithm": "code",
    "equation": "formula",
    "equation_interline": "formula",
    "interline_equation": "formula",
    "table": "table",
    "image": "image",
    "chart": "image",
    "seal": "text",
}
_ABOUT = ("_caption", "_footnote")
_PARTS = (*_ABOUT, "_body", "list_item")


def pages(parsed: Any) -> Pages:
    """Read any of MinerU's files."""
    if isinstance(parsed, Mapping):
        if "pdf_info" in parsed:
            return _middle(parsed["pdf_info"])
        if "pages" in parsed:
            return _structured(parsed["pages"])
        raise FormatError("it has neither `pdf_info` nor `pages`")
    found = listed(parsed, "the file")
    if found and all(isinstance(each, list) for each in found):
        return {place: tuple(_blocks(blocks)) for place, blocks in enumerate(found)}
    made: dict[int, list[Block]] = {}
    for block in mappings(found, "the file"):
        made.setdefault(index(block.get("page_idx"), "page_idx"), []).extend(_block(block))
    return {page: tuple(blocks) for page, blocks in made.items()}


def _structured(given: Any) -> Pages:
    found = enumerate(mappings(given, "pages"))
    return {index(page.get("page_idx", place), "page_idx"): tuple(_blocks(page.get("blocks"))) for place, page in found}


def _blocks(given: Any) -> Iterator[Block]:
    for block in mappings(given, "blocks"):
        yield from _block(block)


def _block(block: Mapping[str, Any]) -> list[Block]:
    kind = _KINDS.get(str(block.get("type")), "text")
    content = block.get("content")
    inner = content if isinstance(content, Mapping) else block
    if isinstance(content, list) and any(
        str(part.get("type")).endswith(_PARTS) for part in mappings(content, "content")
    ):
        return [one for part in content for one in _part(part, kind)]
    level = inner.get("text_level", inner.get("level", block.get("level")))
    if kind == "text" and isinstance(inner.get("text_level"), int):
        kind = "heading"
    before, after = _around(block, inner)
    own = _own(inner, kind, level if isinstance(level, int) and kind == "heading" else 0)
    return [*before, *own, *after]


def _own(inner: Mapping[str, Any], kind: BlockKind, level: int) -> list[Block]:
    """Return a block without what is around it."""
    if kind == "table":
        bodies = ("table_body", "html", "content", "table_content")
        return blocks_of([("table", unwrapped(next((text(inner[key]) for key in bodies if inner.get(key)), "")))])
    if kind == "image":
        path = text(inner.get("img_path") or inner.get("image_path") or inner.get("image_source"))
        made_up = inner.get("content")
        return blocks_of([("image", f"![]({path})"), ("description", made_up if isinstance(made_up, str) else "")])
    words = _words(inner)
    shown = formula(words) if kind == "formula" else words
    return [Block(kind, shown, level)] if shown.strip() else []


def _part(part: Mapping[str, Any], parent: BlockKind) -> list[Block]:
    """Return a part of a table, picture or list of the middle JSON of MinerU 4."""
    kind = _kind_of_part(str(part.get("type")), parent)
    content = part.get("content")
    spans = content if isinstance(content, list) else [content]
    words = "".join(map(_span, spans)) if kind != "table" else unwrapped("".join(map(_span, spans)))
    return blocks_of([(kind, f"![]({text(part.get('image_path'))})" if kind == "image" and not words else words)])


def _around(*places: Mapping[str, Any]) -> tuple[list[Block], list[Block]]:
    """Return the captions and footnotes of a table or picture."""
    named = (*_ABOUT, "captions", "footnotes")
    keys = {key: _joined(place[key]) for place in places for key in place if key.endswith(named)}
    before = blocks_of([("caption", value) for key, value in keys.items() if "caption" in key])
    return before, blocks_of([("footnote", value) for key, value in keys.items() if "footnote" in key])


def _joined(value: Any) -> str:
    return " ".join(map(_span, value)) if isinstance(value, list) else text(value)


def _words(inner: Mapping[str, Any]) -> str:
    """Join what a block says: plain text, list items, code, or spans of text and formulas."""
    for key in ("text", "code_body", "list_items", "math_content"):
        if inner.get(key):
            value = inner[key]
            return "\n".join(map(_span, value)) if isinstance(value, list) else text(value)
    lists = (value for key, value in inner.items() if key.endswith("content") and isinstance(value, list))
    spans = next(lists, None)
    return "".join(map(_span, spans)) if spans is not None else text(inner.get("content"))


def _span(span: Any) -> str:
    if not isinstance(span, Mapping):
        return text(span)
    content = span.get("content")
    inner = "".join(map(_span, content)) if isinstance(content, list) else text(content)
    value = inner or text(span.get("text") or span.get("latex")) or _item(span)
    return f"${value}$" if "equation" in str(span.get("type")) and value else value


def _item(span: Mapping[str, Any]) -> str:
    inner = span.get("item_content")
    return "".join(map(_span, inner)) if isinstance(inner, list) else ""


def _middle(given: Any) -> Pages:
    made: Pages = {}
    for place, page in enumerate(mappings(given, "pdf_info")):
        blocks = [*mappings(page.get("para_blocks"), "para_blocks")]
        furniture = [*mappings(page.get("discarded_blocks"), "discarded_blocks")]
        found = [each for block in blocks for each in _para(block, _KINDS.get(str(block.get("type")), "text"))]
        found += [each for block in furniture for each in _para(block, "header")]
        made[index(page.get("page_idx", place), "page_idx")] = tuple(found)
    return made


def _para(block: Mapping[str, Any], kind: BlockKind) -> list[Block]:
    if "blocks" in block:
        inner = mappings(block["blocks"], "blocks")
        return [one for each in inner for one in _para(each, _kind_of_part(str(each.get("type")), kind))]
    spans = [span for line in mappings(block.get("lines"), "lines") for span in mappings(line.get("spans"), "spans")]
    if kind == "table":
        tables = [text(span.get("html") or span.get("latex")) for span in spans]
        return blocks_of([("table", unwrapped(table)) for table in tables])
    if kind == "image":
        return blocks_of([("image", f"![]({text(span.get('image_path'))})") for span in spans])
    lines = ["".join(map(_span, listed(line.get("spans", []), "spans"))) for line in block.get("lines", [])]
    words = "\n".join(lines)
    if kind == "formula":
        return blocks_of([("formula", formula("\n".join(text(span.get("content")) for span in spans)))])
    level = mapping(block, "a block").get("level")
    return [Block(kind, words, level if isinstance(level, int) and kind == "heading" else 0)] if words.strip() else []


def kind_of(given: str) -> BlockKind:
    """Return the kind of a block by its type, captions and footnotes among them."""
    return _kind_of_part(given, "text")


def _kind_of_part(given: str, parent: BlockKind) -> BlockKind:
    """Return the kind of a block within a table or picture, such as `table_caption`."""
    if given.endswith("_caption"):
        return "caption"
    return (
        "footnote" if given.endswith("_footnote") else parent if given.endswith("_body") else _KINDS.get(given, "text")
    )
