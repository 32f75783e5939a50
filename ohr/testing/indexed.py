"""A corpus that a retriever has indexed, to be searched in tests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ohr.contracts import AnyRetriever, Chunk, Hit, Image, Index, Question
from ohr.files.indexes import reopened


@dataclass(frozen=True)
class Indexed:
    """An index as a search finds it: stored, and opened again."""

    retriever: AnyRetriever
    index: Index

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings from its making."""
        return tuple(self.index.notes)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Search for texts; retrievers that look at the truth about a question find nothing."""
        questions = [Question(str(place), text, (), "", (), (), "", "") for place, text in enumerate(queries)]
        return self.retriever.search_questions(self.index, questions, k)


def indexed(retriever: AnyRetriever, chunks: Sequence[Chunk] = (), images: Iterable[Image] = ()) -> Indexed:
    """Index chunks, or pages with these images, as the engine does.

    Raises:
        TypeError: the retriever returns something other than an Index.
    """
    made = retriever.index_passages(chunks, images)
    if not isinstance(made, Index):
        raise TypeError(f"`index` must return an Index, not {type(made).__name__}")
    return Indexed(retriever, reopened(made))
