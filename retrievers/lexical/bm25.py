"""BM25 over sparse precomputed scores, as the library bm25s has them (Lù, arXiv:2407.03618)."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from math import log
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index

from .postings import WordCounts, postings, rankings
from .words import Lexical


class BM25(Lexical, kind="bm25"):
    """Ranks chunks by the rare words they share with the query (Robertson & Zaragoza 2009).

    Words are lower-cased, without punctuation and articles; runs of Chinese are cut as by jieba, those of other scripts
    without spaces into pairs of letters.
    """

    version: ClassVar[int] = 5
    packages: ClassVar[tuple[str, ...]] = ("rjieba",)
    delta: Annotated[float, Field(ge=0, description="What bm25l and bm25+ add for each word of the query.")] = 0.5
    variant: Annotated[
        Literal["lucene", "robertson", "atire", "bm25l", "bm25+"], Field(description="Formula (Kamphuis et al. 2020).")
    ] = "lucene"

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Score every word of every chunk."""
        vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
        counted = WordCounts()
        for chunk in chunks:
            counted.add(map(vocabulary.__getitem__, self.cut(chunk.text)))
        holders, lengths = counted.holders(len(vocabulary)), np.array(counted.lengths)
        mean = lengths.mean() if lengths.any() else 1.0
        rarity = _per_word(_RARITY[self.variant], holders, len(chunks))
        # 32 bits at the places where bm25s has them, so that scores are equal to the last digit
        weights, absent = rarity.astype(np.float32), np.zeros(len(rarity), np.float32)
        if self.variant in ("bm25l", "bm25+"):
            absent = (rarity * self._saturated(0, mean, mean)).astype(np.float32)

        def score(
            words: NDArray[np.int64], places: NDArray[np.int32], counts: NDArray[np.int32]
        ) -> NDArray[np.float64]:
            counted_for = self._saturated(counts.astype(np.float32), lengths[places], mean)
            scores: NDArray[np.float64] = weights[words] * counted_for - absent[words]
            return scores

        starts, places, scores = counted.scored(holders, score, np.float32)
        return postings(vocabulary, len(chunks), starts, places, scores, absent if absent.any() else None)

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the chunks that have a word of the query."""
        return rankings(index, map(self.cut, queries), k, unmatched=-np.inf)

    def _saturated(self, counts: Any, lengths: Any, mean: float) -> Any:
        """Return what `counts` of a word count for in chunks of so many words (Kamphuis et al. 2020, table 1)."""
        k1, long = self.k1, 1 - self.b + self.b * lengths / mean
        if self.variant == "bm25l":
            shifted = counts / long + self.delta
            return (k1 + 1) * shifted / (k1 + shifted)
        if self.variant == "bm25+":
            return (k1 + 1) * counts / (k1 * long + counts) + self.delta
        return counts * (k1 + 1 if self.variant == "atire" else 1) / (k1 * long + counts)


_RARITY: Mapping[str, Callable[[int, int], float]] = {
    "lucene": lambda held, size: log(1 + (size - held + 0.5) / (held + 0.5)),
    "robertson": lambda held, size: log(max((size - held + 0.5) / (held + 0.5), 1)),
    "atire": lambda held, size: log(size / held),
    "bm25l": lambda held, size: log((size + 1) / (held + 0.5)),
    "bm25+": lambda held, size: log((size + 1) / held),
}
"""The weight of a word that `held` of `size` chunks hold (Kamphuis et al. 2020, table 1)."""


def _per_word(weight: Callable[[int, int], float], holders: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Weigh words by how many chunks hold them: (words,)."""
    counts, which = np.unique(holders, return_inverse=True)
    return np.array([weight(held, size) for held in counts.tolist()], dtype=np.float64)[which]
