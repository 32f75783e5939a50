"""PaddleOCR: results of PP-StructureV3 and PaddleOCR-VL, one file a page, and replies of PaddleX serving."""

from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block, BlockKind

from .values import FormatError, Pages, formula, index, mapping, mappings, text, unwrapped

_KINDS: dict[str, BlockKind] = {
    "doc_title": "heading",
    "paragraph_title": "heading",
    "table": "table",
    "formula": "formula",
    "display_formula": "formula",
    "image": "image",
    "chart": "image",
    "seal": "text",
    "header": "header",
    "header_image": "image",
    "footer": "footer",
    "footer_image": "image",
    "number": "page_number",
    "footnote": "footnote",
    "vision_footnote": "footnote",
    "figure_title": "caption",
    "table_title": "caption",
    "chart_title": "caption",
    "algorithm": "code",
}


def pages(parsed: Any) -> Pages:
    """Read a page's result, or a reply of the server with several."""
    given = mapping(parsed, "the file")
    if "result" in given:
        given = mapping(given["result"], "result")
    if "layoutParsingResults" in given:
        found = enumerate(mappings(given["layoutParsingResults"], "layoutParsingResults"))
        return {place: tuple(_served(page)) for place, page in found}
    page = mapping(given.get("res", given), "res")
    if "parsing_res_list" not in page:
        raise FormatError("it has no `parsing_res_list`")
    number = page.get("page_index")
    return {0 if number is None else index(number, "page_index"): tuple(_blocks(page))}


def _served(page: Mapping[str, Any]) -> Iterator[Block]:
    pruned = page.get("prunedResult")
    if isinstance(pruned, Mapping) and pruned.get("parsing_res_list"):
        yield from _blocks(pruned)
    else:
        yield Block("text", text(mapping(page.get("markdown") or {}, "markdown").get("text")))


def _blocks(page: Mapping[str, Any]) -> Iterator[Block]:
    for block in mappings(page["parsing_res_list"], "parsing_res_list"):
        kind, content = _KINDS.get(str(block.get("block_label")), "text"), text(block.get("block_content"))
        if kind == "table":
            content = unwrapped(content)
        elif kind == "formula":
            content = formula(content)
        elif kind == "image":
            yield Block("image", "![]()")
            kind = "text"  # what is printed in a picture
        if content.strip():
            yield Block(kind, content, 1 if block.get("block_label") == "doc_title" else 2 * (kind == "heading"))
