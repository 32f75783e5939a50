"""The passages of an index: in memory, or read from the store as they are looked at where there are many."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, overload

from ohr.contracts import Chunk
from ohr.steps.documents.make_document import AT_ONCE, as_chunk, expected
from ohr.store import Store

_HELD = 1 << 26
"""Characters of passages that are held in memory: more are read again for each pass of a retriever over them."""


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of documents, in order.

    Args:
        chunks: as a retriever gets them.
        filled: how many pages have a passage.
        blank: how many passages have no word.
    """

    chunks: Sequence[Chunk]
    filled: int
    blank: int

    def at(self, places: Collection[int]) -> Mapping[int, Chunk]:
        """Return the passages at some places, in order, so that each document is read once."""
        return {place: self.chunks[place] for place in sorted(places)}


def read_passages(store: Store, keys: Sequence[str | None]) -> Passages:
    """Read the passages of documents; a document that failed has none."""
    there = [key for key in keys if key is not None]
    held, size, filled, blank = list[Chunk](), 0, 0, 0
    counts: list[int] = []
    for records in _by_document(store, there):
        counts.append(len(records))
        filled += len({page for record in records for page in record["pages"]})
        blank += sum(not any(map(str.isalnum, record["text"])) for record in records)
        size += sum(len(record["text"]) for record in records)
        if size <= _HELD:
            held += map(as_chunk, records)
        else:
            held.clear()
    return Passages(held if size <= _HELD else _Stored(store, there, counts), filled, blank)


def _by_document(store: Store, keys: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        values = expected(store, some, "an index", "chunks")
        yield from map(values.__getitem__, some)


class _Stored(Sequence[Chunk]):
    """Passages that stay in the store; the document that was looked at last is held."""

    def __init__(self, store: Store, keys: Sequence[str], counts: Sequence[int]) -> None:
        self._store, self._keys = store, keys
        self._starts = [0, *accumulate(counts)]
        self._number, self._chunks = -1, list[Chunk]()

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Chunk]:
        for records in _by_document(self._store, self._keys):
            yield from map(as_chunk, records)

    @overload
    def __getitem__(self, place: int) -> Chunk: ...

    @overload
    def __getitem__(self, place: slice) -> list[Chunk]: ...

    def __getitem__(self, place: int | slice) -> Chunk | list[Chunk]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        place = range(len(self))[place]
        number = bisect_right(self._starts, place) - 1
        if number != self._number:
            (records,) = _by_document(self._store, self._keys[number : number + 1])
            self._number, self._chunks = number, list(map(as_chunk, records))
        return self._chunks[place - self._starts[number]]
