"""Spans that begin and end between two words, as `words` cuts a text: `2` of `1.2` and `bar` of `foo-bar` do not."""

import re

from ohr.contracts import Span

from .words import words

_HYPHENS = "-\u00ad\u2010"
_CUT_BEFORE = re.compile(rf"[{_HYPHENS}](?:\r\n?|\n)[ \t]*\Z")
_CUT_AFTER = re.compile(r"(?:\r\n?|\n)[ \t]*")
_INDENT = 80
"""Characters before a line's first word in which its hyphen is looked for."""


def whole_words(text: str, start: int, end: int) -> Span:
    """Return a span that is made longer until its words are words of the text; a command of LaTeX has its sign."""
    while _parts_word(text, start, 0) or text[max(start - 1, 0) : start] == "\\":
        start -= 1
    while _parts_word(text, end, start):
        end += 1
    return start, end


def _parts_word(text: str, place: int, begin: int) -> bool:
    """Report whether the words from `begin` to a place, and those after it, are others than those of both together."""
    first, last = max(_run_start(text, place), begin), _run_end(text, place)
    if not first < place < last:
        return False
    before, after = words(text[first:place]), words(text[place:last])
    return before + after != words(text[first:last])


def _run_start(text: str, place: int) -> int:
    """Return where the signs without white space before a place begin; a line's hyphen joins two lines."""
    while True:
        while place and not text[place - 1].isspace():
            place -= 1
        cut = _CUT_BEFORE.search(text[max(0, place - _INDENT) : place])
        if cut is None:
            return place
        place -= len(cut[0])


def _run_end(text: str, place: int) -> int:
    while True:
        while place < len(text) and not text[place].isspace():
            place += 1
        cut = _CUT_AFTER.match(text, place) if place and text[place - 1] in _HYPHENS else None
        if cut is None:
            return place
        place = cut.end()
