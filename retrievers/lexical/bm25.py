"""BM25 over sparse precomputed scores, with bm25s (Lù, arXiv:2407.03618)."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index

from .postings import postings, rankings
from .words import Lexical


class BM25(Lexical, kind="bm25"):
    """Ranks chunks by the rare words they share with the query (Robertson & Zaragoza 2009).

    Words are lower-cased, without punctuation and articles; runs of Chinese are cut as by jieba, those of other scripts
    without spaces into pairs of letters.
    """

    version: ClassVar[int] = 5
    packages: ClassVar[tuple[str, ...]] = ("bm25s", "rjieba")
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
            return postings((), len(chunks), np.zeros(1, np.int32), nothing, np.zeros(0, np.float32))
        engine.index((numbers, dict(vocabulary)), create_empty_token=False, show_progress=False)
        starts, places, scores = (engine.scores[name] for name in ("indptr", "indices", "data"))
        return postings(vocabulary, len(chunks), starts, places, scores, engine.nonoccurrence_array)

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the chunks that have a word of the query."""
        return rankings(index, map(self.cut, queries), k, unmatched=-np.inf)
