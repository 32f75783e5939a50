"""Open indexes: what a retriever searches in one scope of a knowledge base, loaded, or made and kept."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.contracts import Chunk, Hit, Image, Index, PageId, PageView, Question, Retriever
from ohr.errors import InputsGone, StageError
from ohr.isolated import isolated
from ohr.keys import key
from ohr.messages.blame import fault_of
from ohr.messages.wording import counted
from ohr.steps.documents.make_document import read_chunks, read_pages
from ohr.steps.documents.render_page import rendered
from ohr.store import Store
from ohr.work.plugin_checks import checked_hits
from ohr.work.shapes import read_sound
from ohr.work.step import Report


@dataclass(frozen=True, slots=True)
class Searched:
    """One scope of a knowledge base, as a retriever searches it.

    Args:
        base: name of the knowledge base.
        scope: `corpus`, a domain or a document, for messages.
        index: key of the index.
        pages: number of pages of each document of the scope, in order.
        documents: their names, for retrievers that look at pages; else empty.
    """

    retriever: Retriever
    base: str
    scope: str
    index: str
    pages: tuple[int, ...]
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Indexed:
    """An open index, its passages, and the pages that it lacks because their image failed."""

    index: Index
    chunks: Sequence[Chunk]
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
        retriever = scope.retriever
        views: Sequence[PageView] | None = None
        lost: set[PageId] = set()
        if scope.documents:
            chunks, views, lost = _views(scope, inputs, store)
        else:
            chunks = list(read_chunks(store, inputs))
        folder = store.folder(scope.index) if whole else None
        warned = key("index warnings", scope.index)
        if folder is not None:
            return cls(retriever.load(folder), chunks, lost, read_sound(store, [warned], "lines").get(warned, ()))
        index = retriever.index(chunks) if views is None else retriever.index_pages(views)
        report.calls["indexes"] += 1
        warnings = [*(_empty(chunks, scope) if views is None else ()), *map(str, getattr(index, "notes", ()))]
        if whole:  # an index with holes must not be taken for the whole one by a later run
            if warnings:
                store.put(warned, warnings)
            store.put_folder(scope.index, index.save)
        return cls(index, chunks, lost, warnings)

    def search(self, retriever: Retriever, asked: Sequence[Question]) -> tuple[dict[int, list[Hit]], dict[int, str]]:
        """Search for the texts of questions; returns hits, and reasons of failures, by place in `asked`."""

        def some(questions: Sequence[Question]) -> list[Sequence[Hit]]:
            ranked = list(retriever.search(self.index, questions))
            if len(ranked) != len(questions):
                raise StageError("retriever", retriever.kind, f"{len(ranked)} rankings for {len(questions)} questions")
            return [checked_hits(found, len(self.chunks), retriever.top_k) for found in ranked]

        ranked, failed = isolated(asked, some)
        return ranked, {place: fault_of(error, retriever) for place, error in failed.items()}


def _views(scope: Searched, inputs: Sequence[str | None], store: Store) -> tuple[list[Chunk], "_Views", set[PageId]]:
    """Return the passages, images and lost pages of a scope whose passages are pages."""
    size = len(scope.documents)
    texts, images = inputs[:size], iter(inputs[size:])
    chunks, keys = [], []
    lost: set[PageId] = set()
    for name, pages, document in zip(scope.documents, scope.pages, texts, strict=True):
        held = {page.index: page.text for page in read_pages(store, document) or ()}
        for index in range(pages):
            image, text = next(images), held.get(index, "")
            if image is None:
                lost.add((name, index))
            else:
                chunks.append(Chunk(f"{name}:{index}", name, (index,), 0, len(text), text))
                keys.append(image)
    return chunks, _Views(chunks, keys, store), lost


class _Views(Sequence[PageView]):
    """Pages as a vision retriever sees them; each image is read when it is looked at, and not held."""

    def __init__(self, chunks: Sequence[Chunk], keys: Sequence[str], store: Store) -> None:
        self._chunks, self._keys, self._store = chunks, keys, store

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, place: Any) -> Any:
        image: Image | None = rendered(self._store, self._keys[place])
        if image is None:
            raise InputsGone(f"image of {self._chunks[place].id}", [self._keys[place]])  # another run has ended
        return self._chunks[place], image


def _empty(chunks: Sequence[Chunk], scope: Searched) -> list[str]:
    """Warn of pages without a chunk and chunks without a word: no retriever can find their text."""
    pages = sum(scope.pages)
    filled = len({(chunk.document, page) for chunk in chunks for page in chunk.pages})
    blank = sum(not any(map(str.isalnum, chunk.text)) for chunk in chunks)
    warnings = []
    if filled < pages:
        warnings.append(f"{pages - filled:,} of {counted(pages, 'page')} without text, and so without a chunk")
    if blank:
        warnings.append(f"{blank:,} of {counted(len(chunks), 'chunk')} without a word")
    return warnings
