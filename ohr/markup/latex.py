"""LaTeX tables: a reader and a writer."""

import re
from collections.abc import Iterable

from ohr.markup.tables import Content, Marks, Piece, Style, joined, split_formulas
from ohr.markup.tables import write as write_content

from .tables import Cell, Grid, Table
from .tabular import Tabular, closing, tabulars

_MARKS: Marks = {"bold": ("\\textbf{", "}"), "italic": ("\\textit{", "}"), "underline": ("\\underline{", "}")}
_STYLES: dict[str, Style] = {"textbf": "bold", "textit": "italic", "emph": "italic", "underline": "underline"}
_NAMED = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
_ESCAPES = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"} | {sign: f"\\{name}{{}}" for name, sign in _NAMED.items()}
)
_CONTENT = re.compile(
    r"\\(?P<style>textbf|textit|emph|underline)\s*\{|\\(?:makecell|shortstack|thead)\s*+(?:\[[^\]]{0,9}\]\s*+)?\{"
    r"|\\(?P<name>textbackslash|textasciitilde|textasciicircum)(?:\{\}|(?![A-Za-z])\s?)"
    r"|(?P<break>\\\\(?:\[[^\]]{0,9}\])?|\\newline(?![A-Za-z]))|\\(?P<sign>[&%#_{}$ ])|(?P<tie>~)"
    r"|(?P<raw>\\(?:[A-Za-z]+\*?|.)(?:\s*\{[^{}]*\})*)|(?P<open>\{)|(?P<close>\})",
    re.DOTALL,
)
_WRAPPING = re.compile(r"\\(?:begin|end)\s?\{table\*?\}(?:\[[^\]]{0,9}\])?|\\centering|\\(?:label|vspace)\s*\{[^{}]*\}")
_CAPTION = re.compile(r"\\caption\*?\s*\{")


def read(markup: str, losses: list[str]) -> Table | None:
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
            caption = _read_content(around[match.end() : stop])
            around = around[: match.start()] + around[stop + 1 :]
    return grid.table(len(one.rows), caption, " ".join(_WRAPPING.sub(" ", around).split()))


def _place_row(markup: str, one: Tabular, number: int, grid: Grid) -> None:
    column = 0
    for cell in one.rows[number].cells:
        content = _read_content(markup[cell.start : cell.end])
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


def _read_content(text: str) -> Content:
    """Read a cell; groups that only group disappear, and commands without a counterpart stay raw."""
    groups: list[tuple[Style, ...]] = [()]  # the styles in force in each open group

    def read_part(part: str) -> Iterable[Piece]:
        place = 0
        for match in _CONTENT.finditer(part):
            styles = groups[-1]
            if match.start() > place:
                yield Piece("text", part[place : match.start()], styles)
            place = match.end()
            if match["style"] or match["open"] or (match.lastgroup is None):
                style = _STYLES.get(match["style"] or "")
                groups.append((*styles, style) if style and style not in styles else styles)
            elif match["close"]:
                if len(groups) > 1:
                    groups.pop()
            elif match["break"]:
                yield Piece("break")
            elif match["raw"]:
                yield Piece("raw", match[0], styles)
            else:
                yield Piece("text", match["sign"] or _NAMED.get(match["name"] or "", " "), styles)
        yield Piece("text", part[place:], groups[-1])

    return joined(split_formulas(text, (), read_part))


def write(table: Table, losses: list[str]) -> str:
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
            inner = _write_content(cell.content) if cell.row == row else ""
            if cell.rows > 1 and cell.row == row:
                inner = f"\\multirow{{{cell.rows}}}{{*}}{{{inner}}}"
            cells.append(f"\\multicolumn{{{cell.columns}}}{{l}}{{{inner}}}" if cell.columns > 1 else inner)
            column += cell.columns
        rows.append(" & ".join(cells) + " \\\\")
    specification = "|" + "l|" * max(table.columns, 1)
    tabular = "\n".join([f"\\begin{{tabular}}{{{specification}}}", *rows, "\\end{tabular}"])
    if not table.caption:
        return tabular
    return f"\\begin{{table}}\n\\caption{{{_write_content(table.caption)}}}\n{tabular}\n\\end{{table}}"


def _write_content(content: Content) -> str:
    written = write_content(content, _MARKS, lambda text: text.translate(_ESCAPES), lambda formula: formula, "\\\\ ")
    return f"\\makecell{{{written}}}" if any(piece.kind == "break" for piece in content) else written
