"""Places of one version of a text in another version of it, from an alignment of their words."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from ohr.contracts import Span

from .chinese import HAN

Numbers = NDArray[Any]
"""Array of numbers."""

_WORD = re.compile(f"[{HAN}]|[^\\s{HAN}]+")
_LINE = re.compile(r"\S[^\n]*")
_MOST = 10**11
"""Pairs of words above which lines are aligned in place of words. Two texts of 1 MB have 3 * 10^10, which take ten
seconds; the time grows with the pairs, the memory does not."""


class Alignment:
    """Maps character spans of a text to another version of it, such as a page to what an OCR engine read of it.

    Words are aligned at the least number of insertions, deletions and replacements (a Chinese character counts as a
    word). A place in a word goes to the same place of its counterpart; a place between two words that have one goes
    between their counterparts. The map never falls: spans that follow each other still do, and cover the same text.

    Args:
        text: the version that spans refer to.
        other: the version that they are mapped to.
    """

    def __init__(self, text: str, other: str) -> None:
        self.text, self.other = text, other
        self._first, self._last = len(text) - len(text.lstrip()), len(text.rstrip())

    def span(self, start: int, end: int) -> Span:
        """Return the span of the other text at which [start, end) of the text is.

        What precedes the first word belongs to the span that has this word, as does what follows the last one: the
        span of all words is the whole other text.
        """
        if self.text == self.other:
            return start, end
        return (self._place(start), self._place(end)) if self._last else (0, len(self.other))

    def _place(self, place: int) -> int:
        """Map one place; one that falls into a word without a counterpart goes to the nearer end of it."""
        if place <= self._first or place >= self._last:
            return 0 if place <= self._first else len(self.other)
        here, there, words, paired = self._aligned
        found = round(float(np.interp(place, here, there)))
        word = int(np.searchsorted(words[:, 0], found, side="right")) - 1
        if word < 0 or paired[word] or found >= words[word, 1]:
            return found
        start, end = words[word].tolist()
        return int(start if found - start <= end - found else end)

    @cached_property
    def _aligned(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Places of the text, their counterparts, (n, 2) spans of the other text's words, and which have a partner."""
        mine, theirs = _spans(_WORD, self.text), _spans(_WORD, self.other)
        if len(mine) * len(theirs) > _MOST:
            mine, theirs = _spans(_LINE, self.text), _spans(_LINE, self.other)
        words, others = [self.text[a:b] for a, b in mine], [self.other[a:b] for a, b in theirs]
        pairs = _numbers(list(_pairs(words, others)))
        spans = _numbers(theirs)
        here = np.concatenate([[0], _numbers(mine)[pairs[:, 0]].reshape(-1), [len(self.text)]])
        there = np.concatenate([[0], spans[pairs[:, 1]].reshape(-1), [len(self.other)]])
        return here, there, spans, np.isin(np.arange(len(spans)), pairs[:, 1])


def _numbers(pairs: Sequence[tuple[int, int]]) -> Numbers:
    return np.array(pairs, dtype=int).reshape(-1, 2)


def _spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    return [match.span() for match in pattern.finditer(text)]


def _pairs(words: Sequence[str], others: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that are aligned with each other, equal or not."""
    for block in Levenshtein.opcodes(words, others):
        if block.tag in ("equal", "replace"):  # both sides of a replacement are of one length
            yield from zip(range(block.src_start, block.src_end), range(block.dest_start, block.dest_end), strict=True)
