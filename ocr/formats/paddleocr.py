"""PaddleOCR: `save_to_json` of PP-StructureV3 and PaddleOCR-VL, one file a page, and replies of PaddleX's server."""

from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block, BlockKind

from .markdown import page as page_of_markdown
from .values import Pages, Unreadable, formula, mapping, page_number, picture, sequence, string, table

_KINDS: Mapping[str, BlockKind] = {
    "doc_title": "heading",
    "paragraph_title": "heading",
    "header": "header",
    "header_image": "header",
    "footer": "footer",
    "footer_image": "footer",
    "number": "page_number",
    "footnote": "footnote",
    "vision_footnote": "footnote",
    "figure_title": "caption",
    "table_title": "caption",
    "chart_title": "caption",
    "table": "table",
    "formula": "formula",
    "display_formula": "formula",
    "algorithm": "code",
    "image": "image",
    "seal": "image",
    "chart": "image",
}


def read(found: Any) -> Pages:
    """Read one page's file, or a reply with all pages."""
    data = mapping(found, "the file")
    data = mapping(data.get("result", data.get("res", data)), "the result")
    if "layoutParsingResults" in data:
        pages = sequence(data["layoutParsingResults"], "layoutParsingResults")
        return {number: _reply(mapping(page, "a page")) for number, page in enumerate(pages)}
    if "parsing_res_list" in data:
        number = data.get("page_index")  # null where an image was read
        return {0 if number is None else page_number(number): tuple(_blocks(data))}
    raise Unreadable("not PaddleOCR's: it has no `parsing_res_list`")


def _reply(page: Mapping[str, Any]) -> tuple[Block, ...]:
    inside = mapping(page.get("prunedResult") or {}, "prunedResult")
    if "parsing_res_list" in inside:
        return tuple(_blocks(inside))
    return page_of_markdown(string(mapping(page.get("markdown"), "markdown").get("text"), "markdown"))


def _blocks(data: Mapping[str, Any]) -> Iterator[Block]:
    for each in sequence(data["parsing_res_list"], "parsing_res_list"):
        block = mapping(each, "a block")
        label, text = str(block.get("block_label")), string(block.get("block_content"), "block_content")
        match _KINDS.get(label, "text"):
            case "table":
                yield Block("table", table(text))
            case "formula":
                yield Block("formula", formula(text))
            case "image":
                yield picture(None)
                yield Block("description", text)  # what was read on a seal or in a chart
            case "heading":
                yield Block("heading", text.lstrip("# "), 1 if label == "doc_title" else 2)
            case kind:
                yield Block(kind, text)
