"""Tables in LaTeX, Markdown and HTML: a reader and a writer of each."""

import re
from html.parser import HTMLParser

from . import inline_readers as readers
from . import inline_writers as writers
from .inline import Content, Piece, Style, joined
from .inline_readers import HTML_STYLES
from .table import Cell, Grid, Table
from .tabular import Tabular, closing, tabulars

# --- LaTeX ------------------------------------------------------------------------------------------------

_WRAPPING = re.compile(r"\\(?:begin|end)\s?\{table\*?\}(?:\[[^\]]{0,9}\])?|\\centering|\\(?:label|vspace)\s*\{[^{}]*\}")
_CAPTION = re.compile(r"\\caption\*?\s*\{")


def read_latex(markup: str, losses: list[str]) -> Table | None:
    """Read a tabular, or a `table` with one tabular in it; None where there is none, or several, or an array."""
    found = list(tabulars(markup, 0, len(markup)))
    if len(found) != 1 or found[0].name == "array":  # the cells of an array are formulas without delimiters
        return None
    [one] = found
    grid = Grid(losses)
    for number, row in enumerate(one.rows):
        _place_row(markup, one, number, grid)
        if any("\\begin{tab" in markup[cell.start : cell.end] for cell in row.cells):
            losses.append("a table within a cell stays LaTeX")
    around = markup[: one.start] + markup[one.end :]
    caption: Content = ()
    if match := _CAPTION.search(around):
        stop = closing(around, match.end() - 1, len(around))
        if stop > 0:
            caption = readers.from_latex(around[match.end() : stop])
            around = around[: match.start()] + around[stop + 1 :]
    return grid.table(len(one.rows), caption, " ".join(_WRAPPING.sub(" ", around).split()))


def _place_row(markup: str, one: Tabular, number: int, grid: Grid) -> None:
    column = 0
    for cell in one.rows[number].cells:
        content = readers.from_latex(markup[cell.start : cell.end])
        if not grid.free(number, column):
            if not content:  # the place that `\multirow` leaves empty
                column += cell.columns
                continue
            grid.cut_above(number, column)
        top = number
        if cell.rows < 0:  # spans upwards
            while top > 0 and number - top + 1 < -cell.rows and grid.clear(top - 1, column):
                top -= 1
        rows = cell.rows if cell.rows > 0 else number - top + 1
        grid.put(Cell(top, column, content, rows, cell.columns))
        column += cell.columns


def write_latex(table: Table, losses: list[str]) -> str:
    """Write a tabular, within a `table` where there is a caption."""
    if any(cell.header for cell in table.cells):
        losses.append("LaTeX has no header cells: they become plain")
    places = table.places()
    rows = []
    for row in range(table.rows):
        cells, column = [], 0
        while column < table.columns:
            cell = places.get((row, column))
            if cell is None:
                cells.append("")
                column += 1
                continue
            inner = writers.to_latex(cell.content) if cell.row == row else ""
            if cell.rows > 1 and cell.row == row:
                inner = f"\\multirow{{{cell.rows}}}{{*}}{{{inner}}}"
            cells.append(f"\\multicolumn{{{cell.columns}}}{{l}}{{{inner}}}" if cell.columns > 1 else inner)
            column += cell.columns
        rows.append(" & ".join(cells) + " \\\\")
    specification = "|" + "l|" * max(table.columns, 1)
    tabular = "\n".join([f"\\begin{{tabular}}{{{specification}}}", *rows, "\\end{tabular}"])
    if not table.caption:
        return tabular
    return f"\\begin{{table}}\n\\caption{{{writers.to_latex(table.caption)}}}\n{tabular}\n\\end{{table}}"


# --- Markdown ---------------------------------------------------------------------------------------------

_RULING = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|?)+[ \t]*")
_MARKDOWN_CELL = re.compile(r"((?:[^|\\]|\\.)*)(?:\||\Z)", re.DOTALL)


def read_markdown(markup: str, losses: list[str]) -> Table | None:
    """Read a Markdown table; the rows above its ruling are header cells."""
    lines = [line.strip() for line in markup.strip().split("\n")]
    ruling = next((place for place, line in enumerate(lines) if "-" in line and _RULING.fullmatch(line)), 0)
    rows = [line for place, line in enumerate(lines) if place != ruling or not ruling]
    grid = Grid(losses)
    for number, line in enumerate(rows):
        inner = line.removeprefix("|").removesuffix("|")
        parts = [match[1] for match in _MARKDOWN_CELL.finditer(inner)]
        if inner and not inner.endswith("|"):  # the empty match at the end is no cell
            parts.pop()
        for column, part in enumerate(parts):
            grid.put(Cell(number, column, readers.from_markdown(part), header=number < ruling))
    return grid.table(len(rows))


def write_markdown(table: Table, losses: list[str]) -> str:
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
    written = {cell: writers.to_markdown(cell.content) for cell in table.cells}
    for row in range(table.rows):
        here = (places.get((row, column)) for column in range(table.columns))
        rows.append("| " + " | ".join(written[cell] if cell else "" for cell in here) + " |")
    rows.insert(1, "|" + "---|" * max(table.columns, 1))
    if table.caption:
        losses.append("Markdown has no captions: it becomes a line above the table")
        rows = [writers.to_markdown(table.caption), "", *rows]
    return "\n".join(rows) + "\n"


# --- HTML -------------------------------------------------------------------------------------------------


class _Reader(HTMLParser):
    """Places the cells of one table; tags that it does not know leave their text."""

    def __init__(self, losses: list[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.grid = Grid(losses)
        self.caption: list[Piece] = []
        self.rows = 0
        self._losses = losses
        self._depth = 0
        self._column = 0
        self._styles: list[Style] = []
        self._pieces: list[Piece] | None = None
        self._cell = (1, 1, False)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._depth += 1
            if self._depth == 2:
                self._losses.append("a table within a cell becomes text")
        elif tag in HTML_STYLES and HTML_STYLES[tag] not in self._styles:
            self._styles.append(HTML_STYLES[tag])
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
        if tag == "table":
            self._depth -= 1
        elif tag in HTML_STYLES and HTML_STYLES[tag] in self._styles:
            self._styles.remove(HTML_STYLES[tag])
        elif self._depth <= 1 and tag in ("td", "th", "tr", "caption"):
            self._finish()

    def handle_data(self, data: str) -> None:
        if self._pieces is not None:
            self._pieces += readers.from_html_text(data, tuple(self._styles))

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
    return min(max(int(given), 1), 200) if given and given.strip().isascii() and given.strip().isdigit() else 1


def read_html(markup: str, losses: list[str]) -> Table | None:
    """Read an HTML table."""
    reader = _Reader(losses)
    reader.feed(markup)
    reader.close()
    return reader.grid.table(reader.rows, joined(reader.caption))


def write_html(table: Table, losses: list[str]) -> str:  # noqa: ARG001 # HTML holds all there is
    """Write an HTML table."""
    places = table.places()
    lines = ["<table>"]
    if table.caption:
        lines.append(f"<caption>{writers.to_html(table.caption)}</caption>")
    for row in range(table.rows):
        cells = []
        for column in range(table.columns):
            cell = places.get((row, column))
            if cell is None:
                cells.append("<td></td>")
            elif (cell.row, cell.column) == (row, column):
                tag = "th" if cell.header else "td"
                spans = f' rowspan="{cell.rows}"' * (cell.rows > 1) + f' colspan="{cell.columns}"' * (cell.columns > 1)
                cells.append(f"<{tag}{spans}>{writers.to_html(cell.content)}</{tag}>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])
