"""Conversion of tables between LaTeX, Markdown and HTML (OHRBench, section 3.2 and Fig. 4)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Edit, NoisyText, Span, TextNoise
from ohr.markup import html, latex, markdown
from ohr.markup.regions import Region, regions
from ohr.markup.tables import Table, counted
from ohr.markup.tabular import tabulars
from ohr.text import edits

from .formatting.units import Units, touched

Notation = Literal["latex", "markdown", "html"]

_READERS: dict[Notation, Callable[[str, list[str]], Table | None]] = {
    "latex": latex.read,
    "markdown": markdown.read,
    "html": html.read,
}
_WRITERS: dict[Notation, Callable[[Table, list[str]], str]] = {
    "latex": latex.write,
    "markdown": markdown.write,
    "html": html.write,
}


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
        table = _READERS[given](markup, losses)
    except ValueError:
        return None
    if table is None or not table.cells:
        return None
    raw = {piece.text.split("{")[0].strip() for cell in table.cells for piece in cell.content if piece.kind == "raw"}
    losses += [f"no counterpart of {command}: it stays LaTeX" for command in sorted(raw) if to != "latex"]
    written = _WRITERS[to](table, losses)
    if table.rest:
        losses.append("what else the table environment held follows as text")
        written = f"{written.rstrip()}\n\n{table.rest}\n"
    return Conversion(written, counted(losses))


class TableFormat(TextNoise):
    """Writes a share of a page's tables, those of charts too, in one notation: LaTeX, Markdown or HTML.

    The words stay. What Markdown cannot hold is expanded: a merged cell is repeated at each of its places.
    """

    kind: Literal["table_format"] = "table_format"
    noise_type: ClassVar[Literal["semantic", "formatting"]] = "formatting"
    rate: Annotated[float, Field(ge=0, le=1, description="Share of the tables that are converted.")] = 1.0
    to: Annotated[Notation, Field(description="Notation of the tables afterwards.")] = "html"

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Convert the tables that lie within the eligible spans."""
        spans = [span for region in regions(text) if region.kind == "table" for span in _tables(text, region)]
        places = np.array(spans, dtype=np.int64).reshape(-1, 2)

        def converted(chosen: list[int]) -> list[Edit]:
            return [edit for place in chosen for edit in self._converted(text, spans[place])]

        units = Units(rng.random(len(spans)), places[:, 0], places[:, 1], converted)
        return edits.apply(text, touched([units], self.rate, eligible, len(text)))

    def _converted(self, text: str, span: Span) -> tuple[Edit, ...]:
        start, end = span
        made = convert(text[start:end], self.to)
        if made is None or made.text == text[start:end]:
            return ()
        written = made.text
        if self.to == "markdown":  # needs lines of its own
            before = "\n\n"[: 2 - text[max(start - 2, 0) : start].count("\n")] if start else ""
            written = before + written + ("" if re.match(r"[ \t]*(?:\n|\Z)", text[end : end + 100]) else "\n")
        elif text[end - 1] == "\n" and not written.endswith("\n"):
            written += "\n"
        return (Edit("table_format", start, end, written, text[start:end]),)


def _tables(text: str, region: Region) -> Iterator[Span]:
    """Return the region itself, or the tabulars of a LaTeX table that holds several."""
    found = [] if text[region.start] in "<|" else list(tabulars(text, region.start, region.end))
    if len(found) > 1:
        yield from ((one.start, one.end) for one in found)
    else:
        yield region.start, region.end
