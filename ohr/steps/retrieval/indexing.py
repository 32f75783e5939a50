"""Open indexes with their passages: what a retriever searches in one scope, loaded, or made and kept."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, overload

from ohr.contracts import AnyRetriever, Chunk, Hit, Image, Index, PageId, Question, with_parts
from ohr.errors import InputsGone, StageError
from ohr.files import indexes
from ohr.files.lazy import Made
from ohr.isolated import isolated
from ohr.messages.blame import fault_of
from ohr.messages.wording import counted
from ohr.steps.documents.make_document import AT_ONCE, as_chunk, expected, read_pages
from ohr.steps.documents.page_images import rendered
from ohr.store import Store
from ohr.work.plugin_checks import checked_hits, checked_index
from ohr.work.step import Report

_HELD = 1 << 26
"""Characters of passages that are held in memory: more are read again for each pass of a retriever over them."""


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of documents, in order.

    Args:
        chunks: as a retriever gets them.
        filled: how many pages have a passage.
        blank: how many passages have no word.
    """

    chunks: Sequence[Chunk]
    filled: int
    blank: int

    def at(self, places: Collection[int]) -> Mapping[int, Chunk]:
        """Return the passages at some places, in order, so that each document is read once."""
        return {place: self.chunks[place] for place in sorted(places)}


def read_passages(store: Store, keys: Sequence[str | None]) -> Passages:
    """Read the passages of documents; a document that failed has none."""
    there = [key for key in keys if key is not None]
    held, size, filled, blank = list[Chunk](), 0, 0, 0
    counts: list[int] = []
    for records in _by_document(store, there):
        counts.append(len(records))
        filled += len({page for record in records for page in record["pages"]})
        blank += sum(not any(map(str.isalnum, record["text"])) for record in records)
        size += sum(len(record["text"]) for record in records)
        if size <= _HELD:
            held += map(as_chunk, records)
        else:
            held.clear()
    return Passages(held if size <= _HELD else _Stored(store, there, counts), filled, blank)


def _by_document(store: Store, keys: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        values = expected(store, some, "an index", "chunks")
        yield from map(values.__getitem__, some)


class _Stored(Sequence[Chunk]):
    """Passages that stay in the store; the document that was looked at last is held."""

    def __init__(self, store: Store, keys: Sequence[str], counts: Sequence[int]) -> None:
        self._store, self._keys = store, keys
        self._starts = [0, *accumulate(counts)]
        self._number, self._chunks = -1, list[Chunk]()

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Chunk]:
        for records in _by_document(self._store, self._keys):
            yield from map(as_chunk, records)

    @overload
    def __getitem__(self, place: int) -> Chunk: ...

    @overload
    def __getitem__(self, place: slice) -> list[Chunk]: ...

    def __getitem__(self, place: int | slice) -> Chunk | list[Chunk]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        place = range(len(self))[place]
        number = bisect_right(self._starts, place) - 1
        if number != self._number:
            (records,) = _by_document(self._store, self._keys[number : number + 1])
            self._number, self._chunks = number, list(map(as_chunk, records))
        return self._chunks[place - self._starts[number]]


@dataclass(frozen=True, slots=True)
class Searched:
    """One scope of a knowledge base, as a retriever searches it.

    Args:
        base: name of the knowledge base.
        scope: `corpus`, a domain or a document, for messages.
        index: key of the index.
        parts: the same scope, as the retrievers that it searches with search it.
        pages: number of pages of each document of the scope, in order.
        documents: their names, for retrievers that look at pages; else empty.
        numbers: of the pages of each, in their order.
    """

    retriever: AnyRetriever
    base: str
    scope: str
    index: str
    pages: tuple[int, ...]
    documents: tuple[str, ...] = ()
    numbers: tuple[tuple[int, ...], ...] = ()
    parts: tuple["Searched", ...] = ()

    @property
    def indexes(self) -> tuple[str, ...]:
        """Keys of the index, and of the indexes of its parts."""
        return (self.index, *(index for part in self.parts for index in part.indexes))


@dataclass(frozen=True)
class Indexed:
    """An open index, its passages, and the pages that it lacks because their image failed."""

    index: Index
    passages: Passages
    lost: Collection[PageId]
    warnings: Sequence[str]

    @classmethod
    def of(
        cls, scope: Searched, inputs: Sequence[str | None], store: Store, report: Report, *, whole: bool = True
    ) -> "Indexed":
        """Load the index, or make and keep it.

        Args:
            inputs: keys of the documents' passages; for a retriever that looks at pages, of the documents and then of
                their page images. None where one failed.
            whole: none failed, directly or further up.
        """
        images: Sequence[Image] = ()
        lost: set[PageId] = set()
        if scope.documents:
            chunks, images, lost = _views(scope, inputs, store)
            passages = Passages(chunks, 0, 0)
        else:
            passages = read_passages(store, inputs)
        index = _opened(scope, passages.chunks, images, store if whole else None, report)
        return cls(index, passages, lost, [*([] if scope.documents else _empty(passages, scope)), *index.notes])

    def search(
        self, retriever: AnyRetriever, asked: Sequence[Question], k: int
    ) -> tuple[dict[int, list[Hit]], dict[int, str]]:
        """Search for questions; returns at most `k` hits each, and reasons of failures, by place in `asked`."""

        def some(questions: Sequence[Question]) -> list[Sequence[Hit]]:
            ranked = list(retriever.search_questions(self.index, questions, k))
            if len(ranked) != len(questions):
                raise StageError("retriever", retriever.kind, f"{len(ranked)} rankings for {len(questions)} questions")
            return [checked_hits(hits, len(self.passages.chunks), k) for hits in ranked]

        ranked, failed = isolated(asked, some)
        return ranked, {place: fault_of(error, retriever) for place, error in failed.items()}


def _opened(
    scope: Searched, chunks: Sequence[Chunk], images: Sequence[Image], store: Store | None, report: Report
) -> Index:
    """Load an index and those of its parts, or make and keep them; without a store nothing is kept."""
    parts = [_opened(part, chunks, images, store, report) for part in scope.parts]
    folder = store.folder(scope.index) if store else None
    if store and folder and not indexes.is_index(folder):
        store.discard([scope.index])
        folder = None
    if folder is None:
        index = checked_index(scope.retriever.index_without_parts(chunks, images))
        report.calls["indexes"] += 1
        if store is None:  # an index with holes must not be taken for the whole one by a later run
            return with_parts(scope.retriever, indexes.reopened(index), parts)
        folder = store.put_folder(scope.index, partial(indexes.save, index))
    return with_parts(scope.retriever, indexes.load(folder), parts)


def _views(scope: Searched, inputs: Sequence[str | None], store: Store) -> tuple[list[Chunk], Made, set[PageId]]:
    """Return the passages, images and lost pages of a scope whose passages are pages."""
    size = len(scope.documents)
    texts, images = inputs[:size], iter(inputs[size:])
    chunks, makers = list[Chunk](), list[Callable[[], Image]]()
    lost: set[PageId] = set()
    for name, numbers, document in zip(scope.documents, scope.numbers, texts, strict=True):
        held = {page.index: page.text for page in read_pages(store, document) or ()}
        for place, index in enumerate(numbers):
            image, text = next(images), held.get(index, "")
            if image is None:
                lost.add((name, index))
            else:
                again = f" {place + 1}" if index in numbers[:place] else ""
                chunks.append(Chunk(f"{name}:{index}{again}", name, (index,), 0, len(text), text))
                makers.append(partial(_image, chunks[-1].id, image, store))
    return chunks, Made(makers), lost


def _image(name: str, key: str, store: Store) -> Image:
    """Read a page image as a vision retriever looks at it; it is not held."""
    image = rendered(store, key)
    if image is None:
        raise InputsGone(f"image of {name}", [key])  # another run has ended
    return image


def _empty(passages: Passages, scope: Searched) -> list[str]:
    """Warn of pages without a chunk and chunks without a word: no retriever can find their text."""
    pages, blank = sum(scope.pages), passages.blank
    warnings = []
    if passages.filled < pages:
        warnings.append(f"{pages - passages.filled:,} of {counted(pages, 'page')} without text, and so without a chunk")
    if blank:
        warnings.append(f"{blank:,} of {counted(len(passages.chunks), 'chunk')} without a word")
    return warnings
