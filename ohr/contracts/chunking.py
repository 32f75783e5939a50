"""Chunkers: pages in, passages out."""

from abc import abstractmethod
from collections.abc import Sequence

from ohr.contracts.stage import Stage
from ohr.contracts.values import Chunk, Page


class Chunker(Stage):
    """Cuts pages into passages."""

    family = "chunker"

    def for_base(self, name: str) -> "Chunker":  # noqa: ARG002 # for those whose chunks depend on it
        """Return the chunker of the knowledge base in folder `name`; only a published protocol needs another one."""
        return self

    @abstractmethod
    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut the pages of one document, in order; a page without text gives no chunk."""
