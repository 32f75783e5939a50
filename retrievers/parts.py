"""Retrievers inside retrievers: indexed together."""

from collections.abc import Iterable, Iterator, Sequence

from ohr.contracts import Chunk, Index, PageView, Retriever


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
