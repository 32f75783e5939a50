"""LlamaParse: a result as JSON, or its Markdown (its first and second version, llama-cloud 1.x).

The second version has items, Markdown and text in separate lists of pages, as far as they were asked for. A page that
failed has no result. The separator of Markdown is `---` on a line of its own, unless another was asked for.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat

from .markdown import page as page_of_markdown
from .markdown import read as read_markdown
from .values import Pages, Unreadable, by_number, kind_of, known, mapping, page_number, picture, sequence, string, table

_PARTS = ("items", "markdown", "text")
_WHOLE = ("markdown", "markdown_full", "text", "text_full")
"""Keys of all pages in one text."""
_FURNITURE: Sequence[tuple[BlockKind, tuple[str, str]]] = (
    ("header", ("pageHeaderMarkdown", "header")),
    ("footer", ("pageFooterMarkdown", "footer")),
)
"""Keys of a page header and footer in the first version and in the second."""
_BETWEEN = re.compile(r"^---[ \t]*$", re.MULTILINE)
_TEXTS = ("items", "md", "markdown", "text")
"""Keys of a page's text."""
_ITEM = frozenset({"md", "value", "html", "rows", "items", "url"})
"""Keys of an item's text beside `text`, which many others have, too."""
_NOTHING = "NO_CONTENT_HERE"
"""Text of LlamaParse in place of a blank page."""


class LlamaParse(OcrFormat, kind="llamaparse"):
    """A result of LlamaParse, or its Markdown."""

    endings = (".json", ".md")

    def pages(self, content: Any) -> Pages:
        """Read a document's JSON or Markdown."""
        return _markdown(content) if isinstance(content, str) else _read(content)

    def fits(self, content: Any) -> bool:
        """Report whether it has LlamaParse's own keys: those of a job, or of items and Markdown by page."""
        if isinstance(content, str):
            return False
        data = _result(content)
        is_job = {"job", "job_metadata"} & data.keys() and {"pages", *_PARTS, *_WHOLE} & data.keys()
        return bool(is_job) or any(
            "md" in page or any("type" in item and _ITEM & item.keys() for item in page.get("items", ()))
            for page in _listed(data).values()
        )


def _markdown(text: str) -> Pages:
    pages = read_markdown(text)
    if len(pages) == 1 and len(parts := _BETWEEN.split(text)) > 1:
        pages = {number: page_of_markdown(part) for number, part in enumerate(parts)}
    return {number: () if blocks and blocks[0].text.strip() == _NOTHING else blocks for number, blocks in pages.items()}


def _result(content: Any) -> Mapping[str, Any]:
    """Return the result in a file, which may be in a list, or be only its list of pages."""
    if isinstance(content, list) and content and "pages" not in mapping(content[0], "a page"):
        return {"pages": content}
    if isinstance(content, list) and len(content) != 1:
        raise Unreadable(f"of {len(content)} documents")
    data = mapping(content[0] if isinstance(content, list) else content, "the file")
    return {"pages": data["json"]} if isinstance(data.get("json"), list) else data  # as it is sent to a webhook


def _listed(data: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Return a result's pages by number, with all that it has of them."""
    parts = [data, *(data[part] for part in _PARTS if isinstance(data.get(part), dict))]
    if not any("pages" in part for part in parts):
        raise Unreadable("not LlamaParse's: it has no `pages`")
    pages: dict[int, dict[str, Any]] = defaultdict(dict)
    for part in parts:
        listed = [mapping(each, "a page") for each in sequence(part.get("pages"), "pages")]
        numbers = (page_number(page.get("page", page.get("page_number")), first=1) for page in listed)
        for number, page in by_number(zip(numbers, listed, strict=True)).items():
            pages[number] |= {key: value for key, value in page.items() if value is not None}
    return dict(sorted(pages.items()))


def _read(content: Any) -> Pages:
    data = _result(content)
    if "pages" not in data and not any(isinstance(data.get(part), dict) for part in _PARTS):
        for key in _WHOLE:
            if isinstance(data.get(key), str):
                return _markdown(data[key])
    listed = {number: page for number, page in _listed(data).items() if page.get("success") is not False}
    known([*listed.values()], _TEXTS, "page")
    listed = {
        number: page
        for number, page in listed.items()
        if page.get("status") != "ERROR" and any(key in page for key in _TEXTS)
    }
    items = [mapping(item, "an item") for page in listed.values() for item in sequence(page.get("items"), "items")]
    known(items, ("text", *_ITEM), "item")
    return {number: tuple(_page(page)) for number, page in listed.items()}


def _page(page: Mapping[str, Any]) -> Iterator[Block]:
    """Read a page: its items, or else its Markdown or text, with the header and footer that it names."""
    found = [block for item in sequence(page.get("items"), "items") for block in _blocks(item) if block.text.strip()]
    text = string(page.get("md", page.get("markdown")), "markdown") or string(page.get("text"), "text")
    is_short = not any(block.kind not in ("image", "heading") for block in found)
    letters = sum(_letters(block.text) for block in found if block.kind != "image")
    if not found or letters * (1 if is_short else 2) < _letters(text):  # some pages have a few of their items only
        found = [] if text.strip() == _NOTHING else list(page_of_markdown(text))
    for kind, keys in _FURNITURE:
        said = next((words for key in keys if (words := string(page.get(key), key).strip())), "")
        if said:
            found = _with(found, Block(kind, said))
    yield from (block for block in found if block.text.strip() != _NOTHING)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _with(blocks: list[Block], furniture: Block) -> list[Block]:
    """Make a page's header or footer a block of its own, once."""
    said, at_top = furniture.text, furniture.kind == "header"
    if any(block.text.strip() == said for block in blocks):
        return [furniture if block.text.strip() == said else block for block in blocks]
    if blocks and (edge := blocks[0 if at_top else -1]).kind == "text":
        text = edge.text.strip()
        rest = text.removeprefix(said) if at_top else text.removesuffix(said)
        blocks = [Block("text", rest.strip()) if block is edge else block for block in blocks]
    return [furniture, *blocks] if at_top else [*blocks, furniture]


def _blocks(content: Any) -> Iterator[Block]:
    item = mapping(content, "an item")
    kind, text = item.get("type"), string(item.get("md"), "md")
    words = string(item.get("value", item.get("text")), "an item's text")
    parts = [block for part in sequence(item.get("items"), "items") for block in _blocks(part)]
    match kind:
        case "heading":
            level = item.get("lvl", item.get("level"))
            yield Block("heading", words or text.lstrip("# "), level if type(level) is int and level > 0 else 0)
        case "table":
            yield Block("table", _table(item) or text or words)
        case "list":
            yield Block("list", text or words or "\n".join(f"- {part.text}" for part in parts))
        case "code":
            yield Block("code", text or f"```\n{words}\n```")
        case "image":
            yield picture(item.get("url"))
            yield Block("caption", string(item.get("caption"), "a caption"))
        case "header" | "footer":
            yield Block(kind, text or words or "\n\n".join(part.text for part in parts))
        case _:
            yield Block(_label(item), text or words)


def _label(item: Mapping[str, Any]) -> BlockKind:
    """Return what the layout of an item's parts says that its text is."""
    listed = item.get("layoutAwareBbox") or item.get("bbox") or [item.get("bBox")]
    kinds = {kind_of(place.get("label")) for place in listed if isinstance(place, dict)}
    kind = kinds.pop() if len(kinds) == 1 else "text"
    return kind if kind in ("header", "footer", "page_number", "caption", "footnote") else "text"


def _table(item: Mapping[str, Any]) -> str:
    """Return a table's HTML: as it is, or made of its rows where there is no Markdown either."""
    html = string(item.get("html"), "html")
    if "<table" in html.lower():
        return table(html)
    rows = [sequence(row, "a row") for row in sequence(item.get("rows"), "rows")]
    if item.get("md") or not rows:
        return ""
    cells = ("".join(f"<td>{escape(str(c), quote=False) if c is not None else ''}</td>" for c in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
