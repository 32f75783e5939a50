"""Chunks of at most so many tokens, ending at sentence ends where they can."""

from bisect import bisect_right
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from ohr.contracts import Chunk, Chunker, Page, Span
from ohr.keys import installed
from ohr.text.sentences import sentence_spans
from ohr.text.tokens import Encoding, count_tokens, encoding

_CHARACTER = 4  # tokens of one character at most: one for each of its bytes


class Tokens(Chunker, kind="tokens"):
    """Fills chunks with whole sentences up to `size` tokens; a sentence longer than `size - overlap` is cut.

    The cut is between tokens, never inside a character: only a chunk of one character can have more than `size` tokens.
    With an overlap, each chunk repeats the end of the chunk before, in whole sentences where they fit, and adds text to
    it. Nothing is repeated where there is no room beside the new text. Chunks never cross a page (as in OHRBench, whose
    default is 1024 tokens without overlap). Nothing is downloaded: cl100k_base comes with ohr, the other vocabularies
    with the package quicktok.
    """

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = ("tiktoken",)
    size: Annotated[int, Field(gt=0, description="Most tokens in a chunk.")] = 1024
    overlap: Annotated[int, Field(ge=0, description="Most tokens that repeat the end of the chunk before.")] = 0
    tokenizer: Annotated[Encoding, Field(description="Vocabulary that counts the tokens.")] = "cl100k_base"

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "Tokens":
        if self.overlap >= self.size:
            raise ValueError(f"overlap must be smaller than size ({self.size})")
        return self

    def identity(self) -> Mapping[str, object]:
        """Identify quicktok where it brings the vocabulary; with tiktoken's it counts the same, only faster."""
        brought = {} if self.tokenizer == "cl100k_base" else {"packages": installed(("quicktok-v1",))}
        return {**super().identity(), **brought}

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
        most = len(text.encode(errors="replace"))  # a token is at least one byte
        if most <= self.size or self._count(text) <= self.size:
            yield 0, len(text)
            return
        pieces = [piece for span in sentence_spans(text) for piece in self._cut(text, span)]
        costs = [self._count(text[start:end]) for start, end in pieces]
        first, start = 0, -1
        while first < len(pieces):
            start = self._start(text, pieces[:first], start, pieces[first])
            last, total = first, self._count(text[start : pieces[first][1]])
            while last + 1 < len(pieces) and total + costs[last + 1] <= self.size:
                last += 1
                total += costs[last]
            # a text can have more tokens than its parts have together
            while last > first and self._count(text[start : pieces[last][1]]) > self.size:
                last -= 1
            yield start, pieces[last][1]
            first = last + 1

    def _start(self, text: str, before: Sequence[Span], previous: int, new: Span) -> int:
        """Return where the chunk of a new piece starts: in the pieces before it, behind the previous chunk's start."""
        stop, end = new
        if not self.overlap or not before:
            return stop
        whole = stop
        for begin, _ in reversed(before):
            if begin <= previous or not self._fits(text, begin, stop, end):
                break
            whole = begin
        if whole < stop:
            return whole
        places = [place for place in self._places(text, before[-1])[0] if previous < place < stop]
        worded = [place for place in places if text[place:stop].strip()]
        near = (place for place in worded[-self.overlap :] if self._fits(text, place, stop, end))
        least = (place for place in worded[-1:] + places[-1:] if self._count(text[place:end]) <= self.size)
        return next(chain(near, least), stop)

    def _fits(self, text: str, start: int, stop: int, end: int) -> bool:
        """Report whether an overlap is short enough, and leaves room for the piece that ends at `end`."""
        return self._count(text[start:stop]) <= self.overlap and self._count(text[start:end]) <= self.size

    def _cut(self, text: str, span: Span) -> Iterator[Span]:
        """Cut a sentence that leaves no room for an overlap between tokens, and never inside a character."""
        room = self.size - (self.overlap and max(self.overlap, min(_CHARACTER, self.size // 2)))
        if self._count(text[slice(*span)]) <= room:
            yield span
            return
        places, tokens = self._places(text, span)
        first = 0
        while first + 1 < len(places):
            last = max(bisect_right(tokens, tokens[first] + room) - 1, first + 1)
            while last > first + 1 and self._count(text[places[first] : places[last]]) > room:
                last -= 1
            if text[places[first] : places[last]].strip():
                yield places[first], places[last]
            first = last

    def _places(self, text: str, span: Span) -> tuple[list[int], list[int]]:
        """List the places between tokens that are between characters too, ends included, and the tokens before each."""
        known = encoding(self.tokenizer)
        decoder = getincrementaldecoder("utf-8")()  # keeps the first bytes of a character until the rest comes
        place, places, tokens = span[0], [span[0]], [0]
        for number, token in enumerate(known.encode_ordinary(text[slice(*span)]), start=1):
            place += len(decoder.decode(known.decode_single_token_bytes(token)))
            if not decoder.getstate()[0]:
                places.append(place)
                tokens.append(number)
        return places, tokens

    def _count(self, text: str) -> int:
        return count_tokens(text, self.tokenizer)
