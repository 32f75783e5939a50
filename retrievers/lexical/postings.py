"""An inverted index: what each word adds to the score of each chunk that holds it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Hit

from ..ranking import best


@dataclass(frozen=True)
class Postings:
    """The chunks of word `w` and what it adds to their scores are at [starts[w], starts[w + 1]).

    Args:
        vocabulary: the number of each word.
        size: number of chunks.
        starts: (words + 1,).
        places: (postings,) chunks, ascending within a word.
        scores: (postings,).
        absent: what each word adds to the score of a chunk without it, (words,); None for nothing.
    """

    vocabulary: Mapping[str, int]
    size: int
    starts: NDArray[np.integer[Any]]
    places: NDArray[np.integer[Any]]
    scores: NDArray[np.floating[Any]]
    absent: NDArray[np.floating[Any]] | None = None

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Look words up, in order and as often as they are listed; words that no chunk holds are left out."""
        known = self.vocabulary
        return [known[word] for word in words if word in known]

    def totals(self, numbers: Sequence[int], unmatched: float = 0.0) -> NDArray[np.float64]:
        """Sum the scores of words, in their order: (chunks,); chunks with none of them begin at `unmatched`."""
        starts = self._starts
        found = [slice(starts[number], starts[number + 1]) for number in numbers]
        if not found:
            return np.full(self.size, unmatched)
        places, scores = (np.concatenate([column[part] for part in found]) for column in (self.places, self.scores))
        totals = np.bincount(places, scores, self.size).astype(np.float64, copy=False)
        if unmatched:
            absent = np.ones(self.size, dtype=bool)
            absent[places] = False
            totals[absent] = unmatched
        if self.absent is not None:
            totals += float(self.absent[numbers].sum(dtype=np.float64))
        return totals

    @cached_property
    def _starts(self) -> list[int]:
        return list(self.starts.tolist())  # reading one element of an array takes several times as long

    def save(self, folder: Path) -> None:
        """Write the words in the order of their numbers, and the arrays."""
        about = {"size": self.size, "words": list(self.vocabulary)}
        (folder / "words.json").write_text(json.dumps(about))
        for name in _ARRAYS:
            if getattr(self, name) is not None:
                np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> "Postings":
        """Read what `save` wrote; scores and places are mapped into memory: only what a search touches is read."""
        about = json.loads((folder / "words.json").read_text())
        files = {name: folder / f"{name}.npy" for name in _ARRAYS}
        # plain arrays over the mapped files: each slice of a memmap would cost several microseconds
        arrays = {
            name: np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
            for name, file in files.items()
            if file.is_file()
        }
        return cls({word: number for number, word in enumerate(about["words"])}, about["size"], **arrays)


_ARRAYS = ("starts", "places", "scores", "absent")


@dataclass(frozen=True)
class WordIndex:
    """Chunks ranked by the words that they share with a query.

    Args:
        cut: a query into words.
        unmatched: score of a chunk without a word of the query; -inf where it is not found.
    """

    postings: Postings
    cut: Callable[[str], Iterable[str]]
    unmatched: float = 0.0

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score, ties in the order of the chunks."""
        numbers = (self.postings.numbers(self.cut(query)) for query in queries)
        return [best(self.postings.totals(each, self.unmatched), k) for each in numbers]

    def save(self, folder: Path) -> None:
        """Write the postings."""
        self.postings.save(folder)
