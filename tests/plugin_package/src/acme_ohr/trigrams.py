"""Retrieval that does not mind misread letters."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Literal

from ohr.contracts import Chunk, Hit, Index, Retriever


class Trigrams(Retriever):
    """Ranks chunks by the cosine of their counts of three letters in a row."""

    kind: Literal["acme_trigrams"] = "acme_trigrams"

    def index(self, chunks: Sequence[Chunk]) -> Index:
        return TrigramIndex(tuple(_counts(chunk.text) for chunk in chunks))

    def load(self, folder: Path) -> Index:
        return TrigramIndex(tuple(map(Counter, json.loads((folder / "counts.json").read_text()))))


@dataclass(frozen=True)
class TrigramIndex:
    """The counts of every chunk."""

    counts: tuple[Counter[str], ...]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._ranked(_counts(query), k) for query in queries]

    def _ranked(self, query: Counter[str], k: int) -> list[Hit]:
        hits = [Hit(place, _cosine(query, counts)) for place, counts in enumerate(self.counts)]
        return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.place))[:k]

    def save(self, folder: Path) -> None:
        (folder / "counts.json").write_text(json.dumps(self.counts))


def _counts(text: str) -> Counter[str]:
    line = " ".join(text.lower().split())
    return Counter(line[place : place + 3] for place in range(len(line) - 2))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    shared = sum(count * other[part] for part, count in one.items())
    return shared / sqrt(one.total() * other.total()) if shared else 0.0
