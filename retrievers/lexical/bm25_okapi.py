"""BM25 as the library rank-bm25 computes it, for parity with published set-ups that use it."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index

from ..ranking import best
from .words import Lexical

_CLASSES = {"okapi": "BM25Okapi", "l": "BM25L", "plus": "BM25Plus"}


class BM25Okapi(Lexical, kind="bm25_okapi"):
    """Ranks chunks with rank-bm25: slow (`bm25` searches large corpora), but the very code that many papers ran.

    Okapi can score a chunk below 0 for a very common word, and it is found. A chunk without a word of the query is not,
    whatever its score: rank-bm25 itself would give such chunks by their position.
    """

    version: ClassVar[int] = 3
    extra: ClassVar[str | None] = "bm25"
    packages: ClassVar[tuple[str, ...]] = ("rank-bm25", "rjieba")
    variant: Annotated[Literal["okapi", "l", "plus"], Field(description="Class of rank-bm25.")] = "okapi"

    def check(self) -> None:
        """Raise when rank-bm25 is missing."""
        extras.require("rank_bm25", "bm25")

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """List every word of every chunk: rank-bm25 has no files of its own."""
        return Index({"tokens": [list(self.cut(chunk.text)) for chunk in chunks]})

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score; ties in the order of the chunks."""
        if not any(index["tokens"]):  # rank-bm25 divides by the number of words
            return [[] for _ in queries]
        engine = index.once("engine", lambda: self._counted(index["tokens"]))
        return [_ranked(engine, self.cut(query), k) for query in queries]

    def _counted(self, tokens: list[list[str]]) -> Any:
        library = extras.load("rank_bm25", "bm25")
        return getattr(library, _CLASSES[self.variant])(tokens, k1=self.k1, b=self.b)


def _ranked(engine: Any, words: Sequence[str], k: int) -> list[Hit]:
    asked = set(words)
    matches = [any(word in counts for word in asked) for counts in engine.doc_freqs]
    return best(np.where(matches, engine.get_scores(words), -np.inf), k)
