"""Cuts pages at blank lines."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from ohr.contracts import Chunk, Chunker, Page


class Example(Chunker, kind="example"):
    """Makes a chunk of every paragraph; a chunk records which characters of its page it is."""

    shortest: Annotated[int, Field(gt=0, description="Paragraphs of fewer characters are left out.")] = 1

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut each page; a page without text gives no chunk."""
        return [chunk for page in pages for chunk in self._paragraphs(page)]

    def _paragraphs(self, page: Page) -> list[Chunk]:
        spans = [match.span() for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", page.text)]
        return [
            Chunk(
                f"{page.document}:{page.index}:{start}", page.document, (page.index,), start, end, page.text[start:end]
            )
            for start, end in spans
            if end - start >= self.shortest
        ]
