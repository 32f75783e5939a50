"""An inverted index: what each word adds to the score of each chunk that holds it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Hit, Index

from ..ranking import best


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


def rankings(index: Index, queries: Iterable[Sequence[str]], k: int, unmatched: float = 0.0) -> list[list[Hit]]:
    """Rank chunks by the words that they share with each query, ties in the order of the chunks.

    Args:
        queries: the words of each, in order and as often as they count.
        unmatched: score of a chunk without a word of the query; -inf where it is not found.
    """
    known = index.once("postings", lambda: _Postings.of(index))
    return [best(known.totals(known.numbers(query), unmatched), k) for query in queries]


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
