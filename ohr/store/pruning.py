"""Removes results that were not used for long."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from time import time

from ohr.store.interface import DAY, Entry, Store

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
    pinned: Counter[str] = Counter()
    claimed = 0
    for entry in store.entries():
        # an unfinished file that is young may be in the hands of a living process
        if entry.used >= (min(before, time() - DAY) if entry.kind == "leftover" else before):
            continue
        if entry.runs:
            pinned.update(entry.runs)
        elif entry.claimed:
            claimed += 1
        else:
            old.append(entry)
    if not dry_run:
        for first in range(0, len(old), _AT_ONCE):
            store.remove(old[first : first + _AT_ONCE])
    return Pruned(len(old), sum(entry.bytes for entry in old), dict(pinned), claimed)
