"""Swapped texts: the hits of one knowledge base, with the text that another one has at the same places."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ohr.contracts import Chunk, Span
from ohr.errors import StoreError
from ohr.messages.blame import fault_of
from ohr.steps.documents.make_document import read_pages
from ohr.steps.retrieval.retrieve import Found, as_value, read_hits
from ohr.store import Store
from ohr.text.alignment import Alignment
from ohr.work.step import Context, Ready, Report, Work, missing

_NO_TEXT = Alignment("", "")


@dataclass(frozen=True, slots=True)
class SwapHits(Work):
    """Replace the text of hits by that of another knowledge base. Writes the hits of each batch as `Retrieve` does.

    A hit goes over by its document, its page and its span of the page, aligned word by word; a page that the other
    base lacks is empty. Order and scores stay. The inputs are the hits of each batch, then the documents of the base
    that was searched, and those of the base that is read.

    Args:
        name: of the cell, for messages.
        hits: keys of the hits of each batch as they are without failures.
        documents: names of the documents.
    """

    kind: ClassVar[str] = "swapping texts"
    shape: ClassVar[str] = "hits"
    role: ClassVar[str] = "swap"
    named: ClassVar[str] = "{0.name}"
    name: str
    hits: tuple[str, ...]
    documents: tuple[str, ...]

    def label(self, place: int) -> str:
        """Name a batch of questions."""
        return self.item if len(self.hits) == 1 else f"{self.item}, batch {place + 1}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Swap the texts of the batches that are missing; one that cannot be done fails alone."""
        report, size = Report(), len(self.hits)
        bases = tuple(self._documents(ready.inputs[size:]))
        for output in missing(ready.outputs, ready, context.store):
            place = ready.outputs.index(output)
            hits, _ = read_hits(context.store, ready.inputs[place], self.hits[place])
            try:
                swapped = self._swapped(hits, bases, context)
            except StoreError:
                raise
            except Exception as error:
                report.errors[output] = fault_of(error)
                continue
            context.store.put(output, as_value(swapped))
            report.calls["swapped texts"] += sum(map(len, swapped.values()))
        return report

    def _swapped(
        self, hits: Mapping[str, Sequence[Found]], bases: Sequence[Mapping[str, str | None]], context: Context
    ) -> dict[str, list[Found]]:
        """Swap the texts of some hits, a document at a time; a question whose search failed has none here either."""
        swapped = {question: list(found) for question, found in hits.items()}
        places: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for question, found in hits.items():
            for rank, hit in enumerate(found):
                places[hit.chunk.document].append((question, rank))
        searched, read = bases
        for document, held in places.items():
            if document not in searched:  # a context of a system that is on no page stays as it is
                continue
            context.watch.restart()
            mine, theirs = (_texts(context.store, made[document]) for made in (searched, read))
            aligned = {index: Alignment(text, theirs.get(index, "")) for index, text in mine.items()}
            for question, rank in held:
                hit = swapped[question][rank]
                swapped[question][rank] = replace(hit, chunk=reworded(hit.chunk, aligned))
        return swapped

    def _documents(self, keys: Sequence[str | None]) -> Iterator[Mapping[str, str | None]]:
        """Sort the keys of documents by name: of the base that was searched, then of the one that is read."""
        size = len(self.documents)
        return (dict(zip(self.documents, some, strict=True)) for some in (keys[:size], keys[size:]))


def _texts(store: Store, document: str | None) -> dict[int, str]:
    return {page.index: page.text for page in read_pages(store, document) or ()}


def reworded(chunk: Chunk, pages: Mapping[int, Alignment]) -> Chunk:
    """Return a chunk with the text that the other version of its pages has in its place.

    What the chunker added to the text of its pages, such as a title, stays. Where it changed their text itself, that of
    the other version replaces all of it; but not where both versions are equal.

    Args:
        chunk: characters [start, end) of its first page; of further pages, as many as its text has.
        pages: by index, the pages of its document aligned with their other version.
    """
    aligned = [pages.get(index, _NO_TEXT) for index in chunk.pages]
    spans = [(chunk.start, chunk.end), *_further(chunk, aligned)]
    others = [page.span(*span) for page, span in zip(aligned, spans, strict=True)]
    mine = [page.text[slice(*span)] for page, span in zip(aligned, spans, strict=True)]
    theirs = [page.other[slice(*span)] for page, span in zip(aligned, others, strict=True)]
    start, end = others[0]
    text = chunk.text if mine == theirs else _replaced(chunk.text, mine, theirs)
    return replace(chunk, start=start, end=end, text=text)


def _further(chunk: Chunk, pages: Sequence[Alignment]) -> Iterator[Span]:
    """Yield the spans of the pages after the first: all of a page but the last, which ends where the chunk's text does.

    Where the text is not that of the pages, all of each page counts.
    """
    rest = chunk.text.removeprefix(pages[0].text[chunk.start : chunk.end]).strip()
    for page in pages[1:]:
        shown = page.text.strip()
        ends_here = shown.startswith(rest) and len(rest) < len(shown)
        yield 0, page.text.index(rest) + len(rest) if ends_here else len(page.text)
        rest = rest.removeprefix(shown).strip()


def _replaced(text: str, parts: Sequence[str], others: Sequence[str]) -> str:
    """Replace parts of a text, in order; where one is not there, return the others alone."""
    place = 0
    for part, other in zip(parts, others, strict=True):
        place = text.find(part, place)
        if place < 0:
            return "\n\n".join(others)
        text = text[:place] + other + text[place + len(part) :]
        place += len(other)
    return text
