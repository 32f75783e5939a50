"""Formatting noise (OHRBench, III.1): notation around the words changes, the words do not."""

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ohr import edits
from ohr.contracts import Edit, NoisyText, Span, TextNoise

from . import cells, formulas, prose
from .markup import Region, regions
from .tabular import Tabular, tabulars
from .units import Units, touched

Weight = Annotated[float, Field(ge=0, le=1)]

_MARKDOWN_TITLES = (("\n# ", "\n"), ("\n## ", "\n"), ("\n### ", "\n"))
_LATEX_TITLES = (("\\section{", "}"), ("\\subsection{", "}"), ("\\subsubsection{", "}"))


class Rules(BaseModel):
    """Weight of each rule: a rule with weight w touches each of its units with probability w x rate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bold: Annotated[Weight, Field(description="Runs of 2 to 5 words: `**x**` or `\\textbf{x}`.")] = 0
    italic: Annotated[Weight, Field(description="Runs of 2 to 5 words: `*x*` or `\\textit{x}`.")] = 0
    underline: Annotated[Weight, Field(description="Runs of 2 to 5 words: `_x_` or `\\underline{x}`.")] = 0
    title: Annotated[Weight, Field(description="Sentences of at most 5 words become headings.")] = 0
    paragraph: Annotated[Weight, Field(description="A line break at the gap between two words.")] = 0
    formula_conversion: Annotated[Weight, Field(description="Inline formulas become blocks, and blocks inline.")] = 0
    extraneous_elements: Annotated[Weight, Field(description="1 to 5 spacing commands in a formula.")] = 0
    equivalent_symbols: Annotated[Weight, Field(description="A formula's symbol by one that means the same.")] = 0
    table_lines: Annotated[Weight, Field(description="`\\hline` at a row, `\\cline` at a column.")] = 0
    cell_content: Annotated[Weight, Field(description="One rule of text or formulas within a cell.")] = 0


ALL = Rules.model_validate(dict.fromkeys(Rules.model_fields, 1))


class Formatting(TextNoise):
    """Changes notation only: styles, titles, line breaks, formulas' form and symbols, lines and cells of tables.

    Each rule touches each of its units with probability `rate`; the paper's levels are 0.1, 0.3 and 0.6. All draws are
    made before any edit, and from the whole page, so that the edits at a lower rate are a subset of those at a higher
    one, whatever rules are on.
    """

    kind: Literal["formatting"] = "formatting"
    version: ClassVar[int] = 2
    noise_type: ClassVar[Literal["semantic", "formatting"]] = "formatting"
    rules: Annotated[
        Rules,
        Field(description="Weight in [0, 1] of each rule that is on, as in {bold: 1, title: 0.5}; all by default."),
    ] = ALL
    markdown: Annotated[float, Field(ge=0, le=1, description="Share of Markdown styles; the rest is LaTeX.")] = 0.5

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Edit a text within the eligible spans."""
        if not text.strip():
            return NoisyText(text)
        found = regions(text)
        units = [*self._prose(text, found, rng), *self._formulas(text, found, rng), *self._tables(text, found, rng)]
        return edits.apply(text, touched(units, self.rate, eligible, len(text)))

    # --- plain text -----------------------------------------------------------------------------------------

    def _prose(self, text: str, found: Sequence[Region], rng: np.random.Generator) -> list[Units]:
        words = prose.words_of(text, found)
        run_starts, run_ends = prose.runs(words, rng.integers(2, 6, len(words.starts) // 2 + 1))
        short = list(prose.short_sentences(text, words))
        gap_starts, gap_ends = prose.gaps(text, words, short)
        styles, titles = rng.random((3, len(run_starts))), rng.random((3, len(short)))
        breaks = rng.random(len(gap_starts))
        spans = np.array(short, dtype=np.int64).reshape(-1, 2)

        def style(place: int) -> tuple[Edit, ...]:
            rule, before, after = self._style(*styles[1:, place].tolist())
            start, end = int(run_starts[place]), int(run_ends[place])
            return Edit(rule, start, start, before), Edit(rule, end, end, after)

        def title(place: int) -> tuple[Edit, ...]:
            notation, level = titles[1:, place].tolist()
            before, after = (_MARKDOWN_TITLES if notation < self.markdown else _LATEX_TITLES)[int(level * 3)]
            start, end = short[place]
            return Edit("title", start, start, before), Edit("title", end, end, after)

        def line_break(place: int) -> tuple[Edit, ...]:
            start, end = int(gap_starts[place]), int(gap_ends[place])
            return (Edit("paragraph", start, end, "\n", text[start:end]),)

        on = self.rules
        weight = max(on.bold, on.italic, on.underline)
        return [
            Units(styles[0], run_starts, run_ends, style, weight, whole=True),
            Units(titles[0], spans[:, 0], spans[:, 1], title, on.title, whole=True),
            Units(breaks, gap_starts, gap_ends, line_break, on.paragraph),
        ]

    def _style(self, notation: float, draw: float) -> tuple[str, str, str]:
        """Choose a run's style, in the ratio of the styles' weights."""
        weights = (self.rules.bold, self.rules.italic, self.rules.underline)
        place = int(np.searchsorted(np.cumsum(weights), draw * sum(weights), side="right"))
        before, after = (cells.MARKDOWN if notation < self.markdown else cells.LATEX)[place]
        return ("bold", "italic", "underline")[place], before, after

    # --- formulas -------------------------------------------------------------------------------------------

    def _formulas(self, text: str, found: Sequence[Region], rng: np.random.Generator) -> list[Units]:
        maths = [region for region in found if region.kind in ("inline_formula", "block_formula")]
        scans = [formulas.scan(text, region.body) for region in maths]
        symbols = list(chain.from_iterable(scan.symbols for scan in scans))
        converted, spaced, swapped = rng.random(len(maths)), rng.random((12, len(maths))), rng.random((2, len(symbols)))
        ends = np.array([(region.start, region.end) for region in maths], dtype=np.int64).reshape(-1, 2)
        signs = np.array([(one.start, one.options[-1][0]) for one in symbols], dtype=np.int64).reshape(-1, 2)

        def conversion(place: int) -> tuple[Edit, ...]:
            region = maths[place]
            return formulas.converted("formula_conversion", text, region.start, region.end, region.body)

        def spaces(place: int) -> tuple[Edit, ...]:
            return formulas.spaced("extraneous_elements", text, scans[place], spaced[1:, place].tolist())

        def symbol(place: int) -> tuple[Edit, ...]:
            return formulas.swapped("equivalent_symbols", text, symbols[place], float(swapped[1, place]))

        on = self.rules
        return [
            Units(converted, ends[:, 0], ends[:, 1], conversion, on.formula_conversion),
            Units(spaced[0], ends[:, 0], ends[:, 1], spaces, on.extraneous_elements),
            Units(swapped[0], signs[:, 0], signs[:, 1], symbol, on.equivalent_symbols),
        ]

    # --- tables ---------------------------------------------------------------------------------------------

    def _tables(self, text: str, found: Sequence[Region], rng: np.random.Generator) -> list[Units]:
        tables = [region for region in found if region.kind == "table"]
        grids = [list(tabulars(text, region.start, region.end)) for region in tables]
        inside = [span for region, grid in zip(tables, grids, strict=True) for span in cells.cells(text, region, grid)]
        lines = [line for grid in grids for one in grid for line in _lines(one, rng)]
        places = np.array([place for place, _ in lines], dtype=np.int64)
        draws, content = rng.random(len(lines)), rng.random((len(inside), 19))
        spans = np.array(inside, dtype=np.int64).reshape(-1, 2)

        def line(place: int) -> tuple[Edit, ...]:
            at, command = lines[place]
            space = "" if text[at : at + 1].isspace() else " "
            return (Edit("table_lines", at, at, f" {command}{space}"),)

        def cell(place: int) -> tuple[Edit, ...]:
            return cells.edited("cell_content", text, inside[place], content[place, 1:].tolist(), self.markdown)

        return [
            Units(draws, places, places, line, self.rules.table_lines),
            Units(content[:, 0], spans[:, 0], spans[:, 1], cell, self.rules.cell_content),
        ]


def _lines(table: Tabular, rng: np.random.Generator) -> list[tuple[int, str]]:
    """List what a tabular's lines could be: `\\hline` above each row without a rule, `\\cline` for each column."""
    rows = [(row.start, "\\hline") for row in table.rows if not row.ruled]
    columns = max((row.columns for row in table.rows), default=0)
    above = rng.integers(0, len(table.rows), columns).tolist() if columns else []
    below = [(table.rows[row].start, f"\\cline{{{number}-{number}}}") for number, row in enumerate(above, start=1)]
    return rows + below
