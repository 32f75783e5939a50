"""HTML tables: a reader and a writer."""

import html
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser

from ohr.contracts import Span
from ohr.markup.tables import STYLE_OF_TAG, TAGS, Content, Piece, Style, joined, split_formulas
from ohr.markup.tables import write as write_content

from .tables import Cell, Grid, Table

INLINE_TAGS = frozenset(
    [
        *("a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins"),
        *("kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr"),
    ]
)
"""Tags that may be inside of a word; any other parts words, as a browser shows it."""

_CELL = re.compile(  # up to the end of the cell, or the next beginning of a cell or a row
    r"<t[dh](?:\s[^<>]*)?>([^<]*+(?:<(?!/?t[dhr]\b)[^<]*+)*+)</t[dh]\s*>|(</?tr\b)", re.IGNORECASE
)
_COMMAND = re.compile(r"\\(?:(?P<sign>[\\$])|[A-Za-z]+(?:\{[^{}]*\})*)")
_MOST_SPAN = 200  # rows or columns of one cell; a larger number is an error of the engine


def rows(text: str, start: int, end: int) -> Iterator[list[Span]]:
    """Find the rows of an HTML table in a text, each as the spans of its cells."""
    row: list[Span] = []
    for match in _CELL.finditer(text, start, end):
        if not match[2]:
            row.append(match.span(1))
        elif row:
            yield row
            row = []
    if row:
        yield row


def read(markup: str, losses: list[str]) -> Table:
    """Read an HTML table."""
    reader = _Reader(losses)
    reader.feed(markup)
    reader.close()
    return reader.grid.table(reader.rows, joined(reader.caption))


class _Reader(HTMLParser):
    """Places the cells of one table; the text within unknown tags is kept."""

    def __init__(self, losses: list[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.grid = Grid(losses)
        self.caption: list[Piece] = []
        self.rows = 0
        self._losses = losses
        self._has_lost_text = False
        self._depth = 0
        self._column = 0
        self._styles: list[Style] = []
        self._pieces: list[Piece] | None = None
        self._cell = (1, 1, False)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._part(tag)
        if tag == "table":
            self._depth += 1
            if self._depth == 2:
                self._losses.append("a table within a cell becomes text")
        elif tag in STYLE_OF_TAG and STYLE_OF_TAG[tag] not in self._styles:
            self._styles.append(STYLE_OF_TAG[tag])
        elif tag == "br" and self._pieces is not None:
            self._pieces.append(Piece("break"))
        elif self._depth > 1:
            return
        elif tag == "caption":
            self._pieces = self.caption
        elif tag == "tr":
            self._finish()
            self.rows, self._column = self.rows + 1, 0
        elif tag in ("td", "th"):
            self._finish()
            self.rows = max(self.rows, 1)
            given = dict(attrs)
            self._cell = (_span(given.get("rowspan")), _span(given.get("colspan")), tag == "th")
            self._pieces = []

    def handle_endtag(self, tag: str) -> None:
        self._part(tag)
        if tag == "table":
            self._depth -= 1
        elif tag in STYLE_OF_TAG and STYLE_OF_TAG[tag] in self._styles:
            self._styles.remove(STYLE_OF_TAG[tag])
        elif self._depth <= 1 and tag in ("td", "th", "tr", "caption"):
            self._finish()

    def handle_data(self, data: str) -> None:
        if self.cdata_elem in ("script", "style"):
            return
        if self._pieces is not None:
            self._pieces += _read_text(data, tuple(self._styles))
        elif data.strip() and not self._has_lost_text:
            self._has_lost_text = True
            self._losses.append("text outside of a table's cells is left out")

    def _part(self, tag: str) -> None:
        """Part the words before and after a paragraph, a list's item, or a table within the cell."""
        if self._pieces is not None and tag not in INLINE_TAGS:
            self._pieces.append(Piece("text", " "))

    def close(self) -> None:
        super().close()
        self._finish()

    def _finish(self) -> None:
        if self._pieces is not None and self._pieces is not self.caption:
            while not self.grid.free(self.rows - 1, self._column):
                self._column += 1
            rows, columns, header = self._cell
            content = joined(self._pieces)
            self.grid.put(Cell(self.rows - 1, self._column, content, rows, columns, header))
            self._column += 1
        self._pieces = None
        self._styles.clear()


def _span(given: str | None) -> int:
    return min(max(int(given), 1), _MOST_SPAN) if given and re.fullmatch(r"\s*[0-9]+\s*", given) else 1


def _read_text(text: str, styles: tuple[Style, ...]) -> Iterable[Piece]:
    """Read the characters between two tags; the page is Mathpix Markdown, where `\\$` is a dollar."""

    def read_part(part: str) -> Iterable[Piece]:
        place = 0
        for match in _COMMAND.finditer(part):
            yield Piece("text", part[place : match.start()], styles)
            yield Piece("text", match["sign"], styles) if match["sign"] else Piece("raw", match[0], styles)
            place = match.end()
        yield Piece("text", part[place:], styles)

    return split_formulas(text, styles, read_part)


def write(table: Table, losses: list[str]) -> str:  # noqa: ARG001 # HTML can hold all that a table has
    """Write an HTML table."""
    places = table.places()
    lines = ["<table>"]
    if table.caption:
        lines.append(f"<caption>{_write_content(table.caption)}</caption>")
    for row in range(table.rows):
        cells = []
        for column in range(table.columns):
            cell = places.get((row, column))
            if cell is None:
                cells.append("<td></td>")
            elif (cell.row, cell.column) == (row, column):
                tag = "th" if cell.header else "td"
                spans = f' rowspan="{cell.rows}"' * (cell.rows > 1) + f' colspan="{cell.columns}"' * (cell.columns > 1)
                cells.append(f"<{tag}{spans}>{_write_content(cell.content)}</{tag}>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])


def _write_content(content: Content) -> str:
    def escaped(text: str) -> str:
        return html.escape(re.sub(r"([\\$])", r"\\\1", text), quote=False)

    return write_content(content, TAGS, escaped, lambda formula: html.escape(formula, quote=False), "<br>")
