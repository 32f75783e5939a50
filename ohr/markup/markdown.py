"""Markdown tables: a reader and a writer."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ohr.contracts import Span
from ohr.markup.tables import STYLE_OF_TAG, TAGS, Content, Piece, Style, joined, split_formulas
from ohr.markup.tables import write as write_content

from .tables import Cell, Grid, Table

_CONTENT = re.compile(
    r"\\(?P<sign>[!-/:-@\[-`{-~])|(?P<raw>\\[A-Za-z]+(?:\{[^{}]*\})*)|\*\*?|(?P<break><br\s*/?>)|(?P<open><(?:b|strong|i|em|u)>)"
    r"|(?P<close></(?:b|strong|i|em|u)>)|(?P<entity>&(?:lt|gt|amp|nbsp|quot|#\d{1,7});)",
    re.IGNORECASE,
)
_STYLES: dict[str, Style] = {"**": "bold", "*": "italic"}
# possessive throughout: with ways to divide a run of hyphens, a line such as `|-----x|` would take exponential time
_RULING = re.compile(r"\|?+(?:[ \t]*+:?+-++:?+[ \t]*+\|?+)++[ \t]*+")
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_NO_CELLS = re.compile(r"[\s|:-]+")
_BAR = re.compile(r"\\.|(\|)")
_CELL = re.compile(r"((?:[^|\\]|\\.)*)(?:\||\Z)", re.DOTALL)
_BARS = re.compile(r"(\\\|)|(?<!\\)\|")


def rows(text: str, start: int, end: int) -> Iterator[list[Span]]:
    """Find the rows of a Markdown table in a text, each as the spans of its cells; rulings are left out."""
    for row in _ROW.finditer(text, start, end):
        if not _NO_CELLS.fullmatch(row[0]):
            first, last = row.span(1)
            bars = [bar.start() for bar in _BAR.finditer(text, first, last) if bar[1]]
            yield [(left + 1, right) for left, right in pairwise([first - 1, *bars, last])]


def read(markup: str, losses: list[str]) -> Table:
    """Read a Markdown table; the rows above its ruling are header cells.

    Engines write rows of unequal length, rulings of another length and tables without a ruling. A reader by the
    standard, such as markdown-it-py, drops cells that the header lacks, or takes all of it for a paragraph.
    """
    lines = [line.strip() for line in markup.strip().split("\n")]
    ruling = next((place for place, line in enumerate(lines) if _RULING.fullmatch(line)), 0)
    rows = [line for place, line in enumerate(lines) if place != ruling or not ruling]
    grid = Grid(losses)
    for number, line in enumerate(rows):
        inner = line.removeprefix("|").removesuffix("|")
        parts = [match[1] for match in _CELL.finditer(inner)]
        if inner and not inner.endswith("|"):  # the empty match at the end is not a cell
            parts.pop()
        for column, part in enumerate(parts):
            grid.put(Cell(number, column, _read_content(part), header=number < ruling))
    return grid.table(len(rows))


def _read_content(text: str) -> Content:
    """Read a cell; a mark of emphasis without a partner is text."""
    stack: list[Style] = []
    seen = Counter(match[0] for match in _CONTENT.finditer(text))
    pairs = {sign: seen[sign] // 2 for sign in _STYLES}  # how many of each may open a style

    def mark(sign: str, style: Style, closing: bool) -> bool:
        """Open or close a style; return False where the sign is text."""
        if style in stack:
            stack.remove(style)
        elif closing or not pairs.get(sign, 1):
            return False
        else:
            pairs[sign] = pairs.get(sign, 2) - 1
            stack.append(style)
        return True

    def read_part(part: str) -> Iterable[Piece]:
        place = 0
        for match in _CONTENT.finditer(part):
            yield Piece("text", part[place : match.start()], tuple(stack))
            place = match.end()
            if match["break"]:
                yield Piece("break")
            elif match["raw"]:
                yield Piece("raw", match[0], tuple(stack))
            elif match["sign"] or match["entity"]:
                yield Piece("text", match["sign"] or html.unescape(match[0]), tuple(stack))
            else:
                style = _STYLES.get(match[0]) or STYLE_OF_TAG[match[0].strip("</>").lower()]
                if not mark(match[0], style, bool(match["close"])):
                    yield Piece("text", match[0], tuple(stack))
        yield Piece("text", part[place:], tuple(stack))

    return joined(split_formulas(text, (), read_part))


def write(table: Table, losses: list[str]) -> str:
    """Write a Markdown table: the first row is its header, and a merged cell is repeated at each of its places."""
    places, rows = table.places(), []
    for cell in table.cells:
        if cell.rows > 1 or cell.columns > 1:
            shown = "".join(piece.text for piece in cell.content)[:40]
            losses.append(f"a merged cell of {cell.rows} x {cell.columns} is repeated at each place: {shown!r}")
        if cell.header and cell.row:
            losses.append("Markdown has header cells in its first row only: others become plain")
    if table.rows and not any(cell.header for cell in table.cells):
        losses.append("Markdown needs a header: the first row becomes it")
    if any(piece.kind == "formula" and "|" in piece.text for cell in table.cells for piece in cell.content):
        losses.append("a bar in a formula becomes \\vert, or \\Vert where it is double")
    written = {cell: _write_content(cell.content) for cell in table.cells}
    for row in range(table.rows):
        here = (places.get((row, column)) for column in range(table.columns))
        rows.append("| " + " | ".join(written[cell] if cell else "" for cell in here) + " |")
    rows.insert(1, "|" + "---|" * max(table.columns, 1))
    if table.caption:
        losses.append("Markdown has no captions: it becomes a line above the table")
        rows = [_write_content(table.caption), "", *rows]
    return "\n".join(rows) + "\n"


def _write_content(content: Content) -> str:
    """Write a cell; a bar in a formula becomes `\\vert`, because it would part cells."""
    styled = [piece for piece in content if piece.styles]
    # asterisks beside asterisks or white space mean something else
    clear = len({piece.styles for piece in styled}) == 1 and all(
        len(piece.styles) == 1 and piece.text.strip() == piece.text for piece in styled
    )
    marks = {**TAGS, "bold": ("**", "**"), "italic": ("*", "*")} if clear else TAGS

    def escaped(text: str) -> str:
        return re.sub(r"([\\|$*_<`])", r"\\\1", re.sub(r"&(?=[#\w]+;)", "&amp;", text))

    def safe(formula: str) -> str:
        return _BARS.sub(lambda match: "\\Vert " if match[1] else "\\vert ", formula)

    return write_content(content, marks, escaped, safe, "<br>")
