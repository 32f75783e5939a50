"""Finds chunks by the words they share with the question."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ohr.contracts import Chunk, Hit, Index, Retriever
from ohr.text.words import words


class Example(Retriever):
    """Ranks chunks by how many different words of the query they hold."""

    kind: Literal["example"] = "example"
    shortest: Annotated[int, Field(gt=0, description="Words with fewer letters are ignored.")] = 3

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Keep each chunk's words."""
        return ExampleIndex(tuple(frozenset(words(chunk.text)) for chunk in chunks), self.shortest)

    def load(self, folder: Path) -> Index:
        """Read what `save` wrote."""
        saved = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        return ExampleIndex(tuple(frozenset(bag) for bag in saved), self.shortest)


@dataclass(frozen=True)
class ExampleIndex:
    """One set of words per chunk."""

    bags: tuple[frozenset[str], ...]
    shortest: int

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Best first; ties in the order of the chunks; chunks that share no word are left out."""
        return [self._ranked(query, k) for query in queries]

    def _ranked(self, query: str, k: int) -> list[Hit]:
        asked = {word for word in words(query) if len(word) >= self.shortest}
        scored = [Hit(place, float(len(asked & bag))) for place, bag in enumerate(self.bags)]
        return sorted((hit for hit in scored if hit.score), key=lambda hit: (-hit.score, hit.place))[:k]

    def save(self, folder: Path) -> None:
        """Write plain JSON; a pickle would be refused."""
        (folder / "words.json").write_text(json.dumps([sorted(bag) for bag in self.bags]), encoding="utf-8")
