"""Indexes knowledge bases and searches them for every question."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ohr.contracts import Chunk, Document, Question, Retriever
from ohr.engine.bases import Bases
from ohr.engine.border import checked_hits
from ohr.engine.progress import Progress
from ohr.engine.recipe import Recipe
from ohr.engine.work import Work
from ohr.spec.model import KnowledgeBase, Named


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieved chunk and its score."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one retriever found in one knowledge base.

    Args:
        hits: by question id; a question without an entry failed.
        keys: the store's keys of the hits, one per index.
        failed: why the questions without an entry failed.
    """

    hits: Mapping[str, Sequence[Found]]
    keys: tuple[str, ...]
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents of one index and the questions that are asked in it."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def scopes(recipe: Recipe) -> list[Scope]:
    """List the indices of one knowledge base: one over the corpus, or one per domain."""
    documents, questions = recipe.inputs.documents, recipe.inputs.questions
    if recipe.spec.benchmark.scoring.index_scope == "corpus":
        return [Scope("corpus", documents, questions)]
    return [
        Scope(
            domain,
            tuple(document for document in documents if document.domain == domain),
            tuple(question for question in questions if question.domain == domain),
        )
        for domain in dict.fromkeys(question.domain for question in questions)
    ]


def retrieve(
    bases: Bases,
    base: KnowledgeBase,
    chunker: Named[Any],
    retriever: Named[Retriever],
    progress: Progress,
    work: Work,
) -> Retrieved:
    """Find each question's chunks, in the store or by searching."""
    hits: dict[str, list[Found]] = {}
    keys: list[str] = []
    failed = None
    for scope in scopes(bases.recipe):
        name = search_key(bases, base, chunker, retriever, scope)
        keys.append(name)
        stored = bases.store.get(name)
        if stored is None:
            with progress.step(f"{retriever.name} on {base.name}", len(scope.questions)) as advance:
                try:
                    stored = _search(bases, base, chunker, retriever.stage, scope, work)
                except (
                    Exception,
                    SystemExit,
                ) as error:  # a retriever may raise anything: its questions fail, the run goes on
                    failed = f"{type(error).__name__}: {error}"
                    work.fail("retriever", f"{retriever.name} on {base.name}, {scope.name}", failed)
                    continue
                bases.store.put(name, stored)
                advance(len(scope.questions))
        for question in scope.questions:
            hits[question.id] = [_found(entry) for entry in stored[question.id]]
    return Retrieved(hits, tuple(keys), failed)


def retrieved_from_store(
    bases: Bases, base: KnowledgeBase, chunker: Named[Any], retriever: Named[Retriever]
) -> Retrieved | None:
    """Give the hits that the store has, or None when some are missing."""
    hits: dict[str, list[Found]] = {}
    keys = [search_key(bases, base, chunker, retriever, scope) for scope in scopes(bases.recipe)]
    for name in keys:
        stored = bases.store.get(name)
        if stored is None:
            return None
        hits |= {question: [_found(entry) for entry in entries] for question, entries in stored.items()}
    return Retrieved(hits, tuple(keys))


def index_key(bases: Bases, base: KnowledgeBase, chunker: Named[Any], retriever: Named[Retriever], scope: Scope) -> str:
    """Key of one index."""
    recipe = bases.recipe
    chunked = [recipe.chunks(bases.document_key(base, document), chunker.stage) for document in scope.documents]
    return recipe.index(chunked, retriever.stage)


def search_key(
    bases: Bases, base: KnowledgeBase, chunker: Named[Any], retriever: Named[Retriever], scope: Scope
) -> str:
    """Key of the hits in one index."""
    name = index_key(bases, base, chunker, retriever, scope)
    return bases.recipe.hits(name, retriever.stage.top_k, scope.questions)


def _search(
    bases: Bases, base: KnowledgeBase, chunker: Named[Any], retriever: Retriever, scope: Scope, work: Work
) -> dict[str, list[dict[str, object]]]:
    chunks = [chunk for document in scope.documents for chunk in bases.chunks(base, document, chunker.stage)]
    name = index_key(bases, base, chunker, Named("", retriever), scope)
    folder = bases.store.folder(name)
    if folder is None:
        with work.timed("index"):
            index = retriever.index(chunks)
            bases.store.put_folder(name, index.save)
        work.calls["indexes"] += 1
    else:
        index = retriever.load(folder)
    with work.timed("search"):
        ranked = index.search([question.text for question in scope.questions], retriever.top_k)
    work.calls["searches"] += len(scope.questions)
    return {
        question.id: [
            {"chunk": asdict(chunks[hit.place]), "score": hit.score}
            for hit in checked_hits(found, len(chunks), retriever.top_k)
        ]
        for question, found in zip(scope.questions, ranked, strict=True)
    }


def _found(entry: Mapping[str, Any]) -> Found:
    chunk = entry["chunk"]
    return Found(Chunk(**{**chunk, "pages": tuple(chunk["pages"])}), entry["score"])
