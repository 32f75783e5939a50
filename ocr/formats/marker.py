"""Marker 1 and 2: its JSON tree of blocks in HTML, and Markdown with `paginate_output`."""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block, BlockKind

from .values import FormatError, Pages, formula, index, mapping, mappings, text

_KINDS: dict[str, BlockKind] = {
    "SectionHeader": "heading",
    "PageHeader": "header",
    "PageFooter": "footer",
    "Footnote": "footnote",
    "Caption": "caption",
    "Code": "code",
    "Equation": "formula",
    "Table": "table",
    "Form": "table",
    "TableOfContents": "table",
    "Picture": "image",
    "Figure": "image",
    "ListItem": "list",
    "ListGroup": "list",
}
_PAGE = re.compile(r"/page/(\d+)/")
_CUT = re.compile(r"^\{(\d+)\}-{20,}[ \t]*$", re.MULTILINE)
_MATH = re.compile(r"<math([^>]*)>(.*?)</math>", re.DOTALL)
_TABLE = re.compile(r"<table.*?</table>", re.DOTALL | re.IGNORECASE)
_REFERENCE = re.compile(r"<content-ref[^>]*>(?:</content-ref>)?")
_BREAK = re.compile(r"<br\s*/?>|</(?:p|li|div|h[1-6])>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")


def pages(parsed: Any) -> Pages:
    """Read Marker's JSON; pages are numbered from 0."""
    tree = mapping(parsed, "the file")
    if "children" not in tree:
        raise FormatError("it has no `children`")
    made: Pages = {}
    for place, page in enumerate(mappings(tree["children"], "children")):
        number = _PAGE.match(str(page.get("id")))
        made[int(number[1]) if number else place] = tuple(_blocks(page.get("children")))
    return made


def pages_of_text(content: str) -> Pages | None:
    """Read Marker's paginated Markdown; None where it has no page marks."""
    cuts = [*_CUT.finditer(content)]
    if not cuts:
        return None
    ends = [cut.start() for cut in cuts[1:]] + [len(content)]
    parts = {index(cut[1], "a page mark"): content[cut.end() : end] for cut, end in zip(cuts, ends, strict=True)}
    return {page: (Block("text", part.strip()),) for page, part in parts.items()}


def _blocks(given: Any) -> Iterator[Block]:
    for block in mappings(given, "children"):
        kind = _KINDS.get(str(block.get("block_type")), "text")
        inner = block.get("children")
        if inner and kind not in ("table", "formula", "heading"):
            yield from _blocks(inner)
        else:
            yield from _block(block, kind)


def _block(block: Mapping[str, Any], kind: BlockKind) -> Iterator[Block]:
    markup = _REFERENCE.sub("", text(block.get("html")))
    if kind == "table" and (table := _TABLE.search(markup)):
        yield Block("table", table[0])
    elif kind == "formula":
        yield Block("formula", formula(plain(_MATH.sub(r"\2", markup))))
    elif kind == "image":
        yield Block("image", f"![]({text(block.get('id'))})")
        yield from [Block("description", words)] if (words := plain(markup)) else []
    elif words := plain(markup):
        level = re.match(r"\s*<h([1-6])", markup)
        yield Block(kind, f"- {words}" if kind == "list" else words, int(level[1]) if level else 0)


def plain(markup: str) -> str:
    """Return HTML as text, with its formulas in dollars and its paragraphs in lines."""
    sign = {True: "$$", False: "$"}
    marked = _MATH.sub(lambda m: (d := sign['display="block"' in m[1]]) + m[2].strip() + d, markup)
    lines = _TAG.sub("", _BREAK.sub("\n", marked)).split("\n")
    return html.unescape("\n".join(line.strip() for line in lines if line.strip()))
