"""Conversion of tables between LaTeX, Markdown and HTML (OHRBench, section 3.2 and Fig. 4)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from ohr.contracts import Edit, Span
from ohr.markup import Notation, html, latex, markdown
from ohr.markup.regions import Region, regions
from ohr.markup.tables import counted
from ohr.markup.tabular import tabulars

_FORMS: dict[Notation, ModuleType] = {"latex": latex, "markdown": markdown, "html": html}
"""The module that reads and writes each notation."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted table, and a sentence for each loss that the notation required."""

    text: str
    losses: tuple[str, ...] = ()


def notation_of(markup: str) -> Notation:
    """Return a table's notation, which its beginning shows."""
    start = markup.lstrip()[:1]
    return "html" if start == "<" else "markdown" if start == "|" else "latex"


def convert(markup: str, to: Notation) -> Conversion | None:
    r"""Convert one table.

    Merged cells, styles, line breaks, formulas and captions are kept where the notation has them; formulas stay LaTeX
    in all three. LaTeX commands without a counterpart stay as they are.

    Args:
        markup: a tabular or a `table` around one, a Markdown table, or an HTML table.
        to: the notation wanted; a table that has it already is returned unchanged.

    Edge cases: None where there is no table that can be read (no cell, several tabulars, more than 200,000 places).
    """
    given = notation_of(markup)
    if given == to:
        return Conversion(markup)
    losses: list[str] = []
    try:
        table = _FORMS[given].read(markup, losses)
    except ValueError:
        return None
    if table is None or not table.cells:
        return None
    raw = {piece.text.split("{")[0].strip() for cell in table.cells for piece in cell.content if piece.kind == "raw"}
    losses += [f"no counterpart of {command}: it stays LaTeX" for command in sorted(raw) if to != "latex"]
    written = _FORMS[to].write(table, losses)
    if table.rest:
        losses.append("what else the table environment held follows as text")
        written = f"{written.rstrip()}\n\n{table.rest}\n"
    return Conversion(written, counted(losses))


def table_spans(text: str) -> list[Span]:
    """List the tables of a page, in order; a LaTeX table that holds several tabulars counts as these."""
    return [span for region in regions(text) if region.kind == "table" for span in _tables(text, region)]


def converted(text: str, span: Span, to: Notation) -> Edit | None:
    """Return the edit that converts the table at `span`; None where nothing is converted."""
    start, end = span
    made = convert(text[start:end], to)
    if made is None or made.text == text[start:end]:
        return None
    written = made.text
    if to == "markdown":  # needs lines of its own
        before = "\n\n"[: 2 - text[max(start - 2, 0) : start].count("\n")] if start else ""
        written = before + written + ("" if re.match(r"[ \t]*(?:\n|\Z)", text[end : end + 100]) else "\n")
    elif text[end - 1] == "\n" and not written.endswith("\n"):
        written += "\n"
    return Edit("table_format", start, end, written, text[start:end])


def with_tables_in(text: str, to: Notation) -> str:
    """Return a page with its tables in one notation; a table that cannot be read stays as it is."""
    parts, place = [], 0
    for span in table_spans(text):
        edit = converted(text, span, to)
        if edit is not None:
            parts += [text[place : edit.start], edit.text]
            place = edit.end
    return "".join([*parts, text[place:]])


def _tables(text: str, region: Region) -> Iterator[Span]:
    """Return the region itself, or the tabulars of a LaTeX table that holds several."""
    found = [] if text[region.start] in "<|" else list(tabulars(text, region.start, region.end))
    if len(found) > 1:
        yield from ((one.start, one.end) for one in found)
    else:
        yield region.start, region.end
