"""Retrievers inside retrievers: checked, identified and indexed together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from ohr.contracts import Chunk, Index, PageView, Resources, Retriever
from ohr.parts import RetrieverPart, part_identity


class JoinedRetriever(Retriever):
    """A retriever that joins the rankings of others."""

    retrievers: Annotated[tuple[RetrieverPart, ...], Field(min_length=1, description="The retrievers to join.")]

    @property
    def reads_images(self) -> bool:  # type: ignore[override] # depends on the parts
        """Whether one of the parts reads page images."""
        return any(part.reads_images for part in self.retrievers)

    def check(self) -> None:
        """Check every part."""
        for part in self.retrievers:
            part.check()

    def resources(self) -> Resources:
        """Return the resources of the parts together."""
        return Resources.together(*(part.resources() for part in self.retrievers))

    def identity(self) -> Mapping[str, object]:
        """Identify the parts as they identify themselves."""
        return {**super().identity(), "retrievers": [part_identity(part) for part in self.retrievers]}


def index_parts(parts: Sequence[Retriever], pages: Iterable[PageView]) -> tuple[list[Index], list[Chunk]]:
    """Index pages with several retrievers, of which some read images and some the pages' text; also return the text."""
    seen: list[Chunk] = []

    def noted() -> Iterator[PageView]:
        for chunk, image in pages:
            seen.append(chunk)
            yield chunk, image

    made: dict[int, Index] = {}
    for place, part in enumerate(parts):
        if part.reads_images:
            made[place] = part.index_pages(pages if made else noted())
    made |= {place: part.index(seen) for place, part in enumerate(parts) if not part.reads_images}
    return [made[place] for place in range(len(parts))], seen


def notes_of(parts: Sequence[Retriever], indices: Sequence[Index]) -> tuple[str, ...]:
    """Gather the warnings of the parts' indices."""
    return tuple(
        f"{part.kind}: {note}"
        for part, index in zip(parts, indices, strict=True)
        for note in getattr(index, "notes", ())
    )
