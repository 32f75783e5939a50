"""Changes that reading made to a page, word by word, with the words of the evidence marked on both sides."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

Span = tuple[int, int]

MOST = 12_000
"""Characters of a page that are shown: what a reader can look at; a longer page is cut around the evidence."""

_FAITHFUL = 60.0
"""Similarity in percent, by rapidfuzz's partial ratio, from which a place on a page is taken for the evidence's."""
_LONGEST = 200_000
"""Characters of a page that are searched for evidence that is not on it word by word; the search is quadratic."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Words as they are written: a Chinese or Japanese character is one of its own."""
_SIGNS = re.compile(r"\W+")


class Side:
    """A text cut into words, each text once however often it is compared."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans = [match.span() for match in _WORD.finditer(text)]
        self.words = [text[start:end] for start, end in self.spans]
        self.starts, self.ends = [span[0] for span in self.spans], [span[1] for span in self.spans]

    def range(self, first: int, last: int) -> Span:
        """Return the characters of words [first, last); an empty range is where a word would be."""
        if first < last:
            return self.spans[first][0], self.spans[last - 1][1]
        at = self.spans[first][0] if first < len(self.spans) else len(self.text)
        return at, at


def find(evidence: str, text: str) -> Span | None:
    """Find a passage on a page: word by word or, where it is not there, at the place that resembles it most."""
    from rapidfuzz import fuzz

    passage = evidence.strip()
    if not passage or not text:
        return None
    if (at := text.find(passage)) >= 0:
        return at, at + len(passage)
    found = fuzz.partial_ratio_alignment(passage[:MOST], text[:_LONGEST], score_cutoff=_FAITHFUL)
    return None if found is None or found.dest_start == found.dest_end else (found.dest_start, found.dest_end)


def window(text: str, about: Sequence[Span]) -> Span:
    """Choose the part of a long text that is shown: around the first passage, else from the beginning."""
    if len(text) <= MOST:
        return 0, len(text)
    start = max(0, min(min((span[0] for span in about), default=0) - MOST // 4, len(text) - MOST))
    return start, start + MOST


class Comparison:
    """Two texts of one page, compared once whatever is asked of them; offsets are characters (code points).

    Args:
        truth: the page without noise.
        read: as a knowledge base holds it.
    """

    def __init__(self, truth: Side, read: Side) -> None:
        from rapidfuzz.distance import Levenshtein

        self.truth, self.read = truth, read
        self._blocks: list[Any] = Levenshtein.opcodes(truth.words, read.words).as_list()

    def changes(self) -> list[tuple[int, int, int, int, bool]]:
        """List (start, end, start, end, same): a part of the truth, and what became of it.

        `same`: the words are equal but for case, punctuation and white space, which the metrics do not see.
        """
        truth, read = self.truth, self.read
        return [
            (*truth.range(a, b), *read.range(c, d), _bare(truth.words[a:b]) == _bare(read.words[c:d]))
            for tag, a, b, c, d in self._blocks
            if tag != "equal"
        ]

    def kept(self, evidence: Sequence[Span]) -> list[Span]:
        """Map parts of the truth onto what was read."""
        found = []
        for start, end in evidence:
            first, last = bisect_right(self.truth.ends, start), bisect_left(self.truth.starts, end)
            here = [_clipped(block, first, last) for block in self._blocks if block[1] < last and block[2] > first]
            if here and here[0][0] < here[-1][1]:
                found.append(self.read.range(here[0][0], here[-1][1]))
        return found


def _bare(words: Sequence[str]) -> str:
    return _SIGNS.sub("", "".join(words)).lower()


def _clipped(block: Sequence[Any], first: int, last: int) -> Span:
    """Return the read words of the part of a block that belongs to the truth's words [first, last)."""
    tag, a, b, c, d = block
    return (max(a, first) + c - a, min(b, last) + c - a) if tag == "equal" else (c, d)
