"""Retrievers that can give one vector per token of a text, which others search by MaxSim."""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from functools import lru_cache

from ohr.contracts import Retriever

from .vectors import Vectors


class TokenEmbedder(Retriever):
    """A retriever that can embed the tokens of a text."""

    @abstractmethod
    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Embed the tokens of each text: (tokens, dim). No text is allowed."""

    def warnings(self, texts: Collection[str]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """Return the warnings about the different texts of a corpus, such as how many are cut."""
        return ()


@lru_cache(maxsize=4)
def query_token_vectors(retriever: TokenEmbedder, queries: tuple[str, ...]) -> list[Vectors]:
    """Embed the questions once, (tokens, dim) each: every knowledge base is asked the same ones."""
    return retriever.token_vectors(queries)
