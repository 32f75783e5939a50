"""BM25 as the library rank-bm25 computes it, for parity with published set-ups that use it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, Retriever

from ..ranking import best
from .tokenizers import TOKENIZERS, Language, Tokenizer

_CLASSES = {"okapi": "BM25Okapi", "l": "BM25L", "plus": "BM25Plus"}


class BM25Okapi(Retriever):
    """Ranks chunks with rank-bm25: slow (use `bm25` to search much), but the very code that many papers ran.

    Okapi can score a chunk that holds a very common word below 0; what scores 0 or less is found last, as there.
    """

    kind: Literal["bm25_okapi"] = "bm25_okapi"
    extra: ClassVar[str | None] = "bm25"
    k1: Annotated[float, Field(gt=0, description="How late repeated words stop counting.")] = 1.5
    b: Annotated[float, Field(ge=0, le=1, description="How much long chunks are penalised.")] = 0.75
    variant: Annotated[Literal["okapi", "l", "plus"], Field(description="Class of rank-bm25.")] = "okapi"
    tokenizer: Annotated[
        Tokenizer, Field(description="words; stems (words by Porter's stemmer); whitespace (as they stand).")
    ] = "words"
    language: Annotated[
        Language, Field(description="auto and zh cut runs of Chinese with jieba, en leaves them whole.")
    ] = "auto"

    def check(self) -> None:
        """Raise when rank-bm25 is missing."""
        extras.require("rank_bm25", "bm25")

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Count every word of every chunk."""
        cut = TOKENIZERS[self.tokenizer]
        return self._made([list(cut(chunk.text, self.language)) for chunk in chunks])

    def load(self, folder: Path) -> Index:
        """Read a saved index; rank-bm25 has no files of its own, so that it counts again."""
        return self._made(json.loads((folder / "tokens.json").read_text()))

    def _made(self, tokens: list[list[str]]) -> "OkapiIndex":
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
        if self.engine is None or k <= 0:
            return [[] for _ in queries]
        cut, language = TOKENIZERS[self.retriever.tokenizer], self.retriever.language
        return [best(np.asarray(self.engine.get_scores(cut(query, language))), k) for query in queries]

    def save(self, folder: Path) -> None:
        """Write the words."""
        (folder / "tokens.json").write_text(json.dumps(self.tokens))
