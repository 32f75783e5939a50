"""Retrieval: index one scope of a knowledge base and search it for its questions, a batch at a time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Chunk, Hit, Image, Index, PageView, Question, Retriever, Stage
from ohr.errors import StageError
from ohr.isolated import isolated
from ohr.keys import key
from ohr.messages.wording import counted
from ohr.metrics.ranking import PageId
from ohr.steps.checks import checked_hits
from ohr.steps.documents import as_chunk, expected, read_chunks, read_pages
from ohr.steps.pages import rendered
from ohr.steps.step import Context, Ready, Report, Work, missing
from ohr.store import Store


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieved chunk and its score."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Retrieve(Work):
    """Index a scope and search it. Writes, for each batch of questions, {hits: {question: [...]}, warnings}.

    Its inputs are the documents' passages; for retrievers that look at pages, the documents and then their page images.

    Args:
        scope: `corpus` or a domain, for messages.
        index: key of the index.
        batches: for each output, the places of its questions in `Inputs.questions`.
        pages: number of pages of each document of the scope, in order.
        documents: their names, for retrievers that look at pages; else empty.
    """

    kind: ClassVar[str] = "retrieving"
    role: ClassVar[str] = "retriever"
    retriever: Retriever
    name: str
    base: str
    scope: str
    index: str
    batches: tuple[tuple[int, ...], ...]
    pages: tuple[int, ...]
    documents: tuple[str, ...] = ()

    @property
    def stage(self) -> Stage:
        """The retriever."""
        return self.retriever

    @property
    def item(self) -> str:
        """Name of the retriever, the knowledge base and the scope."""
        return f"{self.name} on {self.base}, {self.scope}"

    def label(self, place: int) -> str:
        """Name a batch of questions."""
        return self.item if len(self.batches) == 1 else f"{self.item}, batch {place + 1}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Search for the batches that are missing; a question on which the retriever raises fails alone."""
        report = Report()
        made = _Indexed.of(self, ready, context, report)
        for output in missing(ready.outputs, ready, context.store):
            context.watch.restart()
            batch = self.batches[ready.outputs.index(output)]
            asked = [context.inputs.questions[place] for place in batch]
            asked = [q for q in asked if not any((q.document, page) in made.lost for page in q.pages)]
            hits, failed = _search(self.retriever, made, asked)
            report.calls["searches"] += len(asked)
            value = {"hits": hits, "warnings": [*made.warnings, *self._shortage(made, context)]}
            if failed:
                reason = f"{counted(len(failed), 'question')} failed, the first: {next(iter(failed.values()))}"
                report.errors[output] = reason
                context.store.put(partial_key(output), value)
            else:
                context.store.put(output, value)
        return report

    def _shortage(self, made: "_Indexed", context: Context) -> list[str]:
        """Warn of an index smaller than `top_k`; where each document has its own, some are as small as they are."""
        wanted = self.retriever.top_k
        if len(made.chunks) >= wanted or context.inputs.benchmark.scoring.index_scope == "document":
            return []
        return [f"top_k is {wanted}, more than the number of chunks ({len(made.chunks)})"]


def partial_key(output: str) -> str:
    """Key of the hits of a batch in which some questions failed: used by this run, tried again by the next."""
    return key("partial", output)


def read_hits(store: Store, name: str | None, output: str) -> tuple[dict[str, list[Found]], list[str]]:
    """Read one batch's hits by question, and its warnings; a batch that failed has the hits it got, if any.

    Args:
        name: key of the batch; None where it failed.
        output: its key, whether or not it failed.
    """
    if name is not None:
        found = expected(store, [name], "hits")[name]
    elif (found := store.get(partial_key(output))) is None:
        return {}, []
    hits = {
        question: [Found(as_chunk(entry["chunk"]), entry["score"]) for entry in entries]
        for question, entries in found["hits"].items()
    }
    return hits, found["warnings"]


@dataclass(frozen=True)
class _Indexed:
    """An open index, its passages, and the pages that it lacks because their image failed."""

    index: Index
    chunks: Sequence[Chunk]
    lost: Collection[PageId]
    warnings: Sequence[str]

    @classmethod
    def of(cls, work: Retrieve, ready: Ready, context: Context, report: Report) -> "_Indexed":
        """Load the index, or make and keep it."""
        store, retriever = context.store, work.retriever
        views: Sequence[PageView] | None = None
        lost: set[PageId] = set()
        if work.documents:
            chunks, views, lost = _views(work, ready, store)
        else:
            chunks = list(read_chunks(store, ready.inputs))
        folder = store.folder(work.index) if ready.whole else None
        warned = key("index warnings", work.index)
        if folder is not None:
            return cls(retriever.load(folder), chunks, lost, store.get(warned) or ())
        index = retriever.index(chunks) if views is None else retriever.index_pages(views)
        report.calls["indexes"] += 1
        warnings = [*(_empty(chunks, work) if views is None else ()), *map(str, getattr(index, "notes", ()))]
        if ready.whole:  # an index with holes must not be taken for the whole one by a later run
            if warnings:
                store.put(warned, warnings)
            store.put_folder(work.index, index.save)
        return cls(index, chunks, lost, warnings)


def _views(work: Retrieve, ready: Ready, store: Store) -> tuple[list[Chunk], "_Views", set[PageId]]:
    """Return the passages, images and lost pages of a scope whose passages are pages."""
    size = len(work.documents)
    texts, images = ready.inputs[:size], iter(ready.inputs[size:])
    chunks, keys = [], []
    lost: set[PageId] = set()
    for name, pages, document in zip(work.documents, work.pages, texts, strict=True):
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
            raise StageError("page image", self._chunks[place].id, "its stored image is gone; run again")
        return self._chunks[place], image


def _search(
    retriever: Retriever, made: _Indexed, asked: Sequence[Question]
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str]]:
    """Search for questions; returns the hits by question, and the reasons by question that failed."""

    def some(questions: Sequence[Question]) -> list[Sequence[Hit]]:
        ranked = list(retriever.search(made.index, questions))
        if len(ranked) != len(questions):
            raise StageError("retriever", retriever.kind, f"{len(ranked)} rankings for {len(questions)} questions")
        return [checked_hits(found, len(made.chunks), retriever.top_k) for found in ranked]

    ranked, failed = isolated(asked, some)
    hits = {
        asked[place].id: [{"chunk": made.chunks[hit.place], "score": hit.score} for hit in found]
        for place, found in ranked.items()
    }
    return hits, {asked[place].id: f"{type(error).__name__}: {error}" for place, error in failed.items()}


def _empty(chunks: Sequence[Chunk], work: Retrieve) -> list[str]:
    """Warn of pages without a chunk and chunks without a word: no retriever can find their text."""
    pages = sum(work.pages)
    filled = len({(chunk.document, page) for chunk in chunks for page in chunk.pages})
    blank = sum(not any(map(str.isalnum, chunk.text)) for chunk in chunks)
    warnings = []
    if filled < pages:
        warnings.append(f"{pages - filled:,} of {counted(pages, 'page')} without text, and so without a chunk")
    if blank:
        warnings.append(f"{blank:,} of {counted(len(chunks), 'chunk')} without a word")
    return warnings
