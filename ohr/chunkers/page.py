"""One chunk per page."""

from collections.abc import Sequence

from ohr.contracts import Chunk, Chunker, Page


class PageChunker(Chunker, kind="page"):
    """Makes each page with text one chunk, whatever its length."""

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Return one chunk per page that has text."""
        return [
            Chunk(f"{page.document}:{page.index}:0", page.document, (page.index,), 0, len(page.text), page.text)
            for page in pages
            if page.text.strip()
        ]
