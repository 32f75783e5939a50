"""Builds knowledge bases: noise, OCR, text noise and chunks, a page or a document at a time."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ohr.contracts import Chunk, Chunker, Document, Page
from ohr.engine.cells import searches
from ohr.engine.executors.local import Executor
from ohr.engine.progress import Progress
from ohr.engine.recipe import Recipe
from ohr.engine.tasks import DocumentTask, PageTask, finish_document, read_page
from ohr.engine.work import Work
from ohr.keys import key
from ohr.metrics.ranking import PageId
from ohr.spec.model import KnowledgeBase
from ohr.store import Store


@dataclass(frozen=True, slots=True)
class Bases:
    """The knowledge bases of a run, in the store; a document that failed as a whole has no key."""

    recipe: Recipe
    store: Store
    keys: Mapping[tuple[str, str], str]

    def document_key(self, base: KnowledgeBase, document: Document) -> str:
        """Key of a document's text, or of its absence."""
        return self.keys.get((base.name, document.name)) or key("no document", document.name)

    def pages(self, base: KnowledgeBase, document: Document) -> list[Page]:
        """Read a document's pages; each page of a document that failed carries an error."""
        found = self.store.get(self.document_key(base, document))
        if found is None:
            return [Page(document.name, index, "", "the document failed") for index in range(document.pages)]
        return [Page(**page) for page in found["pages"]]

    def edits(self, base: KnowledgeBase, document: Document) -> tuple[int, int]:
        """Count the edits that text noise made to a document, and those it was to make."""
        found = self.store.get(self.document_key(base, document))
        return (sum(map(len, found["edits"])), found["aimed"]) if found else (0, 0)

    def edits_by_page(self, base: KnowledgeBase, document: Document) -> dict[PageId, Counter[str]]:
        """Count the edits of a document by page and rule."""
        found = self.store.get(self.document_key(base, document)) or {"pages": [], "edits": []}
        return {
            (page["document"], page["index"]): Counter(edit["rule"] for edit in edits)
            for page, edits in zip(found["pages"], found["edits"], strict=True)
        }

    def chunks(self, base: KnowledgeBase, document: Document, chunker: Chunker) -> list[Chunk]:
        """Read a document's chunks."""
        found = self.store.get(self.recipe.chunks(self.document_key(base, document), chunker)) or []
        return [Chunk(**{**chunk, "pages": tuple(chunk["pages"])}) for chunk in found]

    def page_chunks(self, base: KnowledgeBase, document: Document) -> list[Chunk]:
        """Give each of a document's pages as one passage, also those without text."""
        texts = {page.index: page.text for page in self.pages(base, document)}
        return [
            Chunk(
                f"{document.name}:{index}", document.name, (index,), 0, len(texts.get(index, "")), texts.get(index, "")
            )
            for index in range(document.pages)
        ]


def missing_pages(recipe: Recipe, store: Store) -> list[PageTask]:
    """List the pages that have to be recognised; bases that share a condition share its pages."""
    tasks: dict[str, PageTask] = {}
    for base in recipe.spec.knowledge_bases:
        for document in recipe.inputs.documents if base.ocr.reads_images else ():
            for index in range(document.pages):
                name = recipe.page(base, document, index)
                if name not in tasks and store.get(name) is None:
                    seed = recipe.spec.seed + base.replicate
                    tasks[name] = PageTask(recipe.spec.benchmark, base, document, index, seed, name, store.url)
    return list(tasks.values())


def missing_documents(
    recipe: Recipe, store: Store, failures: Mapping[str, str]
) -> tuple[list[DocumentTask], dict[tuple[str, str], str]]:
    """List the documents that have to be finished, and the key of every document.

    Args:
        failures: what went wrong, by the key of the page.
    """
    chunkers: dict[str, dict[str, Chunker]] = defaultdict(dict)
    for base, chunker, _ in searches(recipe.spec):
        if chunker is not None:
            chunkers[base.name][chunker.name] = chunker.stage
    tasks: dict[str, DocumentTask] = {}
    keys: dict[tuple[str, str], str] = {}
    for base in recipe.spec.knowledge_bases:
        for document in recipe.inputs.documents:
            task = _document_task(recipe, store, base, document, failures, chunkers[base.name])
            keys[base.name, document.name] = task.key
            if task.chunkers or store.get(task.key) is None:
                known = tasks.get(task.key)
                if known:  # two bases with the same text may be chunked differently
                    task = replace(task, chunkers=tuple(dict([*known.chunkers, *task.chunkers]).items()))
                tasks[task.key] = task
    return list(tasks.values()), keys


def _document_task(
    recipe: Recipe,
    store: Store,
    base: KnowledgeBase,
    document: Document,
    failures: Mapping[str, str],
    chunkers: Mapping[str, Chunker],
) -> DocumentTask:
    reads = base.ocr.reads_images
    page_keys = tuple(recipe.page(base, document, index) for index in range(document.pages)) if reads else ()
    failed = tuple((index, failures[name]) for index, name in enumerate(page_keys) if name in failures)
    name = recipe.document(base, document)
    if failed:  # a text with holes must not be taken for the whole one by a later run
        name = key("incomplete", name, failed)
    wanted = [(recipe.chunks(name, chunker), chunker) for chunker in chunkers.values()]
    absent = tuple((chunk_key, chunker) for chunk_key, chunker in wanted if store.get(chunk_key) is None)
    seed = recipe.spec.seed + base.replicate
    asked = recipe.placing(base, document)
    return DocumentTask(recipe.spec.benchmark, base, document, seed, name, page_keys, failed, absent, store.url, asked)


def build_bases(recipe: Recipe, store: Store, executor: Executor, progress: Progress, work: Work) -> Bases:
    """Make every page, document and chunk that the store does not have."""
    failures = _recognise(recipe, store, executor, progress, work)
    tasks, keys = missing_documents(recipe, store, failures)
    with work.timed("documents"), progress.step("knowledge bases", len(tasks)) as advance:
        for outcome in executor.map(finish_document, tasks, recipe.spec.retries):
            work.calls["documents"] += 1
            advance(1)
            if outcome.error:
                work.fail("knowledge base", outcome.task.item, outcome.error)
                keys = {place: name for place, name in keys.items() if name != outcome.task.key}
    bases = Bases(recipe, store, keys)
    _tell_missing(bases, work)
    return bases


def _tell_missing(bases: Bases, work: Work) -> None:
    """Note the pages that a folder of recorded results does not have, in every run that uses it."""
    for base in bases.recipe.spec.knowledge_bases:
        if base.ocr.reads_images or base.ocr.kind == "ground_truth":
            continue
        for page in document_texts(bases, base):
            if page.error is not None:
                work.fail("ocr", f"{base.name}: {page.document} page {page.index}", page.error)


def _recognise(recipe: Recipe, store: Store, executor: Executor, progress: Progress, work: Work) -> dict[str, str]:
    failures: dict[str, str] = {}
    tasks = missing_pages(recipe, store)
    with work.timed("ocr"), progress.step("noise and OCR", len(tasks)) as advance:
        for outcome in executor.map(read_page, tasks, recipe.spec.retries):
            work.calls["pages"] += 1
            advance(1)
            if outcome.error:
                failures[outcome.task.key] = outcome.error
                work.fail("ocr", outcome.task.item, outcome.error)
            else:
                work.seconds[f"ocr {outcome.task.base.ocr.kind} (worker)"] += outcome.result
    return failures


def document_texts(bases: Bases, base: KnowledgeBase) -> Iterator[Page]:
    """Read all pages of a knowledge base."""
    for document in bases.recipe.inputs.documents:
        yield from bases.pages(base, document)
