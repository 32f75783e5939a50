"""Retrievers inside retrievers: checked, identified, indexed and saved together."""

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ohr.contracts import Chunk, Hit, Index, PageView, Resources, Retriever
from ohr.parts import part_identity


class JoinedRetriever(Retriever):
    """A retriever that searches with others, its parts."""

    parts_field: ClassVar[str] = "retrievers"
    """The field that holds them."""
    kept_in: ClassVar[str | None] = None
    """The file, beside the parts' indexes, of what `keep` returns."""

    @property
    def parts(self) -> tuple[Retriever, ...]:
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

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Index with every part."""
        return JoinedIndex(tuple(part.index(chunks) for part in self.parts), self.keep(chunks), self)

    def index_pages(self, pages: Iterable[PageView]) -> Index:
        """Index page images, or the pages' text, as each part reads them."""
        indices, chunks = index_parts(self.parts, pages)
        return JoinedIndex(tuple(indices), self.keep(chunks), self)

    def load(self, folder: Path) -> Index:
        """Read every part's index, and what is kept beside them."""
        kept = json.loads((folder / self.kept_in).read_text()) if self.kept_in else []
        return JoinedIndex(tuple(part.load(folder / str(n)) for n, part in enumerate(self.parts)), kept, self)

    def keep(self, chunks: Sequence[Chunk]) -> list[Any]:  # noqa: ARG002 # for those that keep something
        """Return what is kept of the chunks beside the parts' indexes, as JSON values."""
        return []

    def notes(self, kept: Sequence[Any]) -> tuple[str, ...]:  # noqa: ARG002 # for those that have some
        """Return the warnings of an index beside those of its parts."""
        return ()

    @abstractmethod
    def ranked(self, index: "JoinedIndex", queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Search with the parts, and make one ranking of theirs for each query."""


@dataclass(frozen=True)
class JoinedIndex:
    """One index per part, and what the retriever keeps of the chunks."""

    indices: tuple[Index, ...]
    kept: Sequence[Any]
    retriever: JoinedRetriever

    @property
    def notes(self) -> Sequence[str]:
        """Warnings of the parts, and the retriever's own."""
        parts = zip(self.retriever.parts, self.indices, strict=True)
        notes = [f"{part.kind}: {note}" for part, index in parts for note in getattr(index, "notes", ())]
        return (*notes, *self.retriever.notes(self.kept))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank as the retriever does."""
        return self.retriever.ranked(self, queries, k)

    def save(self, folder: Path) -> None:
        """Write what is kept, and each part's index into a folder of its own."""
        if self.retriever.kept_in:
            (folder / self.retriever.kept_in).write_text(json.dumps(self.kept))
        for number, index in enumerate(self.indices):
            (folder / str(number)).mkdir()
            index.save(folder / str(number))


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
