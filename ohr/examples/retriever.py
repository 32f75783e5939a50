"""Finds chunks by the words they share with the question."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from ohr.contracts import Chunk, Hit, Index, Retriever
from ohr.text.words import words


class Example(Retriever, kind="example"):
    """Ranks chunks by how many different words of the query they hold."""

    shortest: Annotated[int, Field(gt=0, description="Words with fewer letters are ignored.")] = 3

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """List each chunk's words. An index has arrays and JSON values by name, which the engine stores."""
        return Index({"bags": [sorted(set(words(chunk.text))) for chunk in chunks]})

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Best first; ties in the order of the chunks; chunks that share no word are left out."""
        bags = index.once("bags", lambda: [frozenset(bag) for bag in index["bags"]])  # made once for many searches
        return [self._ranked(query, bags, k) for query in queries]

    def _ranked(self, query: str, bags: Sequence[frozenset[str]], k: int) -> list[Hit]:
        asked = {word for word in words(query) if len(word) >= self.shortest}
        scored = [Hit(place, float(len(asked & bag))) for place, bag in enumerate(bags)]
        return sorted((hit for hit in scored if hit.score), key=lambda hit: (-hit.score, hit.place))[:k]
