"""A knowledge base's pages as a vision retriever takes them: one after another, each distorted on its way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ohr.contracts import Chunk, Image, PageView
from ohr.engine.checks import checked_image
from ohr.engine.images import PageImage
from ohr.errors import OhrError, StageError
from ohr.metrics.ranking import PageId


@dataclass
class Pages:
    """Pages with their images; one whose image cannot be made is left out and told.

    Args:
        chunks: each page's text as one passage.
        images: how each page's image is made.
        retries: how often an image that fails is tried again.
        failures: why pages were left out; the same pages whenever the others are gone through again.
    """

    chunks: Sequence[Chunk]
    images: Sequence[PageImage]
    retries: int = 0
    failures: dict[PageId, str] = field(default_factory=dict)
    passed: bool = False

    @property
    def seen(self) -> list[Chunk]:
        """The passages of the pages that were not left out."""
        return [chunk for chunk in self.chunks if _page(chunk) not in self.failures]

    def __iter__(self) -> Iterator[PageView]:
        """Make one image after the other."""
        for chunk, page in zip(self.chunks, self.images, strict=True):
            image = None if _page(chunk) in self.failures else self._made(chunk, page)
            if image is not None:
                yield chunk, image
        self.passed = True

    def _made(self, chunk: Chunk, page: PageImage) -> Image | None:
        for _ in range(self.retries + 1):
            try:
                return checked_image(page.make())
            except Exception as error:  # a benchmark or a noise may raise anything: this page fails, the others go on
                reason = str(error) if isinstance(error, OhrError) else f"{type(error).__name__}: {error}"
        if self.passed:  # an index of fewer pages than another would count them differently
            raise StageError("page image", page.item, reason)
        self.failures[_page(chunk)] = reason
        return None


def _page(chunk: Chunk) -> PageId:
    return chunk.document, chunk.pages[0]
