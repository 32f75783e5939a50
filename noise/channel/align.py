"""Aligns what an engine read with the truth, word by word."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from ohr.text.words import normalise

from .page_model import Flags, Ints, PageWords, read

_SIMILAR = 0.5
"""Least similarity of a run's letters and of what was read for it to call it misread: half of them are right."""

_MOVED = 0.8
"""Least share of a run's words that are found together elsewhere to call it moved: an engine that reads a run in
another place misreads some of it."""

_FEWEST_MOVED = 4
"""Words of a run that may be called moved: fewer are found elsewhere by chance."""

_COMPARED = 2000
"""Characters of a run that are compared; Levenshtein's time is quadratic."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Counted words [first, last) of the truth for which `read` was read."""

    first: int
    last: int
    read: tuple[str, ...]
    operation: str


@dataclass(frozen=True, slots=True)
class Aligned:
    """A page of truth, which of its counted words are lost, (counted,), and how."""

    document: str
    page: PageWords
    lost: Flags
    differences: tuple[Difference, ...]

    @property
    def tokens(self) -> list[str]:
        """The counted words as they are written."""
        page = self.page
        start, end = page.start[page.counted].tolist(), page.end[page.counted].tolist()
        return [page.text[low:high] for low, high in zip(start, end, strict=True)]


@lru_cache(maxsize=200_000)
def _normal(token: str) -> tuple[str, ...]:
    return tuple(normalise(token).split())


def align(document: str, truth: str, text: str) -> Aligned:
    """Find the words of the truth that are not in the longest common subsequence with what was read.

    Words are normalised as in the published scores, so that a word is lost here where it is lost there.
    """
    page = read(truth)
    words, raw = truth.split(), text.split()
    wanted, owner = _words([words[place] for place in page.counted.tolist()])
    found, source = _words(raw)
    lost = np.zeros(len(page.counted), dtype=bool)
    lost[owner] = True
    gaps: list[tuple[int, int, int, int]] = []
    at = place = 0
    for block in LCSseq.opcodes(wanted, found) if wanted else ():
        if block.tag == "equal":
            gaps.append((at, block.src_start, place, block.dest_start))
            at, place = block.src_end, block.dest_end
            lost[owner[block.src_start : block.src_end]] = False
    gaps.append((at, len(wanted), place, len(found)))
    spare = Counter(word for _, _, low, high in gaps for word in found[low:high])
    differences = []
    for first, last, low, high in gaps:
        if last > first:
            there = tuple(raw[number] for number in dict.fromkeys(source[low:high].tolist()))
            operation = _operation(wanted[first:last], found[low:high], spare)
            differences.append(Difference(int(owner[first]), int(owner[last - 1]) + 1, there, operation))
    return Aligned(document, page, lost, tuple(differences))


def _words(tokens: Iterable[str]) -> tuple[list[str], Ints]:
    """Return the normalised words of tokens, and the number of the token that each comes from."""
    found = [(word, place) for place, token in enumerate(tokens) for word in _normal(token)]
    return [word for word, _ in found], np.array([place for _, place in found], dtype=np.int64)


def _operation(lost: Sequence[str], there: Sequence[str], spare: Counter[str]) -> str:
    """Name what was done to lost words; those that are found elsewhere are taken from `spare`."""
    if there:
        letters, others = "".join(lost)[:_COMPARED], "".join(there)[:_COMPARED]
        if letters == others:
            return "respace"
        if Levenshtein.normalized_similarity(letters, others) >= _SIMILAR:
            return "garble"
    elsewhere = Counter(lost) & (spare - Counter(there)) if len(lost) >= _FEWEST_MOVED else Counter[str]()
    if elsewhere.total() >= max(_MOVED * len(lost), 1):
        spare.subtract(elsewhere)
        return "move"
    return "rewrite" if len(there) * 4 >= len(lost) else "delete"  # a stray sign in a hole is no other text
