"""Chunks exactly as OHRBench's public code makes them, its accidents included."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import Chunk, Chunker, Page, Span
from ohr.errors import StageError
from ohr.text.tokens import count_tokens, encoding

from .sentence import sentence_starts

_CLAUSE = re.compile(r"[^,.;。？！]+[,.;。？！]?")
_SPECIAL = ("<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
"""Names that the vocabulary counts as one token."""


class Reference(Chunker, kind="reference"):
    """Cuts pages as OHRBench's code does (SentenceSplitter of llama-index 0.9.32), so that its numbers can be repeated.

    A chunk may have `size` tokens less those of the page's own label, `page_idx` and the path of its file: where a
    page is cut depends on the folder's and the file's name. A page that is too long is cut at paragraphs, sentences,
    clauses, words or characters, whichever first gives more than one piece; pieces are put together greedily. A page
    whose text is empty gives one empty chunk, which counts in BM25's statistics; a failed page gives none. Where a
    sentence alone is too long, repeated punctuation is lost: a chunk's text may be shorter than its span.
    """

    packages: ClassVar[tuple[str, ...]] = ("tiktoken",)
    size: Annotated[int, Field(gt=0, description="Most tokens in a chunk and its page's label together.")] = 1024
    base: Annotated[
        str | None,
        Field(description="Folder in the label; by default gt for the truth, that of recorded results, or the engine."),
    ] = None

    def for_base(self, name: str) -> "Reference":
        """Return the chunker of a knowledge base, whose folder is part of the label unless `base` is set."""
        return self if self.base is not None else self.model_copy(update={"base": name})

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut each page by itself, in order."""
        return [chunk for page in pages if page.error is None for chunk in self._chunks(page)]

    def _chunks(self, page: Page) -> Iterator[Chunk]:
        if not page.text:
            yield _chunk(page, [(0, 0)])
            return
        gathered: list[Span] = []
        total, room = 0, 0
        for span, cost, room in self._pieces(page):
            if gathered and total + cost > room:
                yield from _nonblank(page, gathered)
                gathered, total = [], 0
            gathered.append(span)
            total += cost
        yield from _nonblank(page, gathered)

    def _pieces(self, page: Page) -> Iterator[tuple[Span, int, int]]:
        """Yield the pieces of a page with their tokens, and the tokens that a chunk may have."""
        whole, label = (0, len(page.text)), self._label(page)
        if len(page.text.encode("utf-8", "replace")) + len(label.encode("utf-8", "replace")) <= self.size:
            yield whole, 0, self.size  # a token is at least one byte, so nothing needs counting
            return
        room = self.size - _count(label)
        if room <= 0:
            reason = f"its file's name leaves no room for text in {self.size} tokens"
            raise StageError("chunker reference", f"{page.document} page {page.index + 1}", reason)
        for span, cost in _cut(page.text, whole, room):
            yield span, cost, room

    def _label(self, page: Page) -> str:
        base = self.base if self.base is not None else "gt"
        return f"page_idx: {page.index}\nfile_path: data/retrieval_base/{base}/{page.document}.json"


def _chunk(page: Page, spans: Sequence[Span]) -> Chunk:
    """Join pieces; white space at both ends is dropped from the text and from its span."""
    joined = "".join(page.text[start:end] for start, end in spans)
    start = spans[0][0] + len(joined) - len(joined.lstrip())
    end = spans[-1][1] - (len(joined) - len(joined.rstrip()))
    return Chunk(f"{page.document}:{page.index}:{start}", page.document, (page.index,), start, end, joined.strip())


def _nonblank(page: Page, spans: Sequence[Span]) -> Iterator[Chunk]:
    chunk = _chunk(page, spans)
    if chunk.text:
        yield chunk


def _cut(text: str, span: Span, room: int) -> Iterator[tuple[Span, int]]:
    """Cut a span until each piece fits; yields each with its tokens."""
    waiting = [span]  # a list instead of recursion: on odd texts each cut takes only a few characters off
    while waiting:
        start, end = waiting.pop()
        cost = _count(text[start:end])
        if cost <= room or end - start == 1:
            yield (start, end), cost
        else:
            waiting += [(start + first, start + last) for first, last in reversed(_parts(text[start:end]))]


def _parts(text: str) -> list[Span]:
    for cutter in _CUTTERS:
        spans = cutter(text)
        if len(spans) > 1:
            return spans
    return [(place, place + 1) for place in range(len(text))]


def _paragraphs(text: str) -> list[Span]:
    return _up_to_next([0, *(match.start() for match in re.finditer("\n\n\n", text))], len(text))


def _sentences(text: str) -> list[Span]:
    """Cut where a sentence begins; the text before the first is lost."""
    return _up_to_next(sentence_starts(text), len(text))


def _clauses(text: str) -> list[Span]:
    return [match.span() for match in _CLAUSE.finditer(text)]


def _words(text: str) -> list[Span]:
    return _up_to_next([0, *(match.start() for match in re.finditer(" ", text))], len(text))


_CUTTERS: tuple[Callable[[str], list[Span]], ...] = (_paragraphs, _sentences, _clauses, _words)


def _up_to_next(starts: Sequence[int], end: int) -> list[Span]:
    """Let each piece reach to the next; empty ones are dropped."""
    return [(here, there) for here, there in pairwise([*starts, end]) if here < there]


def _count(text: str) -> int:
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair counts as `?`
    if "<|" in text and any(name in text for name in _SPECIAL):
        return len(encoding().encode(text, allowed_special="all"))
    return count_tokens(text)
