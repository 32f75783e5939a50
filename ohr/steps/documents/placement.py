"""Where text noise may touch a page: its questions' evidence, all but the evidence, or the questions' words."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from ohr.contracts import Question, Span, Where
from ohr.text.chinese import HAS_HAN
from ohr.text.unspaced import HAS_UNSPACED
from ohr.text.words import IN_WORD, normalise, searched_words, typed

_FOUND = 75.0
"""Least similarity (0 to 100) at which a passage of evidence counts as found on a page."""

_WORD = re.compile(rf"{IN_WORD}+(?:[.,'’-]{IN_WORD}+)*")


def eligible(where: Where, text: str, index: int, questions: Sequence[Question]) -> list[Span]:
    """Return the spans of a page's text that noise may touch, ascending and not overlapping.

    Args:
        where: the part that is wanted.
        text: the page as the noise finds it; after OCR the evidence is aligned with what was read.
        index: the page's index.
        questions: the questions about the page's document.
    """
    if where == "everywhere":
        return [(0, len(text))]
    asked = [question for question in questions if index in question.pages]
    if where == "query_terms":
        return _merged(_terms(text, asked), text)
    evidence = _merged((span for question in asked for span in _evidence(text, index, question)), text)
    return evidence if where == "evidence" else _rest(evidence, len(text))


def _evidence(text: str, index: int, question: Question) -> Iterable[Span]:
    paired = len(question.evidence) == len(question.pages)
    passages = [question.evidence[question.pages.index(index)]] if paired else question.evidence
    return (span for passage in passages for span in aligned(text, passage.strip()))


def aligned(text: str, passage: str) -> Iterable[Span]:
    """Find a passage in a text: verbatim, else the most similar stretch of each of its lines, to whole words."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    for part in [passage] if passage and passage in text else filter(None, map(str.strip, passage.split("\n"))):
        place = text.find(part)
        if place >= 0:
            yield place, place + len(part)
        elif len(part) > 3:  # shorter ones are similar to something everywhere
            found = partial_ratio_alignment(part, text, score_cutoff=_FOUND)
            if found is not None and found.dest_start < found.dest_end:
                yield _to_words(text, found.dest_start, found.dest_end)


def _to_words(text: str, start: int, end: int) -> Span:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _terms(text: str, questions: Sequence[Question]) -> Iterable[Span]:
    terms = {word for question in questions for word in searched_words(question.text)} - _stopwords()
    for match in _WORD.finditer(text):
        if normalise(typed(match[0])) in terms:
            yield match.span()
    for term in (
        term for term in terms if HAS_HAN.search(term) or HAS_UNSPACED.search(term)
    ):  # words without spaces between them
        yield from (match.span() for match in re.finditer(re.escape(term), text))


@cache
def _stopwords() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_CHINESE, STOPWORDS_EN_PLUS

    return frozenset(normalise(word) for word in (*STOPWORDS_EN_PLUS, *STOPWORDS_CHINESE))


def _merged(spans: Iterable[Span], text: str) -> list[Span]:
    """Join spans that overlap, or that only white space parts."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def _rest(spans: Sequence[Span], length: int) -> list[Span]:
    borders = [0, *(border for span in spans for border in span), length]
    return [(low, high) for low, high in zip(borders[::2], borders[1::2], strict=True) if low < high]
