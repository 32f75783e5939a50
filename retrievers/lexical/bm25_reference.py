"""BM25 exactly as OHRBench's public code computes it, its accidents included."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from math import fsum, log
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index, Retriever
from ohr.text.porter import stem

from .postings import WordCounts, postings, rankings
from .words import STOPWORDS, different_words, ohrbench_words


class BM25Reference(Retriever, kind="bm25_reference"):
    r"""Ranks chunks as OHRBench's code does (llama-index 0.9.32 over rank-bm25 0.2.2), to repeat its numbers.

    A text is the *set* of its lower-cased `\w+` words without stop words, each stemmed by NLTK's Porter: a repeated
    word counts once, and two forms of one stem count twice; a chunk's length is its number of different words. A run
    of Chinese is one word. Stems in more than half of the chunks get `epsilon` times the mean weight (Okapi BM25 of
    rank-bm25). Ties come in the order of the chunks, and where nothing matches the first `top_k` chunks are found,
    with score 0. rank-bm25 itself, which scores every chunk in a Python loop, takes 30 times the CPU.
    """

    version: ClassVar[int] = 3
    k1: Annotated[float, Field(gt=0, description="How late repeated stems stop counting.")] = 1.5
    b: Annotated[float, Field(ge=0, le=1, description="How much long chunks are penalised.")] = 0.75
    epsilon: Annotated[float, Field(ge=0, description="Share of the mean weight that very common stems get.")] = 0.25

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Score every stem of every chunk."""
        vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
        known: dict[str, int | None] = dict.fromkeys(STOPWORDS)
        counted = WordCounts()
        for chunk in chunks:
            words = different_words(chunk.text)
            known.update((word, vocabulary[stem(word)]) for word in words if word not in known)
            counted.add(number for number in map(known.__getitem__, words) if number is not None)
        size, lengths = len(chunks), np.array(counted.lengths)
        holders = counted.holders(len(vocabulary))
        mean = float(lengths.sum() / max(size, 1)) or 1.0
        damping = self.k1 * (1 - self.b + self.b * lengths / mean)
        weights = _weights(holders, size, self.epsilon)

        def score(stems: NDArray[np.int64], places: NDArray[np.int32], counts: NDArray[np.int32]) -> NDArray[Any]:
            scores: NDArray[Any] = weights[stems] * (counts * (self.k1 + 1) / (counts + damping[places]))
            return scores

        return postings(vocabulary, size, *counted.scored(holders, score, np.float64))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank all chunks: those that share no stem with the query score 0."""
        return rankings(index, map(ohrbench_words, queries), k)


def _weights(holders: NDArray[np.int64], size: int, epsilon: float) -> NDArray[np.float64]:
    """Weigh stems by how few chunks hold them; those in more than half of the chunks get a share of the mean."""
    counts, which = np.unique(holders, return_inverse=True)
    # the mathematical library's logarithm, as there: numpy's may differ in the last digit
    raw = np.array([log(size - held + 0.5) - log(held + 0.5) for held in counts.tolist()])[which]
    return np.where(raw < 0, epsilon * fsum(raw) / max(len(raw), 1), raw)
