"""OmniDocBench's annotations: pages with their blocks, in one list or one a line (versions 1.0 and 1.5)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat

from .values import LABELS, Pages, Unreadable, formula, mapping, picture, sequence, string, table

_KINDS: Mapping[str, BlockKind] = {
    **LABELS,
    "abandon": "footer",
    "code_txt": "code",
    "code_txt_caption": "caption",
    "equation_caption": "caption",
    "equation_isolated": "formula",
    "figure_footnote": "footnote",
    "table_footnote": "footnote",
}
_MASKS = ("text_mask", "table_mask", "need_mask", "equation_ignore", "unknown_mask")
"""Regions that its evaluation leaves out, without text that could be judged."""
_LAST = float("inf")


class OmniDocBench(OcrFormat, kind="omnidocbench"):
    """OmniDocBench's annotations: a list of pages, or a line for each, which is then named after its image."""

    endings = (".json", ".jsonl")

    def pages(self, content: Any) -> Pages:
        """Read pages, numbered by their place in the list: each is of another document."""
        listed = content if isinstance(content, list) else [content]
        pages = [mapping(page, "a page") for page in listed]
        if not pages or not all("layout_dets" in page for page in pages):
            raise Unreadable("not OmniDocBench's: a page has no `layout_dets`")
        return {number: tuple(_blocks(page)) for number, page in enumerate(pages)}

    def document_of(self, line: Any) -> str:
        """Return the name of the image that a line is about."""
        return string(mapping(mapping(line, "a line").get("page_info"), "page_info").get("image_path"), "image_path")


def _blocks(page: Mapping[str, Any]) -> Iterator[Block]:
    """Read a page in its order; what has no place in it stays at the top as a page header, else at the bottom."""
    regions = [mapping(each, "a region") for each in sequence(page["layout_dets"], "layout_dets")]
    for region in sorted(regions, key=_place):
        category = string(region.get("category_type"), "a category")
        if not region.get("ignore") and category not in _MASKS:
            yield from _block(region, _KINDS.get(category, "text"))


def _place(region: Mapping[str, Any]) -> float:
    order = region.get("order")
    if isinstance(order, int | float):
        return order
    return -_LAST if region.get("category_type") == "header" else _LAST


def _block(region: Mapping[str, Any], kind: BlockKind) -> Iterator[Block]:
    text, latex = string(region.get("text"), "a text"), string(region.get("latex"), "a formula")
    match kind:
        case "table":
            yield Block("table", table(string(region.get("html"), "a table") or latex or text))
        case "formula":
            yield Block("formula", formula(latex or text))
        case "image":
            yield picture(None)
        case _ if text:
            yield Block(kind, text)
        case _:  # of regions that were merged
            parts = [mapping(part, "a part") for part in sequence(region.get("merge_list"), "merge_list")]
            yield Block(kind, "\n".join(string(part.get("text"), "a text") for part in parts))
