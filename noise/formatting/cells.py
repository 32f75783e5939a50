"""Cells of LaTeX, Markdown and HTML tables: the places of their content, and the edits of one cell."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from ohr.contracts import Edit, Span
from ohr.markup import html, markdown
from ohr.markup.regions import Region, regions
from ohr.markup.tabular import Tabular

from . import formulas

MARKDOWN = (("**", "**"), ("*", "*"), ("_", "_"))
LATEX = (("\\textbf{", "}"), ("\\textit{", "}"), ("\\underline{", "}"))
"""Bold, italic and underline in both notations (III.1.1)."""

_SOUND = r"(?:[^\s\\{}$&%<>#*_|^~`]|\\[&%$#_])++(?!\S)"
_STRETCH = re.compile(rf"({_SOUND}(?:\s++{_SOUND})*+)|\S+")
"""Words without markup of their own, side by side; or another word."""

_WORD = re.compile(r"\S+")
_LINES = re.compile(r"[^\n]+")


def cells(text: str, region: Region, found: Sequence[Tabular]) -> Iterator[Span]:
    """Find the content of a table's cells that have any; an HTML cell with tags in it is left out.

    Args:
        found: the tabulars of the region, if it is LaTeX.
    """
    if found:  # no white space around the content
        yield from (
            (cell.start, cell.end) for one in found for row in one.rows for cell in row.cells if cell.start < cell.end
        )
        return
    rows = html.rows if text.startswith("<", region.start) else markdown.rows
    for start, end in chain.from_iterable(rows(text, region.start, region.end)):
        inner = text[start:end]
        start += len(inner) - len(inner.lstrip())
        if (stripped := inner.strip()) and not (rows is html.rows and "<" in inner):
            yield start, start + len(stripped)


def edited(
    rule: str, text: str, cell: Span, draws: list[float], markdown: float, *, of_line: bool = False
) -> tuple[Edit, ...]:
    """Apply one rule of plain text or of formulas to a cell; `draws` are 18 numbers in [0, 1).

    With `of_line`, no edit has its two ends on two lines, and no formula is converted.
    """
    start, end = cell
    inner = regions(text[start:end])
    if len(inner) == 1 and inner[0].kind == "text":  # most cells
        return _styled(rule, text, _lines(text, [cell]) if of_line else [cell], draws, markdown)
    maths = [region for region in inner if region.kind in ("inline_formula", "block_formula")]
    words = [region for region in inner if region.kind == "text" and text[start:end][region.start : region.end].strip()]
    options = ["style"] * bool(words) + (["conversion"] * (not of_line) + ["spaces", "symbols"]) * bool(maths)
    first = int(draws[0] * len(options))
    for option in options[first:] + options[:first]:  # the next one where there is nothing to do for the drawn one
        if option == "style":
            spans = [(start + region.start, start + region.end) for region in words]
            made = _styled(rule, text, _lines(text, spans) if of_line else spans, draws, markdown)
        else:
            region = maths[int(draws[1] * len(maths))]
            made = _reformed(rule, option, text, region, start, draws)
        if made:
            return made
    return ()


def _lines(text: str, spans: list[Span]) -> list[Span]:
    return [line.span() for span in spans for line in _LINES.finditer(text, *span)]


def _reformed(rule: str, option: str, text: str, region: Region, offset: int, draws: list[float]) -> tuple[Edit, ...]:
    body = (offset + region.body[0], offset + region.body[1])
    if option == "conversion":
        return formulas.converted(rule, text, offset + region.start, offset + region.end, body)
    if option == "spaces":
        return formulas.spaced(rule, text, body, draws[7:])
    symbols = formulas.scan(text[slice(*body)]).symbols
    if not symbols:
        return ()
    return formulas.swapped(rule, text, body[0], symbols[int(draws[2] * len(symbols))], draws[3])


def _styled(rule: str, text: str, spans: list[Span], draws: list[float], markdown: float) -> tuple[Edit, ...]:
    """Wrap up to five adjacent words that have no markup of their own."""
    stretches = [match.span() for span in spans for match in _STRETCH.finditer(text, *span) if match[1]]
    if not stretches:
        return ()
    stretch = stretches[int(draws[2] * len(stretches))]
    words = [word.span() for word in _WORD.finditer(text, *stretch)]
    count = len(words) if len(words) <= 5 else 2 + int(draws[3] * 4)
    first = int(draws[4] * (len(words) - count + 1))
    notation = MARKDOWN if draws[5] < markdown else LATEX
    before, after = notation[int(draws[6] * 3)]
    start, end = words[first][0], words[first + count - 1][1]
    return Edit(rule, start, start, before), Edit(rule, end, end, after)
