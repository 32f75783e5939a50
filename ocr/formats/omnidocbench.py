"""OmniDocBench's annotations: pages with their blocks, in one list or one a line (versions 1.0 and 1.5)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat

from .values import LABELS, Pages, Unreadable, formula, known, mapping, picture, sequence, string, table

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
_TEXTS = ("text", "html", "latex", "merge_list")
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
        regions = [_regions(page) for page in pages]
        known([each for of_page in regions for each in of_page if _kind(each) != "image"], _TEXTS, "region")
        return {number: tuple(_blocks(of_page)) for number, of_page in enumerate(regions)}

    def document_of(self, line: Any) -> str:
        """Return the name of the image that a line is about."""
        return string(mapping(mapping(line, "a line").get("page_info"), "page_info").get("image_path"), "image_path")


def _regions(page: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    regions = [mapping(each, "a region") for each in sequence(page["layout_dets"], "layout_dets")]
    return [each for each in regions if not each.get("ignore") and _category(each) not in _MASKS]


def _blocks(regions: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Read a page in its order; what has no place in it stays at the top as a page header, else at the bottom."""
    for region in sorted(regions, key=_place):
        yield from _block(region, _kind(region))


def _category(region: Mapping[str, Any]) -> str:
    return string(region.get("category_type"), "a category")


def _kind(region: Mapping[str, Any]) -> BlockKind:
    return _KINDS.get(_category(region), "text")


def _place(region: Mapping[str, Any]) -> float:
    order = region.get("order")
    if isinstance(order, int | float):
        return order
    return -_LAST if _category(region) == "header" else _LAST


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
