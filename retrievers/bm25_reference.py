"""BM25 exactly as OHRBench's public code computes it, its accidents included."""

import json
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index, Retriever

from . import porter

_WORD = re.compile(r"\w+")

_STOPWORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being have
has had having do does did doing a an the and but if or because as until while of at by for with about against between
into through during before after above below to from up down in out on off over under again further then once here there
when where why how all any both each few more most other some such no nor not only own same so than too very s t can
will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan
shouldn wasn weren won wouldn
"""
STOPWORDS = frozenset(_STOPWORDS.split())
"""NLTK's English stop words, less those with an apostrophe, which no word of `\\w+` can be."""


class BM25Reference(Retriever):
    r"""Ranks chunks as OHRBench's code does (llama-index 0.9.32 over rank-bm25 0.2.2), to repeat its numbers.

    A text is the *set* of its lower-cased `\w+` words without stop words, each stemmed by NLTK's Porter: a word counts
    once however often it stands there, and twice where two forms share a stem; a length is the number of different
    words. A run of Chinese is one word. Words that are in more than half of the chunks get `epsilon` times the mean
    weight (Okapi BM25 of rank-bm25). Ties come in the order of the chunks, and where nothing matches the first `top_k`
    chunks are found, with score 0.
    """

    kind: Literal["bm25_reference"] = "bm25_reference"
    k1: Annotated[float, Field(gt=0, description="How late repeated stems stop counting.")] = 1.5
    b: Annotated[float, Field(ge=0, le=1, description="How much long chunks are penalised.")] = 0.75
    epsilon: Annotated[float, Field(ge=0, description="Share of the mean weight that very common stems get.")] = 0.25

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Score every stem of every chunk."""
        return BM25ReferenceIndex.build([chunk.text for chunk in chunks], self)

    def load(self, folder: Path) -> Index:
        """Read a saved index."""
        return BM25ReferenceIndex.read(folder)


@dataclass(frozen=True)
class BM25ReferenceIndex:
    """Postings: the chunks of stem `s` and their scores stand at [starts[s], starts[s + 1]).

    Args:
        stems: the number of each stem.
        starts: (stems + 1,).
        places: (postings,) chunks, ascending within a stem.
        scores: (postings,) what the stem adds to the chunk's score.
        size: number of chunks.
    """

    stems: Mapping[str, int]
    starts: NDArray[np.int64]
    places: NDArray[np.int32]
    scores: NDArray[np.float64]
    size: int

    @classmethod
    def build(cls, texts: Sequence[str], formula: BM25Reference) -> "BM25ReferenceIndex":
        """Index texts by the stems of their different words."""
        known = _Numbers()
        numbers, lengths = array("q"), array("q")
        for text in texts:
            found = [number for word in _different_words(text) if (number := known[word]) is not None]
            numbers.extend(found)
            lengths.append(len(found))
        length = np.array(lengths, dtype=np.int64)
        chunk = np.repeat(np.arange(len(texts), dtype=np.int64), length)
        # each posting once, by stem and then by chunk, with how many words of the chunk share the stem
        posting, frequency = np.unique(np.array(numbers, dtype=np.int64) * len(texts) + chunk, return_counts=True)
        stem, place = (posting // len(texts), posting % len(texts)) if len(texts) else (posting, posting)
        holders = np.bincount(stem, minlength=len(known.stems))
        weight = _weights(holders, len(texts), formula.epsilon)
        mean = float(length.sum() / max(len(texts), 1)) or 1.0
        damping = formula.k1 * (1 - formula.b + formula.b * length / mean)
        scores = weight[stem] * (frequency * (formula.k1 + 1) / (frequency + damping[place]))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(holders)])
        return cls(known.stems, starts, place.astype(np.int32), scores, len(texts))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score, ties in the order of the chunks; chunks without a word of the query come last."""
        k = min(k, self.size)
        return [self._search(query, k) if k > 0 else [] for query in queries]

    def _search(self, query: str, k: int) -> list[Hit]:
        totals = np.zeros(self.size)
        for word in _different_words(query):
            number = None if word in STOPWORDS else self.stems.get(porter.stem(word))
            if number is not None:
                totals += self._row(number)
        return [Hit(place, float(totals[place])) for place in _best(totals, k)]

    def _row(self, number: int) -> NDArray[np.float64]:
        """Spread a stem's postings over all chunks; queries share words, so the rows of common stems are kept."""
        row = self.rows.get(number)
        if row is None:
            here = slice(self.starts[number], self.starts[number + 1])
            row = np.zeros(self.size)
            row[self.places[here]] = self.scores[here]
            if len(self.rows) * self.size < _KEPT:
                self.rows[number] = row
        return row

    @cached_property
    def rows(self) -> dict[int, NDArray[np.float64]]:
        """Stems whose postings were spread before."""
        return {}

    def save(self, folder: Path) -> None:
        """Write the postings, and the stems in the order of their numbers."""
        (folder / "ohr.json").write_text(json.dumps({"size": self.size, "stems": list(self.stems)}))
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def read(cls, folder: Path) -> "BM25ReferenceIndex":
        """Read what `save` wrote."""
        about = json.loads((folder / "ohr.json").read_text())
        starts, places, scores = (np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS)
        stems = {stem: number for number, stem in enumerate(about["stems"])}
        return cls(stems, starts, places, scores, about["size"])


def _best(totals: NDArray[np.float64], k: int) -> list[int]:
    """Give the places of the k best totals, the first of equals first."""
    if k > _FEW:
        return [int(place) for place in np.argsort(-totals, kind="stable")[:k]]
    found = []
    left = totals.copy()
    for _ in range(k):  # a look for each is quicker than any sort
        found.append(int(left.argmax()))
        left[found[-1]] = -np.inf
    return found


_KEPT = 4_000_000
"""Most numbers in the rows that are kept: 32 MB."""

_FEW = 10
_ARRAYS = ("starts", "places", "scores")


def _weights(holders: NDArray[np.int64], size: int, epsilon: float) -> NDArray[np.float64]:
    """Weigh stems by how few chunks hold them; those in more than half of the chunks get a share of the mean."""
    raw = [log(size - held + 0.5) - log(held + 0.5) for held in holders.tolist()]
    floor = epsilon * (sum(raw) / len(raw)) if raw else 0.0
    return np.array([floor if weight < 0 else weight for weight in raw])


class _Numbers(dict[str, int | None]):
    """Number of each word's stem, found out once; None for a stop word."""

    def __init__(self) -> None:
        super().__init__()
        self.stems: dict[str, int] = {}

    def __missing__(self, word: str) -> int | None:
        number = None if word in STOPWORDS else self.stems.setdefault(porter.stem(word), len(self.stems))
        self[word] = number
        return number


def _different_words(text: str) -> Iterable[str]:
    """Give each word once, in the order of the text."""
    return dict.fromkeys(_WORD.findall(text.lower()))
