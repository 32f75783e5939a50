"""Where on its pages the answer of a question is: the sentence, line or table row that would be its evidence."""

import re
from collections.abc import Iterator, Sequence

from ohr.contracts import Question, Span
from ohr.text.sentences import sentence_spans
from ohr.text.words import words

_TOKEN = re.compile(r"\S+")
_LONGEST = 40  # words of a sentence that is proposed as a whole; what is longer is most often no prose
_FULL = 0.7  # of the longest line: lines of prose that continue are about as long, rows of a table are not
_VERDICTS = ({"yes"}, {"no"}, {"true"}, {"false"})
"""Answers that are about a passage, and not in it."""


def evidence_places(question: Question, pages: Sequence[str]) -> list[str]:
    """Return the passages of the pages that hold an accepted answer; several make its place ambiguous.

    A passage is the sentence around the answer where the text is prose, else the line or lines that hold the answer,
    which in a table is a row. White space in it is single spaces.
    """
    answers = [found for answer in question.answers if (found := words(answer)) and set(found) not in _VERDICTS]
    return [" ".join(page[start:end].split()) for page in pages for start, end in _merged(page, answers)]


def _merged(page: str, answers: Sequence[Sequence[str]]) -> list[Span]:
    """Return the passages of one page in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in sorted(_passage(page, *span) for answer in answers for span in _spans(page, answer)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _spans(page: str, answer: Sequence[str]) -> Iterator[Span]:
    """Yield where the words of an answer follow each other."""
    tokens = [(word, token.span()) for token in _TOKEN.finditer(page) for word in words(token[0])]
    size, plain = len(answer), [word for word, _ in tokens]
    for at in range(len(tokens) - size + 1):
        if tuple(plain[at : at + size]) == tuple(answer):
            yield tokens[at][1][0], tokens[at + size - 1][1][1]


def _passage(page: str, start: int, end: int) -> Span:
    sentence = next(((s, e) for s, e in sentence_spans(page) if s <= start and end <= e), None)
    if sentence and _is_prose(page, *sentence):
        return sentence
    stop = page.find("\n", end)
    return page.rfind("\n", 0, start) + 1, len(page) if stop < 0 else stop


def _is_prose(page: str, start: int, end: int) -> bool:
    """Report whether a span is a sentence that runs on from line to line."""
    text = page[start:end].rstrip()
    first = page.rfind("\n", 0, start) + 1  # the sentence may begin within a line
    lines = page[first : start + len(text)].split("\n")
    full = _FULL * max(map(len, page.split("\n")))
    ends = text.endswith((".", "!", "?", "。", "！", "？", '."', ".”"))
    return ends and len(text.split()) <= _LONGEST and all(len(line) >= full for line in lines[:-1])
