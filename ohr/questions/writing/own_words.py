"""Finds the words of a passage that a model quotes, though it left out markup, changed signs, or shortened them."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from ohr.contracts import Page, Span
from ohr.questions.candidate import Evidence
from ohr.questions.numbers import numbers
from ohr.questions.texts import Texts, letters
from ohr.questions.writing.assignment import Passage
from ohr.text.sentences import sentence_spans

_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\{\|?[lcrp|]{1,40}\})?|</?[A-Za-z][^<>\n]{0,200}>")
_ELLIPSIS = re.compile(r"\s*(?:\.{3,}|…+|\[\.\.\.\])\s*")
_CELL = re.compile(r"[&|]|</t[dh]>")
_DOCUMENT = "passage"
_SIMILAR = 80
"""Percent of equal letters (rapidfuzz's `partial_ratio`) from which on a quote is a sentence with a few other words."""
_SHORTEST = 20
"""Letters of a quote that is compared so: shorter ones resemble much."""


def _masked(text: str) -> str:
    """Return a text with spaces in place of commands and tags: each character keeps its place."""
    return _COMMAND.sub(lambda match: " " * len(match[0]), text)


def _with_answer(text: str, span: Span, answer: str) -> Span:
    """Return the shortest of a span, its sentence and its row that has an answer; the span itself where none has."""
    start, end = span
    line = text.rfind("\n", 0, start) + 1, (text.find("\n", end) + 1 or len(text) + 1) - 1
    around = [(first, last) for first, last in sentence_spans(text) if first <= start and end <= last]
    around += [line] if _CELL.search(text[slice(*line)]) else []
    wider = [(first, first + len(text[first:last].rstrip())) for first, last in around]
    holding = [each for each in (span, *wider) if answer in letters(text[slice(*each)]).text]
    return min(holding, key=lambda each: each[1] - each[0], default=span)


class Quotes:
    """Looks for quotes in the passages of a prompt."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        pages = [Page(_DOCUMENT, 2 * at, passage.text) for at, passage in enumerate(passages)]
        masked = [Page(_DOCUMENT, 2 * at + 1, _masked(passage.text)) for at, passage in enumerate(passages)]
        self._texts = Texts({_DOCUMENT: [*pages, *masked]})

    def evidence(self, quote: str, answer: str = "") -> Evidence:
        """Return the passage's own words, with their characters of the page.

        White space, punctuation, case and markup may differ; an ellipsis may replace words. A quote
        with a few other words, but no other numbers, becomes the sentences that resemble it. A quote without the
        answer becomes its sentence or its row of a table, if that has it. Where no passage has the words, the quote
        stays as it is, with the page of the first passage and no characters.
        """
        for find in (self._span, self._resembling):
            for at, passage in enumerate(self._passages):
                if span := find(at, quote):
                    start, end = _with_answer(passage.text, span, letters(answer).text)
                    return Evidence(passage.page, passage.text[start:end], passage.start + start, passage.start + end)
        return Evidence(self._passages[0].page if self._passages else -1, quote)

    def _span(self, at: int, quote: str) -> Span | None:
        direct = self._texts.span(_DOCUMENT, 2 * at, quote)
        if span := direct or self._texts.span(_DOCUMENT, 2 * at + 1, _masked(quote)):
            return span
        parts = list(filter(None, _ELLIPSIS.split(quote)))
        if len(parts) < 2:
            return None
        sides = [self._span(at, part) for part in parts]
        ordered = [side for side in sides if side]
        if len(ordered) < len(sides) or ordered != sorted(ordered):
            return None
        return ordered[0][0], ordered[-1][1]

    def _resembling(self, at: int, quote: str) -> Span | None:
        """Return the sentences that resemble a quote, if they have its numbers."""
        text, asked = self._passages[at].text, letters(quote).text
        held = letters(text)
        if len(asked) < _SHORTEST or len(held.text) < len(asked):
            return None
        match = fuzz.partial_ratio_alignment(asked, held.text, score_cutoff=_SIMILAR)
        if match is None or match.dest_start >= match.dest_end:
            return None
        first, last = held.places[match.dest_start], held.places[match.dest_end - 1]
        touched = [(start, end) for start, end in sentence_spans(text) if start <= last and first < end]
        start, end = touched[0][0], touched[0][0] + len(text[touched[0][0] : touched[-1][1]].rstrip())
        return (start, end) if numbers(quote) <= numbers(text[start:end]) else None
