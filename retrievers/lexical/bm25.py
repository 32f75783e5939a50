"""BM25 over sparse precomputed scores: as the library bm25s has them (Lù, arXiv:2407.03618), as rank-bm25 computes them
for parity with published set-ups, and exactly as OHRBench's public code does, its accidents included.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, filterfalse
from math import fsum, log
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, Retriever
from ohr.text.porter import stem

from ..scores import best, gathered, writable
from .words import STOPWORDS, Lexical, different_words, ohrbench_words

_BLOCK = 1 << 22  # words that are counted at once: about 200 MB

Score = Callable[[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]], NDArray[np.floating[Any]]]
"""Scores pairs (pairs,): the words, the chunks that hold them, and how often each does."""


def postings(
    words: Iterable[str],
    size: int,
    starts: NDArray[np.integer[Any]],
    places: NDArray[np.integer[Any]],
    scores: NDArray[np.floating[Any]],
    absent: NDArray[np.floating[Any]] | None = None,
) -> Index:
    """Index words: the chunks of word `w` and what it adds to their scores are at [starts[w], starts[w + 1]).

    Args:
        words: in the order of their numbers.
        size: number of chunks.
        starts: (words + 1,).
        places: (postings,) chunks, ascending within a word.
        scores: (postings,).
        absent: what each word adds to the score of a chunk without it, (words,); None for nothing.
    """
    arrays = {"starts": starts, "places": places, "scores": scores}
    return Index({"words": list(words), "size": size, **arrays, **({} if absent is None else {"absent": absent})})


class WordCounts:
    """How often each word is in each chunk, gathered in blocks, so that a corpus need not fit into memory."""

    def __init__(self) -> None:
        self.lengths = array("q")
        """Words of each chunk."""
        self._words = array("q")
        self._first = 0
        self._blocks: list[_Block] = []

    def add(self, words: Iterable[int]) -> None:
        """Add the next chunk: the numbers of its words, from 0, as often as they count."""
        before = len(self._words)
        self._words.extend(words)
        self.lengths.append(len(self._words) - before)
        if len(self._words) >= _BLOCK:
            self._close(spill=True)

    def holders(self, size: int) -> NDArray[np.int64]:
        """Count the chunks that hold each of `size` words."""
        self._close(spill=bool(self._blocks))
        holders = np.zeros(size, dtype=np.int64)
        for block in self._blocks:
            holders[block.words] += block.sizes
        return holders

    def scored(self, holders: NDArray[np.int64], score: Score, dtype: DTypeLike) -> Iterator[NDArray[Any]]:
        """Score every word of every chunk; yields what `postings` calls starts, places and scores."""
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(holders)])
        places, scores = writable(int(starts[-1]), np.int32), writable(int(starts[-1]), dtype)
        free = starts[:-1].copy()
        for block in self._blocks:
            begins = np.cumsum(block.sizes) - block.sizes
            at = np.repeat(free[block.words] - begins, block.sizes) + np.arange(len(block.places))
            places[at] = block.places
            scores[at] = score(np.repeat(block.words, block.sizes), block.places, block.counts)
            free[block.words] += block.sizes
        yield from (starts, places, scores)

    def _close(self, *, spill: bool) -> None:
        """Count the words of the chunks since the last block: each pair once, by word and then by chunk."""
        size = len(self.lengths) - self._first
        if not len(self._words):
            self._first = len(self.lengths)
            return
        lengths = np.frombuffer(self.lengths, dtype=np.int64)[self._first :]
        of_chunk = np.repeat(np.arange(size), lengths)
        pairs, counts = np.unique(np.frombuffer(self._words, dtype=np.int64) * size + of_chunk, return_counts=True)
        words, begins = np.unique(pairs // size, return_index=True)
        places = (pairs % size + self._first).astype(np.int32)
        counts = counts.astype(np.int32)
        if spill:
            places, counts = (gathered([column], np.int32) for column in (places, counts))
        self._blocks.append(_Block(words, np.diff(begins, append=len(pairs)), places, counts))
        self._words, self._first = array("q"), len(self.lengths)


def rankings(index: Index, queries: Iterable[Sequence[str]], k: int, unmatched: float = 0.0) -> list[list[Hit]]:
    """Rank chunks by the words that they share with each query, ties in the order of the chunks.

    Args:
        queries: the words of each, in order and as often as they count.
        unmatched: score of a chunk without a word of the query; -inf where it is not found.
    """
    known = index.once("postings", lambda: _Postings.of(index))
    return [best(known.totals(known.numbers(query), unmatched), k) for query in queries]


@dataclass(frozen=True)
class _Block:
    """Words of some chunks: the pairs of the n-th word are the next `sizes[n]` of `places` and `counts`."""

    words: NDArray[np.int64]
    sizes: NDArray[np.int64]
    places: NDArray[np.int32]
    counts: NDArray[np.int32]


@dataclass(frozen=True)
class _Postings:
    vocabulary: Mapping[str, int]
    size: int
    starts: Sequence[int]
    places: NDArray[np.integer[Any]]
    scores: NDArray[np.floating[Any]]
    absent: NDArray[np.floating[Any]] | None

    @classmethod
    def of(cls, index: Index) -> "_Postings":
        vocabulary = {word: number for number, word in enumerate(index["words"])}
        starts = index["starts"].tolist()  # reading one element of an array takes several times as long
        return cls(vocabulary, index["size"], starts, index["places"], index["scores"], index.contents.get("absent"))

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Look words up, in order and as often as they are listed; words that no chunk holds are left out."""
        known = self.vocabulary
        return [known[word] for word in words if word in known]

    def totals(self, numbers: Sequence[int], unmatched: float) -> NDArray[np.float64]:
        """Sum the scores of words, in their order: (chunks,); chunks with none of them begin at `unmatched`."""
        slices = [slice(self.starts[number], self.starts[number + 1]) for number in numbers]
        if not slices:
            return np.full(self.size, unmatched)
        places, scores = (np.concatenate([column[part] for part in slices]) for column in (self.places, self.scores))
        totals = np.bincount(places, scores, self.size).astype(np.float64, copy=False)
        if unmatched:
            absent = np.ones(self.size, dtype=bool)
            absent[places] = False
            totals[absent] = unmatched
        if self.absent is not None:
            totals += float(self.absent[numbers].sum(dtype=np.float64))
        return totals


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
            known.update((word, vocabulary[stem(word)]) for word in filterfalse(known.__contains__, words))
            counted.add([number for number in map(known.__getitem__, words) if number is not None])
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
