"""Locates a passage in the pages that it may come from, though it was cut, joined, re-wrapped or read with errors."""

from collections.abc import Mapping, Sequence

PageId = tuple[str, int]


class PageLocator:
    """Finds the pages that hold the words of a passage.

    Args:
        pages: for each page, versions of its text: the truth, and as an engine reads it.
    """

    def __init__(self, pages: Mapping[PageId, Sequence[str]]) -> None:
        self._pages = pages

    def locate(self, passage: str, document: str | None = None) -> tuple[PageId, ...]:
        """Return the pages of a passage, the one that holds most of it first; none where it is on no page.

        Args:
            document: only pages of this document count.
        """
        raise NotImplementedError
