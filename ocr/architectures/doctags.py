"""DocTags, the markup of SmolDocling and granite-docling (Nassar et al., arXiv:2503.11576), as blocks of a page."""

import re
from collections.abc import Iterator

from ohr.contracts import Block
from ohr.markup import html
from ohr.markup.content import Piece
from ohr.markup.tables import Cell, Table

from ..formats.values import kind_of

_NAMES = (
    "text|paragraph|checkbox_selected|checkbox_unselected|title|list_item|code|formula|caption|footnote|page_header"
    r"|page_footer|otsl|chart|section_header_level_\d"
)
"""Tags of blocks; those around several of them, such as lists and pictures, are left out."""
_BLOCK = re.compile(
    r"<(?P<grid>otsl|chart)>(?P<cells>.*?)(?:</(?P=grid)>|\Z)"  # its caption is inside
    rf"|<(?P<tag>{_NAMES})>(?P<text>.*?)(?:</(?P=tag)>|(?=<(?:{_NAMES})>)|\Z)",
    re.DOTALL,
)
_GRIDS = ("otsl", "chart")
_PLACE = re.compile(r"<loc_\d+>")
_TAG = re.compile(r"</?[a-z_0-9]+>")
_CAPTION = re.compile(r"<caption>(.*?)</caption>", re.DOTALL)
_CELL = re.compile(r"<(fcel|ched|rhed|srow|ecel|lcel|ucel|xcel|nl)>([^<]*)")
_HEADERS = ("ched", "rhed", "srow")


def blocks(reply: str) -> tuple[Block, ...]:
    """Read a reply; one without a tag is a single text, and a last block that was cut is kept as far as it goes."""
    reply = _PLACE.sub("", reply)
    found = [
        block
        for match in _BLOCK.finditer(reply)
        for block in _blocks(match["grid"] or match["tag"], match["cells"] or match["text"] or "")
    ]
    if not found and (text := _plain(reply)):
        return (Block("text", text),)
    return tuple(found)


def _blocks(tag: str, inside: str) -> Iterator[Block]:
    if tag in _GRIDS:
        yield from (Block("caption", text) for match in _CAPTION.finditer(inside) if (text := _plain(match[1])))
        inside = _CAPTION.sub("", inside)
        if table := _table(inside):
            yield Block("table", table)
            return
    text = _plain(inside)
    if not text:
        return
    if tag.startswith("section_header"):
        yield Block("heading", text, int(tag[-1]) + 1)  # the title has level 1
    elif tag == "title":
        yield Block("heading", text, 1)
    elif tag == "list_item":
        yield Block("list", text if text.startswith(("-", "*")) or text[:1].isdigit() else f"- {text}")
    elif tag == "formula":
        yield Block("formula", f"$$\n{text}\n$$")
    elif tag == "code":
        yield Block("code", f"```\n{text}\n```")
    else:
        yield Block("table" if tag in _GRIDS else kind_of(tag), text)


def _plain(text: str) -> str:
    return _TAG.sub("", text).strip()


def _table(otsl: str) -> str:
    """Write a table in OTSL (Lysak et al., arXiv:2305.03393) as HTML; empty where there is none."""
    rows: list[list[tuple[str, str]]] = [[]]
    for match in _CELL.finditer(otsl):
        if match[1] == "nl":
            rows.append([])
        else:
            rows[-1].append((match[1], match[2].strip()))
    rows = [row for row in rows if row]
    if not rows:
        return ""
    cells = tuple(
        Cell(
            down,
            right,
            (Piece("text", text),) if text else (),
            _run(rows, down, right, 1, 0),
            _run(rows, down, right, 0, 1),
            kind in _HEADERS,
        )
        for down, row in enumerate(rows)
        for right, (kind, text) in enumerate(row)
        if kind not in ("lcel", "ucel", "xcel")
    )
    return html.write(Table(len(rows), max(map(len, rows)), cells), [])


def _run(rows: list[list[tuple[str, str]]], down: int, right: int, step_down: int, step_right: int) -> int:
    """Count the places of a cell downwards or to the right: those after the first continue it."""
    wanted, count = "ucel" if step_down else "lcel", 1
    while True:
        row, column = down + step_down * count, right + step_right * count
        if row >= len(rows) or column >= len(rows[row]) or rows[row][column][0] != wanted:
            return count
        count += 1
