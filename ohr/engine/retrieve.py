"""Indexes knowledge bases and searches them for every question."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ohr.contracts import Chunk, Document, Index, PageRetriever, Question
from ohr.engine.bases import Bases
from ohr.engine.cells import Search
from ohr.engine.checks import checked_hits
from ohr.engine.images import PageImage
from ohr.engine.pages import Pages
from ohr.engine.progress import Progress
from ohr.engine.recipe import Recipe
from ohr.engine.work import Work
from ohr.keys import key
from ohr.messages.wording import counted
from ohr.metrics.ranking import PageId


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieved chunk and its score."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one retriever found in one knowledge base.

    Args:
        hits: by question id; a question without an entry failed, or rests on a page whose image failed.
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


def retrieve(bases: Bases, search: Search, progress: Progress, work: Work) -> Retrieved:
    """Find each question's chunks, in the store or by searching."""
    base, _, retriever = search
    hits: dict[str, list[Found]] = {}
    keys: list[str] = []
    failed = None
    for scope in scopes(bases.recipe):
        name = search_key(bases, search, scope)
        keys.append(name)
        stored = bases.store.get(name)
        if stored is None:
            with progress.step(f"{retriever.name} on {base.name}", len(scope.questions)) as advance:
                try:
                    stored = _search(bases, search, scope, work)
                except (
                    Exception,
                    SystemExit,
                ) as error:  # a retriever may raise anything: its questions fail, the run goes on
                    failed = f"{type(error).__name__}: {error}"
                    work.fail("retriever", f"{retriever.name} on {base.name}, {scope.name}", failed)
                    continue
                if stored.keys() == {question.id for question in scope.questions}:
                    bases.store.put(name, stored)
                advance(len(scope.questions))
        hits |= {question: [_found(entry) for entry in entries] for question, entries in stored.items()}
        told = [note for place in _notes_keys(bases, search, scope) for note in bases.store.get(place) or ()]
        work.notes += [f"{retriever.name} on {base.name}, {scope.name}: {note}" for note in told]
    return Retrieved(hits, tuple(keys), failed)


def retrieved_from_store(bases: Bases, search: Search) -> Retrieved | None:
    """Give the hits that the store has, or None when some are missing."""
    hits: dict[str, list[Found]] = {}
    keys = [search_key(bases, search, scope) for scope in scopes(bases.recipe)]
    for name in keys:
        stored = bases.store.get(name)
        if stored is None:
            return None
        hits |= {question: [_found(entry) for entry in entries] for question, entries in stored.items()}
    return Retrieved(hits, tuple(keys))


def index_key(bases: Bases, search: Search, scope: Scope) -> str:
    """Key of one index: of the chunks, or of the page images and, where it is read, their text."""
    recipe, (base, chunker, retriever) = bases.recipe, search
    if chunker is not None:
        texts = [recipe.chunks(bases.document_key(base, document), chunker.stage) for document in scope.documents]
        return recipe.index(texts, (), retriever.stage)
    images = [page.key for page in _images(bases, search, scope)]
    return recipe.index(() if _by_image_alone(search) else _texts(bases, search, scope), images, retriever.stage)


def search_key(bases: Bases, search: Search, scope: Scope) -> str:
    """Key of the hits in one index."""
    # the passages that are kept with the hits have a text that is not in the index
    texts = _texts(bases, search, scope) if _by_image_alone(search) else ()
    top_k = search[2].stage.top_k
    return bases.recipe.hits(index_key(bases, search, scope), texts, top_k, scope.questions)


def _notes_keys(bases: Bases, search: Search, scope: Scope) -> tuple[str, str]:
    """Keys of what is worth telling about an index, and about the search in it."""
    return key("index notes", index_key(bases, search, scope)), key("search notes", search_key(bases, search, scope))


def _by_image_alone(search: Search) -> bool:
    return isinstance(search[2].stage, PageRetriever)


def _texts(bases: Bases, search: Search, scope: Scope) -> list[str]:
    return [bases.document_key(search[0], document) for document in scope.documents]


def _images(bases: Bases, search: Search, scope: Scope) -> list[PageImage]:
    return [
        bases.recipe.image(search[0], document, index)
        for document in scope.documents
        for index in range(document.pages)
    ]


def _search(bases: Bases, search: Search, scope: Scope, work: Work) -> dict[str, list[dict[str, object]]]:
    """Search for each question; those whose pages have no image are left out."""
    retriever = search[2].stage
    index, chunks, lost = _index(bases, search, scope, work)
    asked = [q for q in scope.questions if not any((q.document, page) in lost for page in q.pages)]
    with work.timed("search"):
        ranked = retriever.search(index, asked)
    work.calls["searches"] += len(asked)
    if len(chunks) < retriever.top_k:
        note = f"top_k is {retriever.top_k}, more than the number of passages ({len(chunks)})"
        bases.store.put(_notes_keys(bases, search, scope)[1], [note])
    return {
        question.id: [
            {"chunk": asdict(chunks[hit.place]), "score": hit.score}
            for hit in checked_hits(found, len(chunks), retriever.top_k)
        ]
        for question, found in zip(asked, ranked, strict=True)
    }


def _index(bases: Bases, search: Search, scope: Scope, work: Work) -> tuple[Index, Sequence[Chunk], Collection[PageId]]:
    """Give the index, its passages, and the pages that are not in it because their image failed."""
    base, chunker, named = search
    retriever, name = named.stage, index_key(bases, search, scope)
    folder = bases.store.folder(name)
    if chunker is not None:
        chunks = [chunk for document in scope.documents for chunk in bases.chunks(base, document, chunker.stage)]
    else:
        chunks = [chunk for document in scope.documents for chunk in bases.page_chunks(base, document)]
    if folder is not None:
        return retriever.load(folder), chunks, ()
    lost: Collection[PageId] = ()
    with work.timed("index"):
        if chunker is not None:
            index = retriever.index(chunks)
        else:
            pages = Pages(chunks, _images(bases, search, scope), bases.recipe.spec.retries)
            index = retriever.index_pages(pages)
            chunks, lost = pages.seen, pages.failures
            for page, reason in pages.failures.items():
                work.fail("page image", f"{base.name}: {page[0]} page {page[1]}", reason)
        empty = _emptiness(chunks, scope) if chunker is not None else []
        if notes := [*empty, *(str(note) for note in getattr(index, "notes", ()))]:
            bases.store.put(_notes_keys(bases, search, scope)[0], notes)
        if not lost:  # an index with holes must not be taken for the whole one by a later run
            bases.store.put_folder(name, index.save)
    work.calls["indexes"] += 1
    return index, chunks, lost


def _emptiness(chunks: Sequence[Chunk], scope: Scope) -> list[str]:
    """Tell of pages that gave no passage, and of passages without a word: nothing can find what stood there."""
    pages = sum(document.pages for document in scope.documents)
    filled = len({(chunk.document, page) for chunk in chunks for page in chunk.pages})
    blank = sum(not any(map(str.isalnum, chunk.text)) for chunk in chunks)
    told = []
    if filled < pages:
        told.append(f"{pages - filled:,} of {counted(pages, 'page')} without text, and so without a passage")
    if blank:
        told.append(f"{blank:,} of {counted(len(chunks), 'passage')} without a word")
    return told


def _found(entry: Mapping[str, Any]) -> Found:
    chunk = entry["chunk"]
    return Found(Chunk(**{**chunk, "pages": tuple(chunk["pages"])}), entry["score"])
