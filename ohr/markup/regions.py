"""Regions of a page in Mathpix Markdown, in one tolerant pass: broken markup makes other regions, never an error."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from ohr.contracts import Span

Kind = Literal["text", "inline_formula", "block_formula", "table", "chart", "tag"]
"""Kind of a region of a page."""

TABULARS = frozenset({"tabular", "tabular*", "tabularx", "tabulary", "longtable", "array"})
"""Environments with rows and cells."""

WIDTH_FIRST = frozenset({"tabular*", "tabularx", "tabulary"})
"""Those whose first argument is a width."""

DISPLAYS = frozenset(
    name + star for name in ("equation", "align", "gather", "multline", "eqnarray", "displaymath") for star in ("", "*")
)
"""Environments that are display formulas; those such as `aligned` or `cases` occur only within a formula."""

FORMULAS = DISPLAYS | {"math", "math*"}
"""Environments that are formulas: the displays, and the inline one."""

PROSE = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}+[,;]?+\s++[A-Za-z]{2}")
"""Two words side by side, as they occur in no formula without a command around them."""

NOTATION = re.compile(r"[\\^_{}=+*/<>|-]")
"""A sign that makes a formula likely."""

_WRAPPERS = frozenset({"table", "table*"})
_TOKEN = re.compile(
    r"\\(?:begin|end)[ ]?\{[A-Za-z]+\*?\}"
    r"|\\[^A-Za-z]"  # `\(`, `\[` and their ends; and what is escaped, a dollar or a backslash
    r"|\$\$?"
    r"|\n(?=[ \t]*\n)"
    r"|</?[A-Za-z][^<>$\n]*>",  # no tag reaches over a formula
    re.DOTALL,
)
_MARKDOWN_TABLE = re.compile(r"(?:^[ \t]*\|.*\|[ \t]*(?:\n|\Z)){2,}", re.MULTILINE)
_TWO_ROWS = re.compile(r"\|[ \t]*\n[ \t]*\|")  # of a Markdown table: much faster to search for than the table itself
_WORD = re.compile(r"[A-Za-z]{2}")
_NOWHERE = (1 << 62, 1 << 62)
_MARKUP = re.compile(r"[\\$<|]")


class Region(NamedTuple):
    """Characters [start, end) of one kind; `body` is the span between the delimiters of a formula."""

    kind: Kind
    start: int
    end: int
    body: Span = (0, 0)


def regions(text: str) -> list[Region]:
    """Divide a page into regions that together cover all of it, in order; linear in the length of the text.

    A formula ends in the paragraph in which it begins. A table or an environment extends from its beginning to the
    matching end. An opening without an end, or an end without an opening, is text. `$5 and $6` is money. Text in a
    chart outside tables is `chart`; an HTML tag elsewhere is `tag`.
    """
    if not _MARKUP.search(text):
        return [Region("text", 0, len(text))] if text else []
    parser = _Parser(text)
    parser.read()
    filled = _filled(text, parser.found)
    return list(_with_charts(filled, parser.charts) if parser.charts else filled)


def doubtful_from(text: str, found: Iterable[Region]) -> int:
    """Return the place from which on it is uncertain which dollars form pairs; the length of the text if none is.

    This is the first `$$` without a partner, as around a table, or the first formula with unbalanced braces. Behind
    that place, a dollar that an edit doubles could end a formula that another dollar began.
    """
    if "$" in text:
        for region in found:
            if region.kind in ("inline_formula", "block_formula"):
                inner = text[slice(*region.body)].replace("\\{", "").replace("\\}", "")
                if inner.count("{") != inner.count("}"):
                    return region.start
            elif region.kind in ("text", "chart") and (place := text.find("$$", region.start, region.end)) >= 0:
                return place
    return len(text)


class _Parser:
    """One pass over the tokens; `found` remains in ascending order, and a larger region replaces those within it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Region] = []
        self.charts: list[Span] = []
        self._open: list[tuple[str, int, int]] = []  # environments and HTML tables: name, start, start of the body
        self._names: dict[str, int] = {}  # how often each name is open, so that a stray end costs nothing
        self._chart = -1
        self._pending: dict[str, int] = {}  # where the latest opening of each kind of formula is
        self._barrier = -1  # no formula extends over this place: a blank line or a table

    def read(self) -> None:
        tables = _MARKDOWN_TABLE.finditer(self.text) if _TWO_ROWS.search(self.text) else iter(())
        table, past = next(tables, None), 0
        for token in _TOKEN.finditer(self.text):
            sign, (start, end) = token[0], token.span()
            while table and table.start() <= start:
                past = table.end()
                self._accept("table", *table.span())
                table = next(tables, None)
            if start < past:
                continue
            if sign[0] == "\n":
                self._barrier = start
            elif sign[0] == "$":
                self._dollar(sign, start, end)
            elif sign[0] == "<":
                self._tag(sign, start, end)
            elif sign[1] in "()[]be":  # any other token is an escape
                self._command(sign, start, end)
        while table:
            self._accept("table", *table.span())
            table = next(tables, None)

    def _command(self, sign: str, start: int, end: int) -> None:
        if sign in (r"\(", r"\["):
            self._pending[sign] = start
        elif sign in (r"\)", r"\]"):
            opening = self._pending.pop(r"\(" if sign == r"\)" else r"\[", -1)
            if opening > self._barrier:
                kind: Kind = "inline_formula" if sign == r"\)" else "block_formula"
                self._accept(kind, opening, end, (opening + 2, start))
        elif sign.startswith(r"\begin"):
            self._begin(name_of(sign), start, end)
        else:
            self._end(name_of(sign), start, end)

    def _dollar(self, sign: str, start: int, end: int) -> None:
        opening = self._pending.pop(sign, -1)
        body = (opening + len(sign), start)
        within = opening > self._barrier and (sign == "$$" or self._pending.get("$$", -1) < opening)
        if within and _is_formula(self.text, body, sign):
            self._accept("block_formula" if sign == "$$" else "inline_formula", opening, end, body)
        else:
            self._pending[sign] = start

    def _tag(self, sign: str, start: int, end: int) -> None:
        name = re.split(r"[\s/>]", sign.lower().lstrip("</"), maxsplit=1)[0]
        closing = sign[1] == "/"
        if name == "chart":
            if closing and self._chart >= 0:
                self.charts.append((self._chart, end))
            self._chart = -1 if closing else start
        if name == "table" and (closing and self._names.get("<table>")):
            self._end("<table>", start, end)
            return
        if name == "table" and not closing:
            self._begin("<table>", start, end)
        self.found.append(Region("tag", start, end))

    def _begin(self, name: str, start: int, end: int) -> None:
        if name in TABULARS or name in _WRAPPERS or name in FORMULAS or name == "<table>":
            if name not in FORMULAS and name != "array":
                self._barrier = start
            self._open.append((name, start, end))
            self._names[name] = self._names.get(name, 0) + 1

    def _end(self, name: str, start: int, end: int) -> None:
        if not self._names.get(name):
            return
        opened, begun, body = "", 0, 0
        while opened != name:
            opened, begun, body = self._open.pop()
            self._names[opened] -= 1
        kind: Kind = "block_formula" if name in DISPLAYS else "inline_formula" if name in FORMULAS else "table"
        self._accept(kind, begun, end, (body, start), name)

    def _accept(self, kind: Kind, start: int, end: int, body: Span = (0, 0), name: str = "") -> None:
        while self.found and self.found[-1].end > start:  # regions within this one, or overlapped by it
            self.found.pop()
        self.found.append(Region(kind, start, end, body))
        if kind == "table" and name != "array":  # an array may be part of a formula
            self._barrier = start
        if self._pending:
            self._pending = {sign: place for sign, place in self._pending.items() if place < start}


def name_of(sign: str) -> str:
    r"""Return the name of the environment in a `\begin{...}` or `\end{...}`."""
    return sign[sign.index("{") + 1 : -1]


def _is_formula(text: str, body: Span, sign: str) -> bool:
    """Report whether two dollars delimit a formula rather than words (rules of pandoc, and Mathpix's inner spaces)."""
    inner = text[body[0] : body[1]]
    if not inner.strip() or ("\\" not in inner and PROSE.search(inner)):
        return False
    if sign == "$$":
        return True
    notation = bool(NOTATION.search(inner))
    if text[body[1] + 1 : body[1] + 2].isdigit() and not notation:
        return False
    if inner[0].isspace() or inner[-1].isspace():
        return notation or not any(sign.isspace() for sign in inner.strip())
    return " " not in inner or notation or not _WORD.search(inner)


def _filled(text: str, found: list[Region]) -> Iterator[Region]:
    place = 0
    for region in found:
        if region.start > place:
            yield Region("text", place, region.start)
        yield region
        place = region.end
    if place < len(text):
        yield Region("text", place, len(text))


def _with_charts(filled: Iterable[Region], charts: list[Span]) -> Iterator[Region]:
    """Join all that a chart contains between its tables into one region."""
    spans, begun = iter(charts), -1
    start, end = next(spans, _NOWHERE)
    for region in filled:
        while region.start >= end:
            start, end = next(spans, _NOWHERE)
        inside = region.start >= start and region.kind != "table"
        if begun >= 0 and (not inside or region.start == start):
            yield Region("chart", begun, region.start)
            begun = -1
        if not inside:
            yield region
        elif begun < 0:
            begun = region.start
        if begun >= 0 and region.end >= end:
            yield Region("chart", begun, region.end)
            begun = -1
