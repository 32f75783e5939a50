"""dots.ocr: one JSON list of blocks a page, `NAME_page_0.json`, with Markdown beside it (dots.ocr and dots.mocr).

Its server's replies list pages, each with its blocks under `full_layout_info`. Where the model's reply was no JSON, the
file has only a text: that page is refused, and its Markdown has what was cleaned of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ohr.contracts import Block, OcrFormat

from .markdown import read as read_markdown
from .values import Pages, Unreadable, by_number, formula, kind_of, mapping, page_number, picture, sequence, string

_CATEGORIES = frozenset({
    "Caption", "Footnote", "Formula", "List-item", "Page-footer", "Page-header", "Picture", "Section-header", "Table",
    "Text", "Title",
})  # fmt: skip
"""Those that the model's prompt names."""


class DotsOcr(OcrFormat, kind="dots_ocr"):
    """Pages of dots.ocr as JSON, or their Markdown."""

    endings = (".json", ".md", "_nohf.md")
    numbers_pages = False

    def pages(self, content: Any) -> Pages:
        """Read a page's JSON or Markdown."""
        return read_markdown(content) if isinstance(content, str) else _read(content)

    def fits(self, content: Any) -> bool:
        """Report whether it is a list of blocks with a box and one of the model's categories."""
        pages = [each.get("full_layout_info", () if "page_no" in each else [each]) for each in content]
        cells = [cell for page in pages for cell in page or ()]
        return bool(cells) and all(cell["category"] in _CATEGORIES and "bbox" in cell for cell in cells)


def _read(content: Any) -> Pages:
    cells = [mapping(cell, "a block") for cell in sequence(content, "the file")]
    if any("full_layout_info" in cell for cell in cells):
        layouts = ((page_number(page.get("page_no")), page.get("full_layout_info")) for page in cells)
        # a page without a layout failed: it has no result
        return by_number((number, _page(layout)) for number, layout in layouts if layout is not None)
    return {0: _page(cells)}


def _page(content: Any) -> tuple[Block, ...]:
    cells = [mapping(cell, "a block") for cell in sequence(content, "a page")]
    if any("category" not in cell for cell in cells):
        raise Unreadable("not dots.ocr's: a block has no `category`")
    if (texts := [cell for cell in cells if kind_of(cell["category"]) != "image"]) and not any(
        "text" in cell for cell in texts
    ):
        raise Unreadable("without text: its blocks have places only, as of `prompt_layout_only_en`")
    for cell in texts:
        string(cell.get("text"), "a block's text")
    return tuple(blocks(cells))


def blocks(cells: Iterable[Mapping[str, Any]]) -> Iterator[Block]:
    """List what the blocks of a reply are; their texts are Markdown, LaTeX of formulas and HTML of tables."""
    for cell in cells:
        kind, text = kind_of(cell.get("category")), cell.get("text")
        words = text if isinstance(text, str) else ""
        if kind == "image":
            yield picture(None)
        elif kind == "heading":
            yield Block("heading", words.lstrip("# "), len(words) - len(words.lstrip("#")))
        else:
            yield Block(kind, formula(words) if kind == "formula" else words)
