"""Chunks of a fixed number of sentences."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import Chunk, Chunker, Page
from ohr.text.sentences import sentence_spans


class Sentence(Chunker, kind="sentence"):
    """Makes every `count` sentences of a page one chunk, without overlap."""

    version: ClassVar[int] = 2
    count: Annotated[int, Field(gt=0, description="Sentences in a chunk.")] = 3

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut each page; the last chunk of a page may be shorter."""
        chunks = []
        for page in pages:
            spans = sentence_spans(page.text)
            for place in range(0, len(spans), self.count):
                start, end = spans[place][0], spans[min(place + self.count, len(spans)) - 1][1]
                name = f"{page.document}:{page.index}:{start}"
                chunks.append(Chunk(name, page.document, (page.index,), start, end, page.text[start:end]))
        return chunks
