"""Retrieval: index one scope of a knowledge base and search it for its questions, a batch at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Chunk, Hit, PageId, Question, Stage
from ohr.keys import key
from ohr.messages.wording import counted
from ohr.steps.documents.make_document import as_chunk, expected
from ohr.steps.retrieval.indexing import Indexed, Searched
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Work, missing


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieved chunk and its score."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Retrieve(Work):
    """Index a scope and search it. Writes, for each batch of questions, what `as_value` returns.

    Its inputs are the documents' passages; for retrievers that look at pages, the documents and then their page images.

    Args:
        scope: what is searched.
        batches: for each output, the places of its questions in `Inputs.questions`.
    """

    kind: ClassVar[str] = "retrieving"
    shape: ClassVar[str] = "hits"
    role: ClassVar[str] = "retriever"
    named: ClassVar[str] = "{0.name} on {0.scope.base}, {0.scope.scope}"
    name: str
    scope: Searched
    batches: tuple[tuple[int, ...], ...]

    @property
    def stage(self) -> Stage:
        """The retriever."""
        return self.scope.retriever

    def label(self, place: int) -> str:
        """Name a batch of questions."""
        return self.item if len(self.batches) == 1 else f"{self.item}, batch {place + 1}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Search for the batches that are missing; a question on which the retriever raises fails alone."""
        report = Report()
        made = Indexed.of(self.scope, ready.inputs, context.store, report, whole=ready.whole)
        left = missing(ready.outputs, ready, context.store)
        held = _held(made, [context.inputs.questions[place] for batch in self.batches for place in batch if left])
        for output in left:
            context.watch.restart()
            batch = self.batches[ready.outputs.index(output)]
            asked = [context.inputs.questions[place] for place in batch]
            asked = [q for q in asked if not any((q.document, page) in made.lost for page in q.pages)]
            top_k = self.scope.retriever.top_k
            found, failed = made.search(self.scope.retriever, asked, top_k + _most_hidden(held, asked))
            report.calls["searches"] += len(asked)
            chunks = made.passages.at({hit.place for ranked in found.values() for hit in ranked})
            hits = {
                asked[place].id: _seen(asked[place], [Found(chunks[hit.place], hit.score) for hit in ranked])[:top_k]
                for place, ranked in found.items()
            }
            value = as_value(hits, [*made.warnings, *self._shortage(made, context)])
            if failed:
                reason = f"{counted(len(failed), 'question')} failed, the first: {next(iter(failed.values()))}"
                report.errors[output] = reason
                context.store.put(partial_key(output), value)
            else:
                context.store.put(output, value)
        return report

    def _shortage(self, made: Indexed, context: Context) -> list[str]:
        """Warn of an index smaller than `top_k`; where each document has its own, some are as small as they are."""
        wanted = self.scope.retriever.top_k
        size = len(made.passages.chunks)
        if size >= wanted or self.scope.scope in context.inputs.by_name:
            return []
        return [f"top_k is {wanted}, more than the number of chunks ({size})"]


def _held(index: Indexed, asked: Sequence[Question]) -> Counter[PageId]:
    """Count the chunks of each page that a question must not see: once for all, as a large index is read for it."""
    hidden = {page for question in asked for page in question.hidden}
    chunks = index.passages.chunks if hidden else ()
    return Counter(page for chunk in chunks for page in _pages(chunk) if page in hidden)


def _most_hidden(held: Mapping[PageId, int], asked: Sequence[Question]) -> int:
    """Return how many chunks a question must not see: those of the question with most of them."""
    return max((sum(held[page] for page in question.hidden) for question in asked), default=0)


def _seen(question: Question, hits: list[Found]) -> list[Found]:
    """Leave out the chunks that are hidden from a question."""
    hidden = set(question.hidden)
    return [hit for hit in hits if hidden.isdisjoint(_pages(hit.chunk))] if hidden else hits


def _pages(chunk: Chunk) -> list[PageId]:
    return [(chunk.document, page) for page in chunk.pages]


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
        return read_value(expected(store, [name], "hits", "hits")[name])
    partial = partial_key(output)
    return read_value(read_sound(store, [partial], "hits").get(partial) or as_value({}))


def as_value(hits: Mapping[str, Sequence[Found]], warnings: Sequence[str] = ()) -> dict[str, Any]:
    """Return the hits of some questions as they are kept: {chunks, hits: {question: [[place, score]]}, warnings}.

    Each chunk is there once, whichever questions find it.
    """
    places: dict[Chunk, int] = {}
    ranked = {
        question: [[places.setdefault(hit.chunk, len(places)), hit.score] for hit in found]
        for question, found in hits.items()
    }
    return {"chunks": list(places), "hits": ranked, "warnings": list(warnings)}


def read_value(kept: Mapping[str, Any]) -> tuple[dict[str, list[Found]], list[str]]:
    """Read what `as_value` returned: hits by question, and warnings."""
    chunks = [as_chunk(chunk) for chunk in kept["chunks"]]
    return {
        question: [Found(chunks[place], score) for place, score in ranked] for question, ranked in kept["hits"].items()
    }, kept["warnings"]


def as_records(made: Indexed, ranked: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return the hits of one query as they are kept."""
    return [{"chunk": made.passages.chunks[hit.place], "score": hit.score} for hit in ranked]


def as_found(records: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Read the hits of one query."""
    return [Found(as_chunk(record["chunk"]), record["score"]) for record in records]
