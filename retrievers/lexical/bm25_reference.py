"""BM25 exactly as OHRBench's public code computes it, its accidents included."""

import json
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Annotated, ClassVar, Literal

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
    version: ClassVar[int] = 2
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
        words: the number of the stem of each word of the chunks, so that a query's words need no stemming.
        starts: (stems + 1,).
        places: (postings,) chunks, ascending within a stem.
        scores: (postings,) what the stem adds to the chunk's score.
        size: number of chunks.
    """

    stems: Mapping[str, int]
    words: Mapping[str, int]
    starts: NDArray[np.int64]
    places: NDArray[np.int32]
    scores: NDArray[np.float64]
    size: int

    @classmethod
    def build(cls, texts: Sequence[str], formula: BM25Reference) -> "BM25ReferenceIndex":
        """Index texts by the stems of their different words."""
        known = _Vocabulary()
        numbers, lengths = array("q"), array("q")
        for text in texts:
            found = known.different(text)
            numbers.extend(found)
            lengths.append(len(found))
        length = np.array(lengths, dtype=np.int64)
        chunk = np.repeat(np.arange(len(texts), dtype=np.int64), length)
        stem = np.array(known.numbers, dtype=np.int64)[np.array(numbers, dtype=np.int64)]
        # each posting once, by stem and then by chunk, with how many words of the chunk share the stem
        posting, frequency = np.unique(stem * len(texts) + chunk, return_counts=True)
        stem, place = (posting // len(texts), posting % len(texts)) if len(texts) else (posting, posting)
        holders = np.bincount(stem, minlength=len(known.stems))
        weight = _weights(holders, len(texts), formula.epsilon)
        mean = float(length.sum() / max(len(texts), 1)) or 1.0
        damping = formula.k1 * (1 - formula.b + formula.b * length / mean)
        scores = weight[stem] * (frequency * (formula.k1 + 1) / (frequency + damping[place]))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(holders)])
        return cls(known.stems, known.words, starts, place.astype(np.int32), scores, len(texts))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by score, ties in the order of the chunks; chunks without a word of the query come last."""
        k = min(k, self.size)
        return [self._search(query, k) if k > 0 else [] for query in queries]

    def _search(self, query: str, k: int) -> list[Hit]:
        found = []
        for word in dict.fromkeys(_WORD.findall(query.lower())):
            number = self.words.get(word)
            if number is None and word not in STOPWORDS:  # no chunk has it, but one may have another with its stem
                number = self.stems.get(porter.stem(word))
            if number is not None:
                found.append(self._postings[number])
        if not found:
            return [Hit(place, 0.0) for place in range(k)]
        places, scores = (np.concatenate([column[here] for here in found]) for column in (self.places, self.scores))
        return _best(np.bincount(places, scores, self.size).astype(np.float64, copy=False), k)

    @cached_property
    def _postings(self) -> list[slice]:
        """Where the postings of each stem stand."""
        return [slice(start, end) for start, end in pairwise(self.starts.tolist())]

    def save(self, folder: Path) -> None:
        """Write the postings, the stems in the order of their numbers, and the words with the numbers of theirs."""
        about = {"size": self.size, "stems": list(self.stems)}
        about |= {"words": list(self.words), "numbers": list(self.words.values())}
        (folder / "ohr.json").write_text(json.dumps(about))
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def read(cls, folder: Path) -> "BM25ReferenceIndex":
        """Read what `save` wrote."""
        about = json.loads((folder / "ohr.json").read_text())
        starts, places, scores = (np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS)
        stems = {stem: number for number, stem in enumerate(about["stems"])}
        words = dict(zip(about["words"], about["numbers"], strict=True))
        return cls(stems, words, starts, places, scores, about["size"])


def _best(totals: NDArray[np.float64], k: int) -> list[Hit]:
    """Give the k best totals, the first of equals first; the totals are used up."""
    if k > _FEW:
        return [Hit(int(place), float(totals[place])) for place in np.argsort(-totals, kind="stable")[:k]]
    found = []
    for _ in range(k):  # a look for each is quicker than any sort
        place = int(totals.argmax())
        found.append(Hit(place, float(totals[place])))
        totals[place] = -np.inf
    return found


_FEW = 10
_ARRAYS = ("starts", "places", "scores")


def _weights(holders: NDArray[np.int64], size: int, epsilon: float) -> NDArray[np.float64]:
    """Weigh stems by how few chunks hold them; those in more than half of the chunks get a share of the mean."""
    raw = [log(size - held + 0.5) - log(held + 0.5) for held in holders.tolist()]
    floor = epsilon * (sum(raw) / len(raw)) if raw else 0.0
    return np.array([floor if weight < 0 else weight for weight in raw])


_APART = bytes(sign if sign >= 0x80 or chr(sign).isalnum() or chr(sign) == "_" else 0x20 for sign in range(0x100))
"""Turns each ASCII sign that is in no word into a space; bytes of other letters stay."""

_OTHERS_APART = re.compile(rb"\xe2\x80[\x80-\xbf]")
"""The spaces, dashes and quotes of U+2000 to U+203F, which are often found and in no word."""

_NO_BREAK = "\u00a0".encode()


class _Vocabulary(dict[bytes, tuple[int, ...]]):
    """The words of pieces of text, by their places in `places`, and each word's stem: each found out once.

    Texts are cut at the common signs that are in no word, which is quicker than `\\w+` by far; what is left beside
    other signs (`2·x`, `a，b`) is cut by the expression, as a piece.

    Args:
        places: the place of each word; stop words are not there.
        numbers: the number of each word's stem, by its place.
        stems: the number of each stem.
    """

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, int] = {}
        self.numbers = array("q")
        self.stems: dict[str, int] = {}

    @property
    def words(self) -> dict[str, int]:
        """The number of each word's stem."""
        return dict(zip(self.places, self.numbers, strict=True))

    def different(self, text: str) -> set[int]:
        """Give the places of a text's different words."""
        signs = text.lower().encode("utf-8", "surrogatepass").translate(_APART)
        pieces = _OTHERS_APART.sub(b" ", signs.replace(_NO_BREAK, b"  ")).split()
        return set().union(*map(self.__getitem__, set(pieces)))

    def __missing__(self, piece: bytes) -> tuple[int, ...]:
        text = piece.decode("utf-8", "surrogatepass")
        if not piece.isascii():
            places = tuple([self._place(word) for word in _WORD.findall(text) if word not in STOPWORDS])
        else:
            places = () if text in STOPWORDS else (self._place(text),)
        self[piece] = places
        return places

    def _place(self, word: str) -> int:
        places = self.places
        place = places.setdefault(word, len(places))
        if place == len(self.numbers):  # it is new
            stems = self.stems
            self.numbers.append(stems.setdefault(porter.stem(word), len(stems)))
        return place
