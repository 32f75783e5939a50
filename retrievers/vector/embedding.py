"""Retrievers by one vector per text: a subclass embeds texts, this base indexes and searches the vectors."""

from abc import abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Chunk, Hit, Index, Retriever

from ..models import ModelRetriever
from ..spill import gathered
from .vectors import IndexType, Vectors, index_vectors, search_vectors

_BLOCK = 1 << 14  # different texts that are embedded at once: 25 MB of vectors with 384 dimensions


class EmbeddingRetriever(ModelRetriever, Retriever):
    """Ranks chunks by the inner product of their vector with the query's; a subclass embeds the texts."""

    index_type: Annotated[
        IndexType, Field(description="exact, or FAISS's IVF, HNSW, PQ or IVF with PQ, whose recall is reported.")
    ] = "exact"

    @abstractmethod
    def embed_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[str]]:
        """Embed texts of chunks: vectors (texts, dim), and warnings. No text is allowed."""

    @abstractmethod
    def embed_queries(self, queries: Sequence[str]) -> Vectors:
        """Embed queries: (queries, dim)."""

    def check_one_vector(self) -> None:
        """Raise where this model gives many vectors for each text, which other retrievers cannot store."""

    def warnings(self, texts: Iterable[str]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """Return the warnings about the different texts of a corpus, such as how many are cut."""
        return ()

    def vectors(self, chunks: Sequence[Chunk]) -> tuple[Vectors, tuple[str, ...]]:
        """Embed chunks, equal texts once, since a vector's last digits depend on its batch.

        Returns: vectors (chunks, dim), mapped from a temporary file where there are many, and warnings.

        Raises:
            PluginError: a vector is not finite.
        """
        numbers, firsts = _different(chunks)
        notes = dict.fromkeys(self.warnings(chunks[place].text for place in firsts))
        if len(firsts) <= _BLOCK:
            vectors = self._embedded(chunks, firsts, notes)
        else:
            starts = range(0, len(firsts), _BLOCK)
            blocks = (self._embedded(chunks, firsts[start : start + _BLOCK], notes) for start in starts)
            vectors = gathered(blocks, np.float32)
        return vectors if len(firsts) == len(numbers) else vectors[numbers], tuple(notes)

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Embed every chunk."""
        vectors, notes = self.vectors(chunks)
        return index_vectors(vectors, self.index_type, f"retriever {self.kind}", notes)

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the inner product of the embeddings; ties in the order of the chunks."""
        return search_vectors(index, query_vectors(self, tuple(queries)), k)

    def _embedded(self, chunks: Sequence[Chunk], places: Sequence[int], notes: dict[str, None]) -> Vectors:
        """Embed some chunks, and add the warnings to `notes`."""
        vectors, further = self.embed_passages([chunks[place].text for place in places])
        notes |= dict.fromkeys(further)
        return vectors


@lru_cache(maxsize=4)
def query_vectors(retriever: EmbeddingRetriever, queries: tuple[str, ...]) -> Vectors:
    """Embed the questions once, (queries, dim): every knowledge base is asked the same ones."""
    return retriever.embed_queries(queries)


def _different(chunks: Sequence[Chunk]) -> tuple[NDArray[np.int64], Sequence[int]]:
    """Number the different texts: the number of each chunk's text, and the place of each text's first chunk."""
    numbers: dict[bytes, int] = {}
    firsts = array("q")
    of_chunks = np.empty(len(chunks), dtype=np.int64)
    for place, chunk in enumerate(chunks):
        # digests, since the texts of a million chunks take more memory than their vectors
        digest = blake2b(chunk.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        number = of_chunks[place] = numbers.setdefault(digest, len(firsts))
        if number == len(firsts):
            firsts.append(place)
    return of_chunks, firsts
