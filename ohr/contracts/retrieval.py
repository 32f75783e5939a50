"""Chunkers and retrievers: pages in, passages out; passages or page images in, an index that gives ranked hits out."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field

from ohr.contracts.stage import Stage
from ohr.contracts.values import Chunk, Hit, Image, Page, Question

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Index:
    """A corpus made searchable, by name. The engine stores it, and opens it again for searches.

    Args:
        contents: each is one of four. A numpy array comes back as an array that is mapped into memory; a JSON value
            (text, number, list, dictionary) as it was; an index as an index; and a function that writes a file or
            folder at the path that it gets, for libraries with files of their own, as that path.
        notes: warnings (sentences), such as how many chunks were cut to fit a model.
    """

    contents: Mapping[str, Any]
    notes: Sequence[str] = ()
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Any:
        """Return a content by its name."""
        return self.contents[name]

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, such as a library's object; it is called once while the index is open."""
        if name not in self._made:
            self._made[name] = make()
        result: T = self._made[name]
        return result


class AnyRetriever(Stage):
    """Finds passages for questions: what the engine asks of every retriever. Plugins inherit from those below."""

    family = "retriever"
    reads_images: ClassVar[bool] = False
    """True for those that look at page images; then a passage is a page."""
    top_k: Annotated[int, Field(gt=0, description="Chunks given to the generator and scored.")] = 2

    @property
    def indexed_parts(self) -> Sequence["AnyRetriever"]:
        """The retrievers that it searches with; retrievers that search with an equal one share its index."""
        return ()

    @abstractmethod
    def index_passages(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:
        """Make passages searchable; none is allowed, and finds nothing. Hits count them in their order.

        Args:
            images: where the retriever looks at images, that of each chunk, which is then a page; else none. Images are
                distorted as they are asked for; hold few at a time. To go through them again is allowed, and distorts
                them again.
        """

    def index_without_parts(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:
        """Make what an index has beside those of `indexed_parts`, which are made apart and added by `with_parts`."""
        return self.index_passages(chunks, images)

    @abstractmethod
    def search_questions(self, index: Index, questions: Sequence[Question], k: int) -> list[list[Hit]]:
        """Return at most `k` hits per question, best first, ties in the order of the passages."""


def with_parts(retriever: AnyRetriever, own: Index, parts: Sequence[Index]) -> Index:
    """Return a retriever's own index with those of its `indexed_parts`, as `part0` and on, and their warnings."""
    if not parts:
        return own
    pairs = zip(retriever.indexed_parts, parts, strict=True)
    notes = [f"{part.kind}: {note}" for part, index in pairs for note in index.notes]
    contents = {**own.contents, **{f"part{number}": part for number, part in enumerate(parts)}}
    together = Index(contents, tuple(dict.fromkeys((*notes, *own.notes))))  # an index of before has those of parts too
    together.once("index without parts", lambda: own)  # whose files last as long as it does
    return together


class QueryRetriever(AnyRetriever):
    """Searches for the text of a question, and sees nothing else of it."""

    @abstractmethod
    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return at most `k` hits per query, best first, ties in the order of the passages."""

    def search_questions(self, index: Index, questions: Sequence[Question], k: int) -> list[list[Hit]]:
        """Search for the texts of questions."""
        return self.search(index, [question.text for question in questions], k)


class Retriever(QueryRetriever):
    """Finds chunks for a query."""

    @abstractmethod
    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Make chunks searchable; no chunk is allowed, and finds nothing."""

    def index_passages(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:  # noqa: ARG002 # of the contract
        """Make the chunks searchable."""
        return self.index(chunks)


class PageRetriever(QueryRetriever):
    """Finds pages by their images alone: a passage is a page, whatever text the knowledge base has for it."""

    reads_images: ClassVar[bool] = True

    @abstractmethod
    def index_images(self, images: Iterable[Image]) -> Index:
        """Make page images searchable; they come one at a time. No image is allowed, and finds nothing."""

    def index_passages(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:  # noqa: ARG002 # of the contract
        """Make the images searchable."""
        return self.index_images(images)


class Chunker(Stage):
    """Cuts pages into passages."""

    family = "chunker"

    def for_base(self, name: str) -> "Chunker":  # noqa: ARG002 # for those whose chunks depend on it
        """Return the chunker of the knowledge base in folder `name`; only a published protocol needs another one."""
        return self

    @abstractmethod
    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut the pages of one document, in order; a page without text gives no chunk."""
