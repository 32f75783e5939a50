"""Changes that reading made to a page, word by word, with the words of the evidence marked on both sides."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

Span = tuple[int, int]

MOST = 12_000
"""Characters of a page that are shown: what a reader can look at; a longer page is cut around the evidence."""

_FAITHFUL = 60.0
"""Similarity in percent, by rapidfuzz's partial ratio, from which a place on a page is taken for the evidence's."""
_LONGEST = 200_000
"""Characters of a page that are searched for evidence that is not on it word by word; the search is quadratic."""
_WORDS = 24
"""Characters of a word that a passage is extended by at most."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Words as they are written: a Chinese or Japanese character is one of its own."""
_GAP = re.compile(r"(\s+)")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SIGNS = re.compile(r"\W+")


class Side:
    """A text cut into words, each text once however often it is compared."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words, self.starts, self.ends = (
            _by_space(text) if text.isascii() or not _UNSPACED.search(text) else _by_sign(text)
        )

    def range(self, first: int, last: int) -> Span:
        """Return the characters of words [first, last); an empty range is where a word would be."""
        if first < last:
            return self.starts[first], self.ends[last - 1]
        at = self.starts[first] if first < len(self.starts) else len(self.text)
        return at, at


def _by_space(text: str) -> tuple[list[str], list[int], list[int]]:
    """Return the words, and where each starts and ends; four times as fast as one match for each word."""
    pieces = _GAP.split(text)
    ends = list(accumulate(map(len, pieces)))
    words = pieces[::2], [0, *ends[1::2]], ends[::2]
    first, last = int(not pieces[0]), len(words[0]) - int(not pieces[-1])
    return words[0][first:last], words[1][first:last], words[2][first:last]


def _by_sign(text: str) -> tuple[list[str], list[int], list[int]]:
    found = list(_WORD.finditer(text))
    return [match[0] for match in found], [match.start() for match in found], [match.end() for match in found]


def find(evidence: str, text: str) -> Span | None:
    """Find a passage on a page: word by word or, where it is not there, at the place that resembles it most."""
    from rapidfuzz import fuzz

    passage = evidence.strip()
    if not passage or not text:
        return None
    if (at := text.find(passage)) >= 0:
        return at, at + len(passage)
    found = fuzz.partial_ratio_alignment(passage[:MOST], text[:_LONGEST], score_cutoff=_FAITHFUL)
    if found is None or found.dest_start == found.dest_end:
        return None
    return _whole_words(text, found.dest_start, found.dest_end)


def _whole_words(text: str, start: int, end: int) -> Span:
    """Extend a part of a text to whole words, where these are not long runs without a space."""
    before, after = text[max(start - _WORDS, 0) : start], text[end : end + _WORDS]
    head, tail = before.split()[-1:], after.split()[:1]
    if text[start : start + 1].strip() and before[-1:].strip() and head and len(head[0]) < _WORDS:
        start -= len(head[0])
    if text[end - 1 : end].strip() and after[:1].strip() and tail and len(tail[0]) < _WORDS:
        end += len(tail[0])
    return start, end


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
        self._starts, self._ends = [block[1] for block in self._blocks], [block[2] for block in self._blocks]

    def changes(self) -> list[int]:
        """List the changes, five numbers for each, as `changes_of` reads them."""
        truth, read, here, there = self.truth, self.read, 0, 0
        starts, firsts = [*truth.starts, len(truth.text)], [*read.starts, len(read.text)]
        found: list[int] = []
        for tag, a, b, c, d in self._blocks:
            if tag == "equal":
                continue
            start, first = starts[a], firsts[c]
            end, last = truth.ends[b - 1] if a < b else start, read.ends[d - 1] if c < d else first
            same = _bare(truth.words[a:b]) == _bare(read.words[c:d])
            found += (start - here, end - start, first - there, last - first, int(same))
            here, there = end, last
        return found

    def kept(self, evidence: Sequence[Span]) -> list[Span]:
        """Map parts of the truth onto what was read."""
        found = []
        for start, end in evidence:
            first, last = bisect_right(self.truth.ends, start), bisect_left(self.truth.starts, end)
            after = self._blocks[bisect_right(self._ends, first) : bisect_left(self._starts, last)]
            here = [_clipped(block, first, last) for block in after]
            if here and here[0][0] < here[-1][1]:
                found.append(self.read.range(here[0][0], here[-1][1]))
        return found


def changes_of(numbers: Sequence[int]) -> Iterator[tuple[int, int, int, int, bool]]:
    """Yield (start, end, start, end, same): a part of the truth, and what became of it.

    `same`: the words are equal but for case, punctuation and white space, which the metrics do not see.

    Args:
        numbers: for each change the distance from the last one and the length, in the truth and then in what was
            read, and whether it is the same: short numbers, since a large report has millions.
    """
    here = there = 0
    for gap, length, space, size, same in zip(*[iter(numbers)] * 5, strict=True):
        start, first = here + gap, there + space
        here, there = start + length, first + size
        yield start, here, first, there, bool(same)


def _bare(words: Sequence[str]) -> str:
    return "".join(map(_bare_word, words))


@lru_cache(maxsize=1 << 16)
def _bare_word(word: str) -> str:
    return _SIGNS.sub("", word).lower()


def _clipped(block: Sequence[Any], first: int, last: int) -> Span:
    """Return the read words of the part of a block that belongs to the truth's words [first, last)."""
    tag, a, b, c, d = block
    return (max(a, first) + c - a, min(b, last) + c - a) if tag == "equal" else (c, d)
