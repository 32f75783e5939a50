"""Chunks of at most so many tokens, ending at sentence ends where they can."""

from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from ohr.contracts import Chunk, Chunker, Page, Span
from ohr.text.sentences import sentence_spans

Encoding = Literal["cl100k_base", "o200k_base", "llama3", "qwen3"]


class Tokens(Chunker):
    """Fills chunks with whole sentences up to `size` tokens; a longer sentence is cut between tokens.

    Chunks never cross a page (as in OHRBench, whose default is 1024 tokens without overlap). The vocabularies come
    with the package quicktok, so nothing is downloaded; cl100k_base gives the same counts as tiktoken.
    """

    kind: Literal["tokens"] = "tokens"
    packages: ClassVar[tuple[str, ...]] = ("quicktok-v1",)
    size: Annotated[int, Field(gt=0, description="Most tokens in a chunk.")] = 1024
    overlap: Annotated[int, Field(ge=0, description="Tokens at a chunk's start that repeat its predecessor's end.")] = 0
    tokenizer: Annotated[Encoding, Field(description="Vocabulary that counts the tokens.")] = "cl100k_base"

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "Tokens":
        if self.overlap >= self.size:
            raise ValueError(f"overlap must be smaller than size ({self.size})")
        return self

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut each page; a page of at most `size` tokens is one chunk."""
        return [
            Chunk(
                f"{page.document}:{page.index}:{start}", page.document, (page.index,), start, end, page.text[start:end]
            )
            for page in pages
            for start, end in self._spans(page.text)
            if page.text[start:end].strip()
        ]

    def _spans(self, text: str) -> Iterator[Span]:
        if len(text.encode()) <= self.size or self._count(text) <= self.size:  # a token is at least one byte
            yield 0, len(text)
            return
        pieces = [piece for span in sentence_spans(text) for piece in self._cut(text, span)]
        costs = [self._count(text[start:end]) for start, end in pieces]
        first = 0
        while first < len(pieces):
            last, total = first, costs[first]
            while last + 1 < len(pieces) and total + costs[last + 1] <= self.size:
                last += 1
                total += costs[last]
            yield pieces[first][0], pieces[last][1]
            if last + 1 == len(pieces):
                return
            first = self._next(costs, first, last)

    def _next(self, costs: Sequence[int], first: int, last: int) -> int:
        """Step back from the chunk's end by whole pieces that fit into the overlap."""
        back, total = last + 1, 0
        while back - 1 > first and total + costs[back - 1] <= self.overlap:
            back -= 1
            total += costs[back]
        return back

    def _cut(self, text: str, span: Span) -> Iterator[Span]:
        """Cut a sentence that is too long between tokens, and never inside a character."""
        start, end = span
        encoding = _encoding(self.tokenizer)
        ids = encoding.encode_ordinary(text[start:end])
        if len(ids) <= self.size:
            yield span
            return
        decoder = getincrementaldecoder("utf-8")()  # keeps the first bytes of a character until the rest comes
        for place in range(0, len(ids), self.size):
            piece = decoder.decode(encoding.decode_bytes(ids[place : place + self.size]))
            stop = end if place + self.size >= len(ids) else start + len(piece)
            yield start, stop
            start = stop

    def _count(self, text: str) -> int:
        return int(_encoding(self.tokenizer).count(text))


def _encoding(name: str) -> Any:
    import quicktok

    return quicktok.get_encoding(name)  # cached by the library
