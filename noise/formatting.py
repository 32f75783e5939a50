"""Formatting noise (OHRBench, III.1): style commands, new titles and line breaks that leave the words alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import edits
from ohr.contracts import Edit, NoisyText, Span, TextNoise
from ohr.sentences import sentence_spans

from .markup import regions

Rule = Literal["style", "title", "paragraph"]

_MARKDOWN = (("**", "**"), ("*", "*"), ("_", "_"))
_LATEX = (("\\textbf{", "}"), ("\\textit{", "}"), ("\\underline{", "}"))
_MARKDOWN_TITLES = (("\n# ", "\n"), ("\n## ", "\n"), ("\n### ", "\n"))
_LATEX_TITLES = (("\\section{", "}"), ("\\subsection{", "}"), ("\\subsubsection{", "}"))
_WORD = re.compile(r"\S+")
_FRAGILE = re.compile(r"[\\{}$&%<>#*_|^~]|^[-+>]$|^\d+[.)]$")
"""A word with markup of its own, or a list's mark: wrapping it could leave the text unparsable."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Something a rule may do: its draw `u`, the characters it needs for itself, and its edits."""

    u: float
    span: Span
    changes: tuple[Edit, ...]


class Formatting(TextNoise):
    """Wraps runs of 2 to 5 words in bold, italic or underline, makes short sentences titles, and breaks lines.

    Each rule touches each of its units with probability `rate`; the paper's levels are 0.1, 0.3 and 0.6. Formulas,
    tables and charts are left alone. All draws are made before any edit, so that the edits at a lower rate are a subset
    of those at a higher one.
    """

    kind: Literal["formatting"] = "formatting"
    noise_type: ClassVar[Literal["semantic", "formatting"]] = "formatting"
    rules: Annotated[tuple[Rule, ...], Field(min_length=1, description="What is done to plain text.")] = (
        "style",
        "title",
        "paragraph",
    )
    markdown: Annotated[float, Field(ge=0, le=1, description="Share of Markdown styles; the rest is LaTeX.")] = 0.5

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Edit a text within the eligible spans."""
        seeds = {rule: rng.spawn(1)[0] for rule in ("style", "title", "paragraph")}
        plain = list(_plain(text, eligible))
        short = [span for line in plain for span in _short_sentences(text, line)] if "title" in self.rules else []
        units = self._titles(short, seeds["title"])
        if "style" in self.rules:
            units += self._styles(text, plain, seeds["style"])
        accepted: list[_Unit] = []
        busy = np.zeros(len(text) + 1, dtype=bool)
        for unit in sorted(units, key=lambda unit: unit.u):
            start, end = unit.span
            if not busy[start:end].any():
                busy[start:end] = True
                accepted.append(unit)
        # in the order of their places, so that a unit's end stands before its neighbour's beginning
        taken = [edit for unit in sorted(accepted, key=lambda unit: unit.span) for edit in unit.changes]
        if "paragraph" in self.rules:
            taken += self._breaks(text, plain, short, seeds["paragraph"])
        return edits.apply(text, taken)

    def _styles(self, text: str, plain: Sequence[Span], rng: np.random.Generator) -> list[_Unit]:
        runs = [run for span in plain for run in _runs(text, span, rng)]
        draws, notations, styles = rng.random(len(runs)), rng.random(len(runs)), rng.integers(0, 3, len(runs))
        units = []
        for place in np.flatnonzero(draws < self.rate).tolist():
            start, end = runs[place]
            if any(_FRAGILE.search(word) for word in text[start:end].split()):
                continue
            before, after = (_MARKDOWN if notations[place] < self.markdown else _LATEX)[styles[place]]
            changes = (Edit("style", start, start, before), Edit("style", end, end, after))
            units.append(_Unit(float(draws[place]), (start, end), changes))
        return units

    def _titles(self, short: Sequence[Span], rng: np.random.Generator) -> list[_Unit]:
        draws, notations, levels = rng.random(len(short)), rng.random(len(short)), rng.integers(0, 3, len(short))
        units = []
        for place in np.flatnonzero(draws < self.rate).tolist():
            start, end = short[place]
            before, after = (_MARKDOWN_TITLES if notations[place] < self.markdown else _LATEX_TITLES)[levels[place]]
            changes = (Edit("title", start, start, before), Edit("title", end, end, after))
            units.append(_Unit(float(draws[place]), (start, end), changes))
        return units

    def _breaks(self, text: str, plain: Sequence[Span], short: Sequence[Span], rng: np.random.Generator) -> list[Edit]:
        """Break lines at word gaps; a sentence that may become a title is never broken, at any rate."""
        whole = np.zeros(len(text), dtype=bool)
        for start, end in short:
            whole[start:end] = True
        gaps = [gap for span in plain for gap in _gaps(text, span) if not whole[gap[0]]]
        draws = rng.random(len(gaps))
        picked = (gaps[place] for place in np.flatnonzero(draws < self.rate))
        return [Edit("paragraph", start, end, "\n", text[start:end]) for start, end in picked]


def _plain(text: str, eligible: Sequence[Span]) -> Iterator[Span]:
    """Give the lines of plain text within the eligible spans; headings are left alone."""
    for region in regions(text):
        if region.kind != "text":
            continue
        for line in re.finditer(r"[^\n]+", text[region.start : region.end]):
            if line[0].lstrip().startswith("#"):
                continue
            start, end = region.start + line.start(), region.start + line.end()
            for low, high in eligible:
                if max(start, low) < min(end, high):
                    yield max(start, low), min(end, high)


def _runs(text: str, span: Span, rng: np.random.Generator) -> Iterator[Span]:
    """Divide a line into runs of 2 to 5 words; what is left over at its end is no run."""
    words = [match.span() for match in _WORD.finditer(text, *span)]
    lengths = rng.integers(2, 6, len(words) // 2)
    place = 0
    for length in lengths:
        if place + length > len(words):
            return
        yield words[place][0], words[place + length - 1][1]
        place += int(length)


def _short_sentences(text: str, span: Span) -> Iterator[Span]:
    """Find sentences of at most five words that end in a full stop."""
    for low, high in sentence_spans(text[slice(*span)]):
        sentence = text[span[0] + low : span[0] + high]
        stripped = sentence.strip()
        if stripped.endswith((".", "。")) and len(stripped.split()) <= 5 and not _FRAGILE.search(stripped):
            start = span[0] + low + len(sentence) - len(sentence.lstrip())
            if text[:start].rstrip(" \t")[-1:] in ("", "\n", ".", "!", "?", "。"):  # not the rest after a formula
                yield start, start + len(stripped)


def _gaps(text: str, span: Span) -> Iterator[Span]:
    """Find the white space between the words of a line."""
    words = [match.span() for match in _WORD.finditer(text, *span)]
    for (_, end), (start, _) in pairwise(words):
        yield end, start
