"""BM25 over sparse precomputed scores, with bm25s (Lù, arXiv:2407.03618)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index, Retriever
from ohr.text import words


class BM25(Retriever):
    """Ranks chunks by the rare words they share with the query (Robertson & Zaragoza 2009).

    Words are lower-cased, stripped of ASCII punctuation and articles; runs of Chinese are cut with jieba.
    """

    kind: Literal["bm25"] = "bm25"
    k1: Annotated[float, Field(gt=0, description="How late repeated words stop counting.")] = 1.5
    b: Annotated[float, Field(ge=0, le=1, description="How much long chunks are penalised.")] = 0.75
    variant: Annotated[
        Literal["lucene", "robertson", "atire", "bm25l", "bm25+"], Field(description="Formula (Kamphuis et al. 2020).")
    ] = "lucene"

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Score every word of every chunk."""
        return BM25Index.build([chunk.text for chunk in chunks], self.k1, self.b, self.variant)

    def load(self, folder: Path) -> Index:
        """Read a saved index."""
        return BM25Index.read(folder)


@dataclass(frozen=True)
class BM25Index:
    """`engine` is None for a corpus without any word, in which nothing is found."""

    engine: Any
    size: int

    @classmethod
    def build(cls, texts: Sequence[str], k1: float, b: float, variant: str) -> "BM25Index":
        """Index texts by their words."""
        import bm25s

        tokens = [list(words(text)) for text in texts]
        if not any(tokens):
            return cls(None, len(texts))
        engine = bm25s.BM25(k1=k1, b=b, method=variant)
        engine.index(tokens, show_progress=False)
        return cls(engine, len(texts))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score; ties, and chunks without any query word, come in the order of the chunks."""
        return [self._search(words(query), min(k, self.size)) for query in queries]

    def _search(self, query: Sequence[str], k: int) -> list[Hit]:
        if k <= 0 or self.engine is None:
            return []
        known = [word for word in query if word in self.engine.vocab_dict]
        if not known:
            return []
        scores = np.asarray(self.engine.get_scores(known))
        # a partial sort finds the k-th score, so that only its ties are sorted by place
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
        best = places[np.lexsort((places, -scores[places]))][:k]
        return [Hit(int(place), float(scores[place])) for place in best if scores[place] > 0]

    def save(self, folder: Path) -> None:
        """Write bm25s's own files."""
        (folder / "ohr.json").write_text(json.dumps({"size": self.size, "empty": self.engine is None}))
        if self.engine is not None:
            self.engine.save(str(folder), show_progress=False)

    @classmethod
    def read(cls, folder: Path) -> "BM25Index":
        """Read what `save` wrote."""
        import bm25s

        about = json.loads((folder / "ohr.json").read_text())
        engine = None if about["empty"] else bm25s.BM25.load(str(folder), load_corpus=False)
        return cls(engine, about["size"])
