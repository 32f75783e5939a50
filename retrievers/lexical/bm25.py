"""BM25 over sparse precomputed scores, with bm25s (Lù, arXiv:2407.03618)."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index

from ..ranking import best
from .postings import Postings
from .words import Lexical


class BM25(Lexical):
    """Ranks chunks by the rare words they share with the query (Robertson & Zaragoza 2009).

    Words are lower-cased, without punctuation and articles; runs of Chinese are cut with jieba, those of other scripts
    without spaces into pairs of letters.
    """

    kind: Literal["bm25"] = "bm25"
    version: ClassVar[int] = 5
    packages: ClassVar[tuple[str, ...]] = ("bm25s", "jieba")
    delta: Annotated[float, Field(ge=0, description="What bm25l and bm25+ add for each word of the query.")] = 0.5
    variant: Annotated[
        Literal["lucene", "robertson", "atire", "bm25l", "bm25+"], Field(description="Formula (Kamphuis et al. 2020).")
    ] = "lucene"

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Score every word of every chunk."""
        import bm25s

        vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
        # numbers of words, not words: 3 kB for a chunk of 700 words in place of 50
        numbers = [array("I", map(vocabulary.__getitem__, self.cut(chunk.text))) for chunk in chunks]
        engine = bm25s.BM25(k1=self.k1, b=self.b, delta=self.delta, method=self.variant, csc_backend="scipy")
        if not vocabulary:  # bm25s divides by the number of words
            nothing = np.zeros(0, dtype=np.int32)
            return BM25Index(Postings({}, len(chunks), np.zeros(1, np.int32), nothing, np.zeros(0, np.float32)), self)
        engine.index((numbers, dict(vocabulary)), create_empty_token=False, show_progress=False)
        arrays = (engine.scores[name] for name in ("indptr", "indices", "data"))
        return BM25Index(Postings(dict(vocabulary), len(chunks), *arrays), self, engine.nonoccurrence_array)

    def load(self, folder: Path) -> Index:
        """Read a saved index."""
        absent = np.load(folder / _ABSENT, allow_pickle=False) if (folder / _ABSENT).is_file() else None
        return BM25Index(Postings.load(folder), self, absent)


_ABSENT = "absent.npy"


@dataclass(frozen=True)
class BM25Index:
    """Words and what each adds to the score of a chunk.

    Args:
        absent: what a word adds where it is absent, (words,): bm25l and bm25+ only.
    """

    postings: Postings
    retriever: BM25
    absent: NDArray[np.float32] | None = None

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score, ties in the order of the chunks; chunks without a word of the query are not found."""
        return [self._search(self.postings.numbers(self.retriever.cut(query)), k) for query in queries]

    def _search(self, numbers: list[int], k: int) -> list[Hit]:
        totals = self.postings.totals(numbers, -np.inf)
        if self.absent is not None:
            totals += float(self.absent[numbers].sum(dtype=np.float64))
        return best(totals, k)

    def save(self, folder: Path) -> None:
        """Write the postings."""
        self.postings.save(folder)
        if self.absent is not None:
            np.save(folder / _ABSENT, self.absent, allow_pickle=False)
