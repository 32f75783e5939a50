"""Sentence spans of a page's text, shared by chunkers and generators."""

import re

from ohr.contracts import Span

_END = re.compile(
    r"[.!?\n。！？；।॥؟۔။។]"  # what comes first is looked at first: an expression that begins with a set is found fast
    r"(?:(?<=[.!?])(?<![.!?][.!?])[.!?]*+[\"')\]]*(?=\s)|(?<=[。！？；।॥؟۔။។])[。！？；।॥؟۔။។]*[”’」』）]*|(?<=\n)\s*\n)\s*"
)
_BLANK_LINE = re.compile(r"\n\s*\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|No|Nos|Mr|Mrs|Ms|Dr|St|Art|Fig|Eq|Sec|vs|etc|cf|e\.g|i\.e|approx|para|p|pp))\.$"
)
_LONGEST = 8  # characters of an abbreviation, so that a text full of them is still read once


def sentence_spans(text: str) -> list[Span]:
    """Cut a text into sentences that together cover all of it; trailing white space stays with its sentence.

    A blank line ends a sentence too, so headings and tables are sentences of their own.
    """
    spans, start = [], 0
    for match in _END.finditer(text):
        if (
            match[0].startswith(".")
            and not _BLANK_LINE.search(match[0])
            and _ABBREVIATION.search(text, max(start, match.start() - _LONGEST), match.start() + 1)
        ):
            continue
        if text[start : match.end()].strip():
            spans.append((start, match.end()))
            start = match.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans
