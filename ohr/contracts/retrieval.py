"""Retrievers: passages or page images in, an index out; the index gives ranked hits."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Protocol

from pydantic import Field

from ohr.contracts.stage import Stage
from ohr.contracts.values import Chunk, Hit, Image, Question

PageView = tuple[Chunk, Image]
"""A page as a vision retriever sees it: its text in the knowledge base, as one chunk, and its image."""


class Index(Protocol):
    """Chunks or pages made searchable.

    It may have `notes`, a sequence of warnings (sentences) from its making, such as how many chunks were cut to fit
    a model. They need not be saved.
    """

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return at most `k` hits per query, best first, ties in the order of the chunks."""
        ...

    def save(self, folder: Path) -> None:
        """Write the index into an existing empty folder, without pickle."""
        ...


class Retriever(Stage):
    """Finds chunks for a query."""

    family = "retriever"
    reads_images: ClassVar[bool] = False
    """True for those that look at page images: `index_pages` is called instead of `index`."""
    top_k: Annotated[int, Field(gt=0, description="Chunks given to the generator and scored.")] = 2

    @abstractmethod
    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Make `chunks` searchable; an empty sequence is allowed and finds nothing."""

    def index_pages(self, pages: Iterable[PageView]) -> Index:
        """Make pages searchable; hits count them in the order in which they came.

        Args:
            pages: a knowledge base's pages. Images are distorted as they are asked for; hold few at a time. To go
                through the pages again is allowed, and distorts them again.
        """
        raise NotImplementedError(f"{self.kind} does not read page images")

    @abstractmethod
    def load(self, folder: Path) -> Index:
        """Read an index that this retriever saved."""

    def search(self, index: Index, questions: Sequence[Question]) -> list[list[Hit]]:
        """Search for each question's text; only sanity arms, which look at the truth, do anything else."""
        return index.search([question.text for question in questions], self.top_k)


class PageRetriever(Retriever):
    """Finds pages by their images alone: a passage is a page, whatever text the knowledge base has for it."""

    reads_images: ClassVar[bool] = True

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Refuse: text has no image."""
        raise NotImplementedError(f"{self.kind} retrieves page images, not text")

    def index_pages(self, pages: Iterable[PageView]) -> Index:
        """Make pages searchable by their images."""
        return self.index_images(image for _, image in pages)

    @abstractmethod
    def index_images(self, images: Iterable[Image]) -> Index:
        """Make page images searchable; they come one at a time. No image is allowed, and nothing is found."""
