"""BM25 as the library rank-bm25 computes it, for parity with published set-ups that use it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index

from ..ranking import best
from .words import Lexical

_CLASSES = {"okapi": "BM25Okapi", "l": "BM25L", "plus": "BM25Plus"}


class BM25Okapi(Lexical):
    """Ranks chunks with rank-bm25: slow (`bm25` searches large corpora), but the very code that many papers ran.

    Okapi can score a chunk below 0 for a very common word, and it is found. A chunk without a word of the query is not,
    whatever its score: rank-bm25 itself would give such chunks by their position.
    """

    kind: Literal["bm25_okapi"] = "bm25_okapi"
    version: ClassVar[int] = 3
    extra: ClassVar[str | None] = "bm25"
    packages: ClassVar[tuple[str, ...]] = ("rank-bm25", "rjieba")
    variant: Annotated[Literal["okapi", "l", "plus"], Field(description="Class of rank-bm25.")] = "okapi"

    def check(self) -> None:
        """Raise when rank-bm25 is missing."""
        extras.require("rank_bm25", "bm25")

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Count every word of every chunk."""
        return self._indexed([list(self.cut(chunk.text)) for chunk in chunks])

    def load(self, folder: Path) -> Index:
        """Read the words of a saved index and count again: rank-bm25 has no files of its own."""
        return self._indexed(json.loads((folder / "tokens.json").read_text()))

    def _indexed(self, tokens: list[list[str]]) -> "OkapiIndex":
        library = extras.load("rank_bm25", "bm25")
        # rank-bm25 divides by the number of words
        engine = getattr(library, _CLASSES[self.variant])(tokens, k1=self.k1, b=self.b) if any(tokens) else None
        return OkapiIndex(engine, tokens, self)


@dataclass(frozen=True)
class OkapiIndex:
    """rank-bm25's object, None for a corpus without any word; the words of each chunk."""

    engine: Any
    tokens: list[list[str]]
    retriever: BM25Okapi

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score; ties in the order of the chunks."""
        if self.engine is None:
            return [[] for _ in queries]
        return [self._search(self.retriever.cut(query), k) for query in queries]

    def _search(self, words: Sequence[str], k: int) -> list[Hit]:
        asked = set(words)
        matches = [any(word in held for word in asked) for held in self.engine.doc_freqs]
        return best(np.where(matches, self.engine.get_scores(words), -np.inf), k)

    def save(self, folder: Path) -> None:
        """Write the words."""
        (folder / "tokens.json").write_text(json.dumps(self.tokens))
