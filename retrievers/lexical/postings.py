"""An inverted index: what each word adds to the score of each chunk that holds it."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ohr.contracts import Hit, Index

from ..scores import best, gathered, writable

_BLOCK = 1 << 22  # words that are counted at once: about 200 MB

Score = Callable[[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]], NDArray[np.floating[Any]]]
"""Scores pairs (pairs,): the words, the chunks that hold them, and how often each does."""


def postings(
    words: Iterable[str],
    size: int,
    starts: NDArray[np.integer[Any]],
    places: NDArray[np.integer[Any]],
    scores: NDArray[np.floating[Any]],
    absent: NDArray[np.floating[Any]] | None = None,
) -> Index:
    """Index words: the chunks of word `w` and what it adds to their scores are at [starts[w], starts[w + 1]).

    Args:
        words: in the order of their numbers.
        size: number of chunks.
        starts: (words + 1,).
        places: (postings,) chunks, ascending within a word.
        scores: (postings,).
        absent: what each word adds to the score of a chunk without it, (words,); None for nothing.
    """
    arrays = {"starts": starts, "places": places, "scores": scores}
    return Index({"words": list(words), "size": size, **arrays, **({} if absent is None else {"absent": absent})})


class WordCounts:
    """How often each word is in each chunk, gathered in blocks, so that a corpus need not fit into memory."""

    def __init__(self) -> None:
        self.lengths = array("q")
        """Words of each chunk."""
        self._words = array("q")
        self._first = 0
        self._blocks: list[_Block] = []

    def add(self, words: Iterable[int]) -> None:
        """Add the next chunk: the numbers of its words, from 0, as often as they count."""
        before = len(self._words)
        self._words.extend(words)
        self.lengths.append(len(self._words) - before)
        if len(self._words) >= _BLOCK:
            self._close(spill=True)

    def holders(self, size: int) -> NDArray[np.int64]:
        """Count the chunks that hold each of `size` words."""
        self._close(spill=bool(self._blocks))
        holders = np.zeros(size, dtype=np.int64)
        for block in self._blocks:
            holders[block.words] += block.sizes
        return holders

    def scored(self, holders: NDArray[np.int64], score: Score, dtype: DTypeLike) -> Iterator[NDArray[Any]]:
        """Score every word of every chunk; yields what `postings` calls starts, places and scores."""
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(holders)])
        places, scores = writable(int(starts[-1]), np.int32), writable(int(starts[-1]), dtype)
        free = starts[:-1].copy()
        for block in self._blocks:
            begins = np.cumsum(block.sizes) - block.sizes
            at = np.repeat(free[block.words] - begins, block.sizes) + np.arange(len(block.places))
            places[at] = block.places
            scores[at] = score(np.repeat(block.words, block.sizes), block.places, block.counts)
            free[block.words] += block.sizes
        yield from (starts, places, scores)

    def _close(self, *, spill: bool) -> None:
        """Count the words of the chunks since the last block: each pair once, by word and then by chunk."""
        size = len(self.lengths) - self._first
        if not len(self._words):
            self._first = len(self.lengths)
            return
        lengths = np.frombuffer(self.lengths, dtype=np.int64)[self._first :]
        of_chunk = np.repeat(np.arange(size), lengths)
        pairs, counts = np.unique(np.frombuffer(self._words, dtype=np.int64) * size + of_chunk, return_counts=True)
        words, begins = np.unique(pairs // size, return_index=True)
        places = (pairs % size + self._first).astype(np.int32)
        counts = counts.astype(np.int32)
        if spill:
            places, counts = (gathered([column], np.int32) for column in (places, counts))
        self._blocks.append(_Block(words, np.diff(begins, append=len(pairs)), places, counts))
        self._words, self._first = array("q"), len(self.lengths)


def rankings(index: Index, queries: Iterable[Sequence[str]], k: int, unmatched: float = 0.0) -> list[list[Hit]]:
    """Rank chunks by the words that they share with each query, ties in the order of the chunks.

    Args:
        queries: the words of each, in order and as often as they count.
        unmatched: score of a chunk without a word of the query; -inf where it is not found.
    """
    known = index.once("postings", lambda: _Postings.of(index))
    return [best(known.totals(known.numbers(query), unmatched), k) for query in queries]


@dataclass(frozen=True)
class _Block:
    """Words of some chunks: the pairs of the n-th word are the next `sizes[n]` of `places` and `counts`."""

    words: NDArray[np.int64]
    sizes: NDArray[np.int64]
    places: NDArray[np.int32]
    counts: NDArray[np.int32]


@dataclass(frozen=True)
class _Postings:
    """An index of words as it is searched."""

    vocabulary: Mapping[str, int]
    size: int
    starts: Sequence[int]
    places: NDArray[np.integer[Any]]
    scores: NDArray[np.floating[Any]]
    absent: NDArray[np.floating[Any]] | None

    @classmethod
    def of(cls, index: Index) -> "_Postings":
        vocabulary = {word: number for number, word in enumerate(index["words"])}
        starts = index["starts"].tolist()  # reading one element of an array takes several times as long
        return cls(vocabulary, index["size"], starts, index["places"], index["scores"], index.contents.get("absent"))

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Look words up, in order and as often as they are listed; words that no chunk holds are left out."""
        known = self.vocabulary
        return [known[word] for word in words if word in known]

    def totals(self, numbers: Sequence[int], unmatched: float) -> NDArray[np.float64]:
        """Sum the scores of words, in their order: (chunks,); chunks with none of them begin at `unmatched`."""
        slices = [slice(self.starts[number], self.starts[number + 1]) for number in numbers]
        if not slices:
            return np.full(self.size, unmatched)
        places, scores = (np.concatenate([column[part] for part in slices]) for column in (self.places, self.scores))
        totals = np.bincount(places, scores, self.size).astype(np.float64, copy=False)
        if unmatched:
            absent = np.ones(self.size, dtype=bool)
            absent[places] = False
            totals[absent] = unmatched
        if self.absent is not None:
            totals += float(self.absent[numbers].sum(dtype=np.float64))
        return totals
