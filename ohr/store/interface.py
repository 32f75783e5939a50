"""The interface of every store, and the removal of results that were not used for long."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any, Protocol

from ohr.errors import StoreError

FORMAT = 2
"""Version of the stores that are written and read."""

DAY = 86400.0
"""Seconds. What is read is marked as used once a day at most, so that reading hardly ever writes; what a process that
was killed left unfinished is removed when it is a day old, which no live process takes to write a file."""


def check_format(number: int, place: str) -> None:
    """Raise a StoreError where a store has a format that this version does not write."""
    if number != FORMAT:
        origin, remedy = ("a later", "update ohr") if number > FORMAT else ("an earlier", "delete it")
        raise StoreError(
            f"the store at {place} has format {number}, which this version of ohr cannot read: it was made by {origin} "
            f"one; {remedy}, or use another --store"
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One part of a store.

    Args:
        key: of the value or folder; the file's name for a leftover.
        kind: `value`, `folder`, or `leftover`: an unfinished file of a killed process or a damaged database set aside.
        bytes: its size.
        used: when it was last read or written, in seconds since 1970.
        runs: the runs that have pinned it.
        claimed: whether a living process is making it.
    """

    key: str
    kind: str
    bytes: int
    used: float
    runs: tuple[str, ...] = ()
    claimed: bool = False


class Store(Protocol):
    """Keeps JSON values and folders under keys. All verbs raise a StoreError when the store cannot be used."""

    @property
    def url(self) -> str:
        """Name of the store: `open_store(store.url)` opens the same store in another process."""
        ...

    def has_many(self, keys: Collection[str]) -> set[str]:
        """Return those of the keys that have a value; checksums are verified when values are read."""
        ...

    def get_many(self, keys: Collection[str]) -> dict[str, Any]:
        """Read values; absent and damaged ones are left out, and damaged ones are removed."""
        ...

    def put_many(self, values: Mapping[str, Any]) -> None:
        """Write JSON values; each is written whole or not at all, and a kill after the return loses none."""
        ...

    def folder(self, key: str) -> Path | None:
        """Return a stored folder whose checksums are right, or None; a damaged one is removed."""
        ...

    def put_folder(self, key: str, fill: Callable[[Path], None]) -> Path:
        """Keep what `fill` writes into a new folder, unless there is a whole one by then; returns the folder."""
        ...

    def claim(self, keys: Collection[str]) -> set[str]:
        """Return those of the keys that this process may make now.

        A key that another living process has claimed is left out. Look with `has_many` after claiming: the other
        process may just have finished. What a dead process had claimed is free.
        """
        ...

    def release(self, keys: Collection[str]) -> None:
        """Release this process's claims, once the values are written or have failed."""
        ...

    def pin(self, run: str, keys: Iterable[str]) -> None:
        """Keep values and folders, those that are yet to be written too, from being pruned."""
        ...

    def unpin(self, run: str) -> int:
        """Drop the pins of a run; returns how many there were."""
        ...

    def pins(self) -> dict[str, int]:
        """Count the pins of each run."""
        ...

    def exists(self) -> bool:
        """Report whether anything was ever written here."""
        ...

    def size(self) -> int:
        """Return the bytes that the store takes."""
        ...

    def entries(self) -> Iterator[Entry]:
        """List all parts; those that were listed may be removed meanwhile."""
        ...

    def remove(self, entries: Sequence[Entry]) -> None:
        """Remove parts, except those that are pinned or claimed by now."""
        ...

    def discard(self, keys: Collection[str]) -> None:
        """Remove values and folders that are to be made again, though they may be pinned."""
        ...

    def get(self, key: str) -> Any | None:
        """Read a value, or None when it is absent or damaged."""
        return self.get_many((key,)).get(key)

    def put(self, key: str, value: Any) -> None:
        """Write a JSON value."""
        self.put_many({key: value})

    def has(self, key: str) -> bool:
        """Report whether there is a value."""
        return key in self.has_many((key,))


_AT_ONCE = 10_000
"""Parts removed in one transaction: others wait to write for less than a second."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """The parts that were removed, or would be.

    Args:
        parts: how many values, folders and leftovers.
        bytes: their size.
        pinned: how many old parts were kept for each run.
        claimed: how many old parts were kept because a living run is making them again.
    """

    parts: int
    bytes: int
    pinned: Mapping[str, int]
    claimed: int


def prune(store: Store, before: float, dry_run: bool = False) -> Pruned:
    """Remove results last used before a moment (seconds since 1970), except those that are pinned or claimed.

    Raises:
        StoreError: the store cannot be read or written.
    """
    old: list[Entry] = []
    parts = size = claimed = 0
    pinned: Counter[str] = Counter()
    for entry in store.entries():
        # an unfinished file that is young may be in the hands of a living process
        if entry.used >= (min(before, time() - DAY) if entry.kind == "leftover" else before):
            continue
        if entry.runs:
            pinned.update(entry.runs)
            continue
        if entry.claimed:
            claimed += 1
            continue
        parts, size = parts + 1, size + entry.bytes
        if not dry_run:
            old.append(entry)
        if len(old) == _AT_ONCE:  # so that a store of millions is not held in memory
            store.remove(old)
            old = []
    if old:
        store.remove(old)
    return Pruned(parts, size, dict(pinned), claimed)
