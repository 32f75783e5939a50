"""The indexes of a run: the steps that make what each retriever searches, scope by scope."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ohr.contracts import AnyRetriever, Chunker, Document, PageRetriever
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import Graph
from ohr.spec.model import KnowledgeBase, Named
from ohr.steps.documents.make_document import CutChunks
from ohr.steps.documents.page_images import RenderPage
from ohr.steps.retrieval.indexing import Searched
from ohr.work.step import Step

_BATCH = 512
"""Questions of one step. Few enough that a step's hits fit in memory at any `top_k` and are lost in small parts when a
run is killed; many enough that a dense retriever encodes full batches."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents of one index and the places of the questions that are asked in it."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[int, ...]

    def batches(self) -> Iterator[tuple[int, ...]]:
        """Cut the questions into batches."""
        return (self.questions[start : start + _BATCH] for start in range(0, len(self.questions), _BATCH))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its documents."""
        return tuple(document.name for document in self.documents)


def scopes(keys: Keys) -> list[Scope]:
    """List the indexes of one knowledge base: one over the corpus, or one per domain or document with questions."""
    inputs, scope = keys.inputs, keys.spec.index_scope
    if scope == "corpus":
        return [Scope("corpus", inputs.documents, inputs.asked)]
    asked: dict[str, list[int]] = defaultdict(list)
    for place in inputs.asked:
        question = inputs.questions[place]
        asked[question.domain if scope == "domain" else question.document].append(place)
    held: dict[str, list[Document]] = defaultdict(list)
    for document in inputs.documents:
        held[document.domain if scope == "domain" else document.name].append(document)
    return [Scope(name, tuple(held[name]), tuple(places)) for name, places in asked.items()]


@dataclass(frozen=True, slots=True)
class Source:
    """An index: the scope as it is searched, and the keys of its inputs.

    Args:
        texts: of its passages, or of the documents for a retriever that looks at pages.
        images: of its page images.
        apart: of the texts that are kept with the hits, but are not in an index of images alone.
    """

    searched: Searched
    texts: tuple[str, ...]
    images: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


def add_source(
    graph: Graph,
    keys: Keys,
    scope: Scope,
    search: tuple[KnowledgeBase, Named[Chunker] | None, AnyRetriever],
    documents: Mapping[str, str],
) -> Source:
    """Add the steps that make the passages or page images of an index.

    Args:
        search: the knowledge base, its chunker where text is searched, and the retriever.
        documents: keys of the knowledge base's documents, by name.
    """
    base, chunker, retriever = search
    texts = tuple(documents[name] for name in scope.names)
    placed = [keys.placed(base, document) for document in scope.documents]
    pages = tuple(len({page.number for page in pages}) for pages in placed)  # a page that comes twice is one
    if chunker is not None:
        texts = tuple(_chunks(graph, keys, base, chunker.stage, name, documents[name]) for name in scope.names)
        searched = Searched(retriever, base.name, scope.name, "", pages)
        return Source(_keyed(keys, searched, texts, ()), texts)
    images = add_images(graph, keys, base, scope.documents)
    numbers = tuple(tuple(page.number for page in every) for every in placed)
    searched = Searched(retriever, base.name, scope.name, "", pages, scope.names, numbers)
    apart = texts if isinstance(retriever, PageRetriever) else ()
    return Source(_keyed(keys, searched, texts, images), texts, images, apart)


def _keyed(keys: Keys, searched: Searched, texts: Sequence[str], images: Sequence[str]) -> Searched:
    """Name the index by its inputs, and those of the parts by theirs."""
    retriever = searched.retriever
    parts = (_keyed(keys, replace(searched, retriever=part), texts, images) for part in retriever.indexed_parts)
    index = keys.index(() if isinstance(retriever, PageRetriever) else texts, images, retriever)
    return replace(searched, index=index, parts=tuple(parts))


def _chunks(graph: Graph, keys: Keys, base: KnowledgeBase, chunker: Chunker, document: str, made: str) -> str:
    name = keys.chunks(made, chunker)
    return graph.add(Step(CutChunks(chunker, base.name, document), (name,), (made,))).key


def add_images(graph: Graph, keys: Keys, base: KnowledgeBase, documents: Sequence[Document]) -> tuple[str, ...]:
    """Add the steps that distort the page images of documents; returns their keys."""
    recipe = keys.images(base)
    pages = [
        recipe.page(document, page.place, keys.inputs.leaf(document, images=True))
        for document in documents
        for page in recipe.placed(document)
    ]
    return tuple(graph.add(Step(RenderPage(page, base.name), (page.key,))).key for page in pages)
