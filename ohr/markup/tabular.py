"""LaTeX tabulars as they occur in ground truth: the places of their rows and cells, however broken the markup."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ohr.contracts import Span

from .regions import TABULARS, WIDTH_FIRST, name_of

_TOKEN = re.compile(
    r"\\(?:begin|end)[ ]?\{[A-Za-z]+\*?\}|\\\\(?:\*|(?:\*?\[[^\[\]\n]{0,40}\]))?|\\[^A-Za-z]|&|\{|\}", re.DOTALL
)  # `&|\{|\}`, not a set of them: alternatives that all begin with a literal are searched for faster
_OPTION = re.compile(r"\s*\[[^\[\]]{0,40}\]")
_RULES = re.compile(
    r"\s*\\(?:(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|hhline\{[^{}]{0,200}\})(?![A-Za-z])"
    r"|(?:cline|cmidrule)(?:\([a-z]*\))?\s*\{[^{}]{0,40}\})"
)
_SPAN = re.compile(r"\s*\\(multirow|multicolumn)(?![A-Za-z])")
_BRACE = re.compile(r"\\[^A-Za-z]|[{}]")
_MOST_SPAN = 200  # rows or columns of one cell; a larger number is an error of the engine


class TabularCell(NamedTuple):
    r"""Characters [start, end) of a cell's content, within `\multirow` and `\multicolumn`, and what these span."""

    start: int
    end: int
    rows: int = 1
    columns: int = 1


class TabularRow(NamedTuple):
    r"""A row: it begins at `start`, before its rules (`ruled`: it has some); `ended` if `\\` ends it."""

    start: int
    cells: tuple[TabularCell, ...]
    ended: bool
    ruled: bool

    @property
    def columns(self) -> int:
        """Number of columns that the row's cells occupy."""
        return sum(cell.columns for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Tabular:
    """A tabular environment: characters [start, end), its column specification, and its rows."""

    name: str
    start: int
    end: int
    columns: str
    rows: tuple[TabularRow, ...]


def tabulars(text: str, start: int, end: int) -> Iterator[Tabular]:
    """Find the outermost tabulars of a region, in one pass; a tabular within a cell is part of its content."""
    tokens = [(match[0], *match.span()) for match in _TOKEN.finditer(text, start, end)]
    partner = _partners(tokens)
    place = 0
    while place < len(tokens):
        sign, begun, _ = tokens[place]
        if sign.startswith(r"\begin") and place in partner and name_of(sign) in TABULARS:
            yield _tabular(text, name_of(sign), begun, tokens[place : partner[place] + 1], partner, place)
            place = partner[place]
        place += 1


def _partners(tokens: list[tuple[str, int, int]]) -> dict[int, int]:
    """Pair braces with braces and environments with their ends; a token without a partner is in no pair."""
    pairs: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    counts: dict[str, int] = {}
    for place, (sign, _, _) in enumerate(tokens):
        if sign == "{" or (sign.startswith(r"\begin") and len(sign) > 6):
            kind = "}" if sign == "{" else name_of(sign)
            opened.append((kind, place))
            counts[kind] = counts.get(kind, 0) + 1
            continue
        kind = "}" if sign == "}" else name_of(sign) if sign.startswith(r"\end") and len(sign) > 4 else ""
        if not counts.get(kind):
            continue
        if kind == "}" and opened[-1][0] != "}":
            continue  # a brace never closes one that was opened outside its environment
        while True:
            found, begun = opened.pop()
            counts[found] -= 1
            if found == kind:
                pairs[begun] = place
                break
    return pairs


def _tabular(
    text: str, name: str, begun: int, tokens: list[tuple[str, int, int]], partner: dict[int, int], offset: int
) -> Tabular:
    """Read one tabular; `tokens` are its own, from `\\begin` to `\\end`, and `partner` counts from `offset` before."""
    place, body, columns = 1, tokens[0][2], ""
    for _ in range(2 if name in WIDTH_FIRST else 1):
        option = _OPTION.match(text, body)
        body = option.end() if option else body
        group = offset + place
        if place < len(tokens) - 1 and tokens[place][0] == "{" and not text[body : tokens[place][1]].strip():
            if group not in partner:
                break
            stop = partner[group] - offset
            columns, body, place = text[tokens[place][2] : tokens[stop][1]], tokens[stop][2], stop + 1
    rows: list[TabularRow] = []
    cells: list[Span] = []
    row = cell = body
    while place < len(tokens):
        sign, start, end = tokens[place]
        if sign == "&":
            cells.append((cell, start))
            cell = end
        elif sign.startswith(r"\\") or place == len(tokens) - 1:
            cells.append((cell, start))
            rows.append(_row(text, row, cells, sign.startswith(r"\\")))
            row, cell, cells = end, end, []
        elif offset + place in partner:  # a group or an inner environment belongs to the cell as a whole
            place = partner[offset + place] - offset
        place += 1
    if rows and not rows[-1].ended and all(not text[one.start : one.end].strip() for one in rows[-1].cells):
        rows.pop()  # the white space behind the last `\\`
    return Tabular(name, begun, tokens[-1][2], columns, tuple(rows))


def _row(text: str, start: int, cells: list[Span], ended: bool) -> TabularRow:
    first, ruled = cells[0][0], False
    while rule := _RULES.match(text, first, cells[0][1]):
        first, ruled = rule.end(), True
    spans = [(first, cells[0][1]), *cells[1:]]
    return TabularRow(start, tuple(_cell(text, *span) for span in spans), ended, ruled)


def _cell(text: str, start: int, end: int) -> TabularCell:
    r"""Enter a `\multirow` or `\multicolumn` that is the whole of a cell."""
    rows = columns = 1
    start, end = _trimmed(text, start, end)
    if not text.startswith("\\multi", start):
        return TabularCell(start, end)
    for _ in range(2):  # a cell may span columns and rows; a command nested deeper is content
        found = _SPAN.match(text, start, end)
        if not found:
            break
        groups, last = _groups(text, found.end(), end)
        wanted = 3 if found[1] == "multicolumn" else 2
        if len(groups) < wanted or text[last:end].strip():
            break
        number = _number(text[slice(*groups[0])])
        if found[1] == "multicolumn":
            columns = max(number, 1)
        else:
            rows = number or 1
        start, end = _trimmed(text, *groups[-1])
    return TabularCell(start, end, rows, columns)


def _trimmed(text: str, start: int, end: int) -> Span:
    inner = text[start:end].lstrip()
    return end - len(inner), end - len(inner) + len(inner.rstrip())


def _number(given: str) -> int:
    return max(min(int(given), _MOST_SPAN), -_MOST_SPAN) if re.fullmatch(r"\s*-?\d{1,6}\s*", given) else 1


def _groups(text: str, start: int, end: int) -> tuple[list[Span], int]:
    """Find up to three successive groups, with options between them skipped, and the place behind the last."""
    found: list[Span] = []
    place = start
    while place < end and len(found) < 3:
        option = _OPTION.match(text, place, end)
        place = option.end() if option else place
        if text[place:end].lstrip()[:1] != "{":
            break
        place = text.index("{", place)
        stop = closing(text, place, end)
        if stop < 0:
            break
        found.append((place + 1, stop))
        place = stop + 1
    return found, place


def closing(text: str, start: int, end: int) -> int:
    """Return the place of the brace that closes the one at `start`; -1 if there is none."""
    depth = 0
    for match in _BRACE.finditer(text, start, end):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return -1
