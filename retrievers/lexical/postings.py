"""An inverted index: what each word adds to the score of each chunk that holds it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Postings:
    """The chunks of word `w` and what it adds to their scores are at [starts[w], starts[w + 1]).

    Args:
        vocabulary: the number of each word.
        size: number of chunks.
        starts: (words + 1,).
        places: (postings,) chunks, ascending within a word.
        scores: (postings,).
    """

    vocabulary: Mapping[str, int]
    size: int
    starts: NDArray[np.integer[Any]]
    places: NDArray[np.integer[Any]]
    scores: NDArray[np.floating[Any]]

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Look words up, in order and as often as they are listed; words that no chunk holds are left out."""
        known = self.vocabulary
        return [known[word] for word in words if word in known]

    def totals(self, numbers: Iterable[int], unmatched: float = 0.0) -> NDArray[np.float64]:
        """Sum the scores of words, in their order: (chunks,); chunks with none of them have `unmatched`."""
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
        return totals

    @cached_property
    def _starts(self) -> list[int]:
        return list(self.starts.tolist())  # reading one element of an array takes several times as long

    def save(self, folder: Path) -> None:
        """Write the words in the order of their numbers, and the arrays."""
        about = {"size": self.size, "words": list(self.vocabulary)}
        (folder / "words.json").write_text(json.dumps(about))
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> "Postings":
        """Read what `save` wrote; scores and places are mapped into memory: only what a search touches is read."""
        about = json.loads((folder / "words.json").read_text())
        # plain arrays over the mapped files: each slice of a memmap would cost several microseconds
        arrays = (np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)) for name in _ARRAYS)
        return cls({word: number for number, word in enumerate(about["words"])}, about["size"], *arrays)


_ARRAYS = ("starts", "places", "scores")
