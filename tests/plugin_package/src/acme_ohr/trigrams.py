"""Retrieval that does not mind misread letters."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Literal

from ohr.contracts import Chunk, Hit, Index, Retriever


class Trigrams(Retriever):
    """Ranks chunks by the cosine of their counts of three letters in a row."""

    kind: Literal["acme_trigrams"] = "acme_trigrams"

    def index(self, chunks: Sequence[Chunk]) -> Index:
        return Index({"counts": [_counts(chunk.text) for chunk in chunks]})

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        chunks = index.once("chunks", lambda: [Counter(counts) for counts in index["counts"]])
        return [_ranked(_counts(query), chunks, k) for query in queries]


def _ranked(query: Counter[str], chunks: Sequence[Counter[str]], k: int) -> list[Hit]:
    hits = [Hit(place, _cosine(query, counts)) for place, counts in enumerate(chunks)]
    return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.place))[:k]


def _counts(text: str) -> Counter[str]:
    line = " ".join(text.lower().split())
    return Counter(line[place : place + 3] for place in range(len(line) - 2))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    shared = sum(count * other[part] for part, count in one.items())
    return shared / sqrt(one.total() * other.total()) if shared else 0.0
