"""Formatting noise (OHRBench, III.1): notation around the words changes, the words do not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import Edit, NoisyText, Span, TextNoise
from ohr.markup.regions import Region, doubtful_from, regions
from ohr.markup.tabular import Tabular, tabulars
from ohr.text import edits

# functions are renamed where a module had their name: importing it by that (`ohr.moved`) would take their place
from . import formulas, prose
from .page_words import words_of
from .prose import commented
from .prose import comments as comments_of
from .units import LATEX, MARKDOWN, Flags, Floats, Places, Units, edited, thresholds, touched
from .units import cells as cells_of

Weight = Annotated[float, Field(ge=0, le=1)]

STYLES = ("bold", "italic", "underline")
_MARKDOWN_TITLES = (("\n# ", "\n"), ("\n## ", "\n"), ("\n### ", "\n"))
_LATEX_TITLES = (("\\section{", "}"), ("\\subsection{", "}"), ("\\subsubsection{", "}"))
_RULES = (*STYLES, *STYLES, *("title",) * 6)
_BEGINNINGS, _ENDS = zip(*LATEX, *MARKDOWN, *_LATEX_TITLES, *_MARKDOWN_TITLES, strict=True)
"""Of three styles in LaTeX and in Markdown, then three levels of titles in both."""


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


@dataclass(frozen=True)
class _Page:
    """A text, its regions, and what would be comments in it."""

    text: str
    regions: list[Region]
    comments: Places

    @cached_property
    def _doubtful(self) -> int:
        return doubtful_from(self.text, self.regions)

    def fragile(self, spans: Places) -> Flags:
        """Flag the (k, 2) spans in which no formula may change its delimiters, and no edit may be in two lines."""
        starts, ends = spans.T
        flags: Flags = commented(self.comments, starts, ends) | (starts >= self._doubtful)
        return flags


class Formatting(TextNoise, kind="formatting"):
    """Changes notation only: styles, titles, line breaks, formulas' form and symbols, lines and cells of tables.

    Each rule touches each of its units with probability `rate`; the paper's levels are 0.1, 0.3 and 0.6. All draws are
    made before any edit, and from the whole page, so that the edits at a lower rate are a subset of those at a higher
    one, whatever rules are on.
    """

    version: ClassVar[int] = 6
    packages: ClassVar[tuple[str, ...]] = ("pylatexenc", "rjieba")
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
        page = _Page(text, regions(text), comments_of(text))
        units = [*self._prose(page, rng), *self._formulas(page, rng), *self._tables(page, rng)]
        return edits.apply(text, touched(units, self.rate, eligible, len(text)))

    # --- plain text -----------------------------------------------------------------------------------------

    def _prose(self, page: _Page, rng: np.random.Generator) -> list[Units]:
        text, words = page.text, words_of(page.text, page.regions)
        runs = prose.runs(words, rng.integers(2, 6, len(words.starts) // 2 + 1))
        short = prose.short_sentences(text, words, page.comments)
        gaps = prose.gaps(words, short, page.comments)
        styles, titles, breaks = rng.random((3, len(runs))), rng.random((3, len(short))), rng.random(len(gaps))
        wrapped = np.concatenate((runs, short))
        marks = np.concatenate(
            (
                self._styles(styles[2]) + 3 * (styles[1] < self.markdown),
                6 + (titles[2] * 3).astype(np.int64) + 3 * (titles[1] < self.markdown),
            )
        )

        def begin(places: list[int]) -> list[Edit]:
            chosen, starts = marks[places].tolist(), wrapped[places, 0].tolist()
            return _made(map(_RULES.__getitem__, chosen), starts, starts, map(_BEGINNINGS.__getitem__, chosen))

        def end(places: list[int]) -> list[Edit]:
            chosen, ends = marks[places].tolist(), wrapped[places, 1].tolist()
            return _made(map(_RULES.__getitem__, chosen), ends, ends, map(_ENDS.__getitem__, chosen))

        def break_lines(places: list[int]) -> list[Edit]:
            starts, ends = gaps[places].T.tolist()
            removed = [text[start:end] for start, end in zip(starts, ends, strict=True)]
            return _made(repeat("paragraph"), starts, ends, repeat("\n"), removed)

        on = self.rules
        at = np.concatenate(
            (thresholds(styles[0], max(on.bold, on.italic, on.underline)), thresholds(titles[0], on.title))
        )
        return [
            Units(thresholds(breaks, on.paragraph), gaps[:, 0], gaps[:, 1], break_lines),
            Units(at, wrapped[:, 0], wrapped[:, 1], begin, end, whole=True),
        ]

    def _styles(self, draws: Floats) -> Places:
        """Choose each run's style, in the ratio of the styles' weights: its place in STYLES."""
        weights = np.array([self.rules.bold, self.rules.italic, self.rules.underline])
        on = weights.nonzero()[0]
        if not len(on):
            return np.zeros(len(draws), dtype=np.int64)
        sums = np.cumsum(weights[on])
        chosen: Places = on[np.minimum(np.searchsorted(sums, draws * sums[-1], side="right"), len(on) - 1)]
        return chosen

    # --- formulas -------------------------------------------------------------------------------------------

    def _formulas(self, page: _Page, rng: np.random.Generator) -> list[Units]:
        text = page.text
        maths = [region for region in page.regions if region.kind in ("inline_formula", "block_formula")]
        if not maths:
            return []
        symbols = [(one.body[0], symbol) for one in maths for symbol in formulas.scan(text[slice(*one.body)]).symbols]
        converted, spaced, swapped = rng.random(len(maths)), rng.random((12, len(maths))), rng.random((2, len(symbols)))
        ends = np.array([(region.start, region.end) for region in maths], dtype=np.int64)
        signs = np.array([(at + one.start, at + one.options[-1][0]) for at, one in symbols], dtype=np.int64).reshape(
            -1, 2
        )
        converted[page.fragile(ends)] = np.inf

        def convert(places: list[int]) -> list[Edit]:
            chosen = (maths[place] for place in places)
            return _joined(
                formulas.converted("formula_conversion", text, one.start, one.end, one.body) for one in chosen
            )

        def space(places: list[int]) -> list[Edit]:
            draws = zip(places, spaced[1:, places].T.tolist(), strict=True)
            return _joined(
                formulas.spaced("extraneous_elements", text, maths[place].body, drawn) for place, drawn in draws
            )

        def swap(places: list[int]) -> list[Edit]:
            draws = zip(places, swapped[1, places].tolist(), strict=True)
            return _joined(
                formulas.swapped("equivalent_symbols", text, *symbols[place], drawn) for place, drawn in draws
            )

        on = self.rules
        return [
            Units(thresholds(converted, on.formula_conversion), ends[:, 0], ends[:, 1], convert),
            Units(thresholds(spaced[0], on.extraneous_elements), ends[:, 0], ends[:, 1], space),
            Units(thresholds(swapped[0], on.equivalent_symbols), signs[:, 0], signs[:, 1], swap),
        ]

    # --- tables ---------------------------------------------------------------------------------------------

    def _tables(self, page: _Page, rng: np.random.Generator) -> list[Units]:
        text, tables = page.text, [region for region in page.regions if region.kind == "table"]
        if not tables:
            return []
        grids = [list(tabulars(text, region.start, region.end)) for region in tables]
        inside = [span for region, grid in zip(tables, grids, strict=True) for span in cells_of(text, region, grid)]
        lines = [line for grid in grids for one in grid for line in _lines(one, rng)]
        places = np.array([place for place, _ in lines], dtype=np.int64)
        draws, content = rng.random(len(lines)), rng.random((len(inside), 19))
        spans = np.array(inside, dtype=np.int64).reshape(-1, 2)
        fragile = page.fragile(spans)

        def rule_off(chosen: list[int]) -> list[Edit]:
            made = []
            for at, command in (lines[place] for place in chosen):
                space = "" if text[at : at + 1].isspace() else " "
                made.append(Edit("table_lines", at, at, f" {command}{space}"))
            return made

        def edit_cells(chosen: list[int]) -> list[Edit]:
            drawn = zip(chosen, content[chosen, 1:].tolist(), fragile[chosen].tolist(), strict=True)
            return _joined(
                edited("cell_content", text, inside[place], one, self.markdown, of_line=within)
                for place, one, within in drawn
            )

        on = self.rules
        return [
            Units(thresholds(draws, on.table_lines), places, places, rule_off),
            Units(thresholds(content[:, 0], on.cell_content), spans[:, 0], spans[:, 1], edit_cells),
        ]


def _made(
    rules: Iterable[str], starts: list[int], ends: list[int], texts: Iterable[str], removed: Iterable[str] = repeat("")
) -> list[Edit]:
    rows = zip(rules, starts, ends, texts, removed, strict=False)
    return list(map(tuple.__new__, repeat(Edit), rows))  # as `Edit(...)`, in a quarter of the time: there are hundreds


def _joined(made: Iterable[tuple[Edit, ...]]) -> list[Edit]:
    return list(chain.from_iterable(made))


def _lines(table: Tabular, rng: np.random.Generator) -> list[tuple[int, str]]:
    """List what a tabular's lines could be: `\\hline` above each row without a rule, `\\cline` for each column."""
    rows = [(row.start, "\\hline") for row in table.rows if not row.ruled]
    columns = max((row.columns for row in table.rows), default=0)
    above = rng.integers(0, len(table.rows), columns).tolist() if columns else []
    below = [(table.rows[row].start, f"\\cline{{{number}-{number}}}") for number, row in enumerate(above, start=1)]
    return rows + below
