"""Which words of a page were lost, without the words: a string that a profile keeps, and the same as arrays."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .page import FOREIGN, KINDS, LETTERS, QUOTED, SEMICOLON

ALONE = np.isin(np.arange(len(LETTERS)), (QUOTED, SEMICOLON, FOREIGN))
"""Classes whose words are lost one by one, by how the engine sets a sign, and not in runs with their neighbours."""


@dataclass(frozen=True)
class Pattern:
    """A page of a fit.

    Args:
        cls: (words,) class of each counted word.
        lost: (words,) whether it was lost.
        size: (lines,) words of each line; `kind` what it is; `score` the logit of its chance to be lost whole.
    """

    cls: NDArray[np.int8]
    lost: NDArray[np.bool_]
    size: NDArray[np.int64]
    kind: NDArray[np.int8]
    score: NDArray[np.float64]

    @property
    def of_line(self) -> NDArray[np.int64]:
        """(words,) line of each word."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @cached_property
    def log_size(self) -> NDArray[np.float64]:
        """(lines,) logarithm of a line's words."""
        return np.log(self.size)

    @cached_property
    def middle(self) -> NDArray[np.float64]:
        """(lines,) share of the page's words before the middle of a line."""
        return np.asarray((np.cumsum(self.size) - self.size / 2) / self.size.sum())

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """(lines,) whether all words of a line are lost."""
        made: NDArray[np.bool_] = np.bincount(self.of_line, self.lost, len(self.size)) == self.size
        return made

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """(kept,) the lines of which a word is left."""
        return np.flatnonzero(~self.whole)

    @cached_property
    def block(self) -> NDArray[np.int64]:
        """(lines,) number of the block of lines that are wholly lost, or not."""
        return np.cumsum(np.diff(self.whole, prepend=False))

    @property
    def runs(self) -> NDArray[np.int64]:
        """(words,) how many words of its line are lost in a run from this word on; 0 where none begins.

        Words of ALONE have 1 where they are lost; other runs begin and end with another word.
        """
        made = (self.lost & ALONE[self.cls]).astype(np.int64)
        line = self.of_line
        begins = self.lost.copy()
        begins[1:] &= ~(self.lost[:-1] & (line[1:] == line[:-1]))
        run = np.cumsum(begins)
        places = np.flatnonzero(self.lost & ~ALONE[self.cls])
        if len(places):
            _, first, count = np.unique(run[places], return_index=True, return_counts=True)
            made[places[first]] = places[first + count - 1] - places[first] + 1
        return made

    def dumps(self) -> str:
        """Give the string: for each line its kind, ten times its score, and a letter for each word, capital if lost."""
        letters = np.frombuffer(LETTERS.encode(), dtype=np.uint8)[self.cls] - 32 * self.lost.astype(np.uint8)
        text, upto = letters.astype(np.uint8).tobytes().decode(), np.cumsum(self.size)
        rows = zip(self.kind.tolist(), np.rint(10 * self.score).tolist(), upto - self.size, upto, strict=True)
        return " ".join(f"{KINDS[kind]}{score:+.0f}:{text[low:high]}" for kind, score, low, high in rows)

    @classmethod
    def loads(cls, text: str) -> "Pattern":
        """Read the string.

        Raises:
            ValueError: it is no pattern.
        """
        heads, _, words = zip(*(row.partition(":") for row in text.split(" ")), strict=True)
        signs = np.frombuffer("".join(words).encode(), dtype=np.uint8)
        found = _NUMBER[signs | 32]
        if (found < 0).any() or not all(words):
            raise ValueError("a word of no known class, or a line without words")
        return cls(
            found,
            (signs & 32) == 0,
            np.array([len(row) for row in words], dtype=np.int64),
            np.array([KINDS.index(head[:1]) for head in heads], dtype=np.int8),
            np.array([int(head[1:]) / 10 for head in heads]),
        )


_NUMBER = np.full(256, -1, dtype=np.int8)
_NUMBER[np.frombuffer(LETTERS[1:].encode(), dtype=np.uint8)] = np.arange(1, len(LETTERS))
