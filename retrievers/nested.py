"""Retrievers inside retrievers: checked, identified and indexed together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import model_validator

from ohr.contracts import Chunk, Hit, Image, Index, QueryRetriever, Resources
from ohr.parts import part_identity


class JoinedRetriever(QueryRetriever):
    """A retriever that searches with others, its parts."""

    parts_field: ClassVar[str] = "retrievers"
    """The field that holds them."""

    @property
    def parts(self) -> tuple[QueryRetriever, ...]:
        """The retrievers that it searches with."""
        held = getattr(self, self.parts_field)
        return held if isinstance(held, tuple) else (held,)

    @property
    def reads_images(self) -> bool:  # type: ignore[override] # depends on the parts
        """Whether one of the parts reads page images."""
        return any(part.reads_images for part in self.parts)

    def check(self) -> None:
        """Check every part."""
        for part in self.parts:
            part.check()

    def resources(self) -> Resources:
        """Return the resources of the parts together."""
        return Resources.together(*(part.resources() for part in self.parts))

    def identity(self) -> Mapping[str, object]:
        """Identify the parts as they identify themselves."""
        identities = [part_identity(part) for part in self.parts]
        is_list = isinstance(getattr(self, self.parts_field), tuple)
        return {**super().identity(), self.parts_field: identities if is_list else identities[0]}

    @model_validator(mode="after")
    def _searches_by_words(self) -> Self:
        for part in self.parts:
            if not isinstance(part, QueryRetriever):
                raise ValueError(
                    f"{part.kind} looks at the truth about a question, not at its words: search with others"
                )
        return self

    def index_passages(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:
        """Index with every part, the chunks or their images as it reads them."""
        indexes = [part.index_passages(chunks, images) for part in self.parts]
        notes = [
            f"{part.kind}: {note}" for part, index in zip(self.parts, indexes, strict=True) for note in index.notes
        ]
        named = {f"part{number}": index for number, index in enumerate(indexes)}
        return Index({**named, **self.keep(chunks)}, (*notes, *self.notes(chunks)))

    def keep(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:  # noqa: ARG002 # for those that keep something
        """Return what the index holds of the chunks beside the parts' indexes."""
        return {}

    def notes(self, chunks: Sequence[Chunk]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """Return the warnings of an index beside those of its parts."""
        return ()

    def rankings(self, index: Index, queries: Sequence[str], k: int) -> list[list[list[Hit]]]:
        """Search with every part: for each, its ranking for each query."""
        return [part.search(index[f"part{number}"], queries, k) for number, part in enumerate(self.parts)]
