"""BM25 over sparse precomputed scores, with bm25s (Lù, arXiv:2407.03618)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index, Retriever

from ..ranking import best
from .tokenizers import TOKENIZERS, Language, Tokenizer


class BM25(Retriever):
    """Ranks chunks by the rare words they share with the query (Robertson & Zaragoza 2009).

    Words are lower-cased, stripped of ASCII punctuation and articles; runs of Chinese are cut with jieba.
    """

    kind: Literal["bm25"] = "bm25"
    version: ClassVar[int] = 2
    k1: Annotated[float, Field(gt=0, description="How late repeated words stop counting.")] = 1.5
    b: Annotated[float, Field(ge=0, le=1, description="How much long chunks are penalised.")] = 0.75
    delta: Annotated[float, Field(ge=0, description="What bm25l and bm25+ add for each word that is there.")] = 0.5
    variant: Annotated[
        Literal["lucene", "robertson", "atire", "bm25l", "bm25+"], Field(description="Formula (Kamphuis et al. 2020).")
    ] = "lucene"
    tokenizer: Annotated[
        Tokenizer, Field(description="words; stems (words by Porter's stemmer); whitespace (as they stand).")
    ] = "words"
    language: Annotated[
        Language, Field(description="auto and zh cut runs of Chinese with jieba, en leaves them whole.")
    ] = "auto"

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Score every word of every chunk."""
        import bm25s

        cut = TOKENIZERS[self.tokenizer]
        tokens = [list(cut(chunk.text, self.language)) for chunk in chunks]
        if not any(tokens):
            return BM25Index(None, len(chunks), self)
        engine = bm25s.BM25(k1=self.k1, b=self.b, delta=self.delta, method=self.variant)
        engine.index(tokens, show_progress=False)
        return BM25Index(engine, len(chunks), self)

    def load(self, folder: Path) -> Index:
        """Read a saved index."""
        import bm25s

        about = json.loads((folder / "ohr.json").read_text())
        engine = None if about["empty"] else bm25s.BM25.load(str(folder), load_corpus=False)
        return BM25Index(engine, about["size"], self)


@dataclass(frozen=True)
class BM25Index:
    """`engine` is None for a corpus without any word, in which nothing is found."""

    engine: Any
    size: int
    retriever: BM25

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score, ties in the order of the chunks; chunks without any query word are not found."""
        cut = TOKENIZERS[self.retriever.tokenizer]
        return [self._search(cut(query, self.retriever.language), min(k, self.size)) for query in queries]

    @cached_property
    def _postings(self) -> tuple[NDArray[np.float64], NDArray[np.intp], list[int]]:
        """Scores, their chunks, and where each word's begin: read once, as each access of the engine's dict costs.

        In the types of the totals and of places: else numpy would convert them for every query, which costs most.
        """
        scores = self.engine.scores
        data, indices = np.asarray(scores["data"], dtype=np.float64), np.asarray(scores["indices"], dtype=np.intp)
        return data, indices, np.asarray(scores["indptr"]).tolist()

    def _search(self, query: Sequence[str], k: int) -> list[Hit]:
        if k <= 0 or self.engine is None:
            return []
        known = [number for word in query if (number := self.engine.vocab_dict.get(word)) is not None]
        if not known:
            return []
        scores, chunks, starts = self._postings
        totals = np.zeros(self.size)
        for number in known:
            part = slice(starts[number], starts[number + 1])
            np.add.at(totals, chunks[part], scores[part])
        if self.engine.nonoccurrence_array is not None:  # bm25l and bm25+ score words that are not there, too
            totals += float(self.engine.nonoccurrence_array[known].sum(dtype=np.float64))
        return best(totals, k, above=0.0)

    def save(self, folder: Path) -> None:
        """Write bm25s's own files."""
        (folder / "ohr.json").write_text(json.dumps({"size": self.size, "empty": self.engine is None}))
        if self.engine is not None:
            self.engine.save(str(folder), show_progress=False)
