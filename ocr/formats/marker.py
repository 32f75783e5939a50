"""Marker's JSON: a tree of documents, pages and blocks with HTML (marker-pdf 1.x and 2.0).

Its chunks are a flat list of blocks; replies of its service have the tree under `json`, or `chunks`.
"""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ohr.contracts import Block, OcrFormat
from ohr.markup.html import INLINE_TAGS

from .markdown import read as read_markdown
from .values import (
    Pages,
    Unreadable,
    by_number,
    formula,
    kind_of,
    known,
    mapping,
    page_number,
    picture,
    sequence,
    string,
    table,
)

_PAGE = re.compile(r"/page/(\d+)/")
_LEVEL = re.compile(r"\s*<h([1-6])\b", re.IGNORECASE)
_DESCRIBED = re.compile(r"<p\s[^<>]*role=['\"]img['\"][^<>]*>(.*?)</p>", re.DOTALL | re.IGNORECASE)
_REFERENCE = re.compile(r"<content-ref\b[^<>]*>(?:</content-ref\s*>)?", re.IGNORECASE)
_REFERRED = re.compile(r"<content-ref\b[^<>]*\bsrc=['\"]([^'\"]+)['\"]", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_ALT = re.compile(r"<img\b[^<>]*\balt=['\"]([^'\"<>]+)['\"]", re.IGNORECASE)


class Marker(OcrFormat, kind="marker"):
    """Marker's tree of blocks, or its Markdown."""

    version = 3
    endings = (".json", ".md")
    ignored = ("_meta.json",)

    def pages(self, content: Any) -> Pages:
        """Read a document's JSON or Markdown."""
        return read_markdown(content) if isinstance(content, str) else _read(content)


def _read(found: Any) -> Pages:
    """Read the tree; a page's number is in its `id`."""
    data = mapping(found, "the file")
    data = next((data[key] for key in ("json", "chunks") if isinstance(data.get(key), dict)), data)
    if "page_info" in data and "children" not in data:
        return _chunks(data)
    pages = sequence(data.get("children"), "the pages")
    if not pages and "children" not in data:
        raise Unreadable("not Marker's: it has no `children`")
    known([leaf for page in pages for leaf in _leaves(page)], ("html",), "block")
    return by_number((_number(page, place), tuple(_blocks(page))) for place, page in enumerate(pages))


def _chunks(data: Mapping[str, Any]) -> Pages:
    """Read a flat list; a block's `page` is no number of a page in marker-pdf 1.8, the one in its `id` is."""
    blocks = [mapping(block, "a block") for block in sequence(data.get("blocks"), "the blocks")]
    known(blocks, ("html",), "block")
    pages: dict[int, list[Block]] = {page_number(number): [] for number in mapping(data["page_info"], "page_info")}
    for block in blocks:
        pages.setdefault(_number(block, 0), []).extend(_blocks({**block, "children": None}))
    return {number: tuple(listed) for number, listed in pages.items()}


def _number(page: Any, place: int) -> int:
    found = _PAGE.match(string(mapping(page, "a page").get("id"), "a page's id"))
    return page_number(found[1]) if found else place


def _blocks(block: Any) -> Iterator[Block]:
    """Read a block; where its own HTML holds the text, its children are parts of that, as the cells of a table are."""
    data = mapping(block, "a block")
    children = sequence(data.get("children"), "a block's children")
    kind, text = str(data.get("block_type")), _REFERENCE.sub("", string(data.get("html"), "a block's html"))
    if not children or _TAG.sub("", text).strip():
        yield from _own(kind, text)
    for child in children:
        if not _TAG.sub("", text).strip() or _is_referred(child, data):
            yield from _blocks(child)


def _is_referred(child: Any, parent: Mapping[str, Any]) -> bool:
    """Report whether a block's HTML has a place for a child, whose text is not in it then."""
    return str(mapping(child, "a block").get("id")) in _REFERRED.findall(str(parent.get("html")))


def _leaves(block: Any) -> Iterator[Mapping[str, Any]]:
    data = mapping(block, "a block")
    children = sequence(data.get("children"), "a block's children")
    # the letters of a line have no HTML of their own
    yield from (leaf for child in children for leaf in _leaves(child)) if children and not data.get("html") else [data]


def _own(kind: str, text: str) -> Iterator[Block]:
    match "table" if kind == "Form" else kind_of(kind):
        case "image":
            yield from _picture(text)
        case "formula":
            yield Block("formula", formula(in_markdown(text)))
        case "table" if is_table(text):
            yield Block("table", table(text))
        case "heading":
            level = _LEVEL.match(text)
            yield Block("heading", in_markdown(text), int(level[1]) if level else 0)
        case "code":
            yield Block("code", f"```\n{in_markdown(text).strip('`')}\n```")
        case other:
            yield Block("text" if other == "table" else other, in_markdown(text))


def _picture(text: str) -> Iterator[Block]:
    """Read a picture: its place, and what a model wrote about it."""
    yield picture(None)
    for said in (*_DESCRIBED.findall(text), *_ALT.findall(text)):
        yield Block("description", in_markdown(said))
    if is_table(text):  # a chart that a model turned into a table
        yield Block("description", table(text[text.lower().index("<table") :]))


_TABLE = re.compile(r"(<table\b.*?</table\s*>)", re.DOTALL | re.IGNORECASE)
_MATH = re.compile(r"<math(?P<about>[^<>]*)>(?P<latex>.*?)</math\s*>", re.DOTALL | re.IGNORECASE)
_NAMED_TAG = re.compile(r"<(/?)([a-z][a-z0-9-]*)\b[^<>]*>", re.IGNORECASE)
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "code": "`"}
_LINES = frozenset({"br", "p", "div", "li", "tr", "pre", "ul", "ol", *(f"h{level}" for level in range(1, 7))})
_KEPT = frozenset({"sub", "sup", "u", "mark"})


def in_markdown(text: str) -> str:
    """Write a piece of HTML as Markdown: styles, formulas, lists and lines; other tags are dropped."""
    parts = _TABLE.split(_MATH.sub(_formula, text))
    written = (part if place % 2 else html.unescape(_NAMED_TAG.sub(_mark, part)) for place, part in enumerate(parts))
    return re.sub(r"\n\s*\n+", "\n", "".join(written)).strip()


def is_table(text: str) -> bool:
    """Report whether HTML has a table in it."""
    return _TABLE.search(text) is not None


def _formula(found: re.Match[str]) -> str:
    fence = "$$" if "block" in found["about"] else "$"
    return f"{fence}{found['latex'].strip()}{fence}"


def _mark(tag: re.Match[str]) -> str:
    closes, name = tag[1] == "/", tag[2].lower()
    if name in _MARKS:
        return _MARKS[name]
    if name == "li" and not closes:
        return "\n- "
    if name in _KEPT:
        return tag[0]
    return "\n" if name in _LINES else "" if name in INLINE_TAGS else " "
