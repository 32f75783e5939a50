"""Aligns what an engine read with the truth, word by word."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq, Levenshtein

from ohr.text.words import normalise

from .page import MARK, TABLE, PageWords, read

_SIMILAR = 0.5
"""Least similarity of the letters of a run and of what was read for it, to call it misread."""

_MOVED = 0.8
"""Least share of a run's words found together elsewhere, to call it moved."""

_FEWEST_MOVED = 4
"""Words of a run that may be called moved: fewer are found elsewhere by chance. In tables one is enough, for engines
read cells in another order."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Words [first, last) of the truth for which `read` was read; both ends equal for an insertion."""

    first: int
    last: int
    read: tuple[str, ...]
    operation: str


@dataclass(frozen=True, slots=True)
class Aligned:
    """A page of truth, which of its words are lost, and how."""

    document: str
    page: PageWords
    lost: NDArray[np.bool_]
    differences: tuple[Difference, ...]
    silent: bool

    @property
    def share(self) -> float:
        """Share of the counted words that is lost."""
        return float(self.lost.sum() / max(len(self.page.counted), 1))


@lru_cache(maxsize=200_000)
def _normal(token: str) -> tuple[str, ...]:
    return tuple(normalise(token).split())


def align(document: str, truth: str, text: str) -> Aligned:
    """Find the words of the truth that are not in the longest common subsequence with what was read."""
    page = read(truth)
    tokens = [truth[low:high] for low, high in zip(page.start.tolist(), page.end.tolist(), strict=True)]
    wanted, owner = _words(tokens)
    raw = text.split()
    found, source = _words(raw)
    kept = np.zeros(len(tokens), dtype=bool)
    seen = np.zeros(len(tokens), dtype=bool)
    seen[owner] = True
    gaps: list[tuple[int, int, int, int]] = []
    at, place = 0, 0
    lost = seen.copy()
    for block in LCSseq.opcodes(wanted, found) if wanted else ():
        if block.tag != "equal":
            continue
        if block.src_start > at or block.dest_start > place:
            gaps.append((at, block.src_start, place, block.dest_start))
        at, place = block.src_end, block.dest_end
        kept[owner[block.src_start : block.src_end]] = True
    if wanted and (at < len(wanted) or place < len(found)):
        gaps.append((at, len(wanted), place, len(found)))
    lost &= ~kept
    lost &= page.cls != MARK
    cell = page.kind[page.line] == TABLE if len(page.kind) else np.zeros(len(tokens), dtype=bool)
    return Aligned(document, page, lost, tuple(_named(gaps, wanted, owner, found, raw, source, cell)), not text.strip())


def _words(tokens: Iterable[str]) -> tuple[list[str], NDArray[np.int64]]:
    made: list[str] = []
    owner: list[int] = []
    for place, token in enumerate(tokens):
        for word in _normal(token):
            made.append(word)
            owner.append(place)
    return made, np.array(owner, dtype=np.int64)


def _named(
    gaps: Sequence[tuple[int, int, int, int]],
    wanted: Sequence[str],
    owner: NDArray[np.int64],
    found: Sequence[str],
    raw: Sequence[str],
    source: NDArray[np.int64],
    cell: NDArray[np.bool_],
) -> Iterable[Difference]:
    """Say for each gap between common words what was done."""
    spare = Counter(word for _, _, low, high in gaps for word in found[low:high])
    for first, last, low, high in gaps:
        read_here = tuple(raw[place] for place in dict.fromkeys(source[low:high].tolist()))
        fewest = 1 if last > first and cell[owner[first]] else _FEWEST_MOVED
        operation = _operation(wanted[first:last], found[low:high], spare, fewest)
        begin = int(owner[first]) if first < len(owner) else int(owner[-1]) + 1
        end = int(owner[last - 1]) + 1 if last > first else begin
        yield Difference(begin, end, read_here, operation)


def _operation(lost: Sequence[str], there: Sequence[str], spare: Counter[str], fewest: int) -> str:
    """Say what was done to lost words; those that are found elsewhere are taken from `spare`."""
    if not lost:
        return "insert"
    if there:
        letters, others = "".join(lost)[:2000], "".join(there)[:2000]
        if letters == others:
            return "respace"
        if Levenshtein.normalized_similarity(letters, others) >= _SIMILAR:
            return "garble"
    elsewhere = Counter(lost) & (spare - Counter(there)) if len(lost) >= fewest else Counter[str]()
    if elsewhere.total() >= max(_MOVED * len(lost), 1):
        spare.subtract(elsewhere)
        return "move"
    return "rewrite" if len(there) * 4 >= len(lost) else "delete"
