"""Saves what can be read of a damaged database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from ohr.store.content import digest
from ohr.store.reasons import is_damage

_AT_ONCE = 256
"""Values of one transaction."""

_GIVE_UP = 5000
"""Row numbers tried in vain, one after the other, until the rest counts as lost. A damaged inner page of the tree hides
some 400 pages with three rows of 1 kB each."""


def salvage(damaged: Path, new: sqlite3.Connection) -> int:
    """Copy whole values and all pins into a new database; returns how many values there were.

    Raises:
        sqlite3.Error: the damaged database cannot be read for another reason, or the new one cannot be written.
    """
    kept = 0
    with closing(sqlite3.connect(f"{damaged.as_uri()}?mode=ro", uri=True, isolation_level=None)) as old:
        old.execute("PRAGMA writable_schema = ON")  # lets SQLite read a file that is shorter than its header says
        old.text_factory = lambda text: text.decode("utf-8", "replace")
        values = _values(old)
        while rows := list(islice(values, _AT_ONCE)):
            new.execute("BEGIN")
            new.executemany("INSERT OR REPLACE INTO objects (key, value, digest, used) VALUES (?, ?, ?, ?)", rows)
            new.execute("COMMIT")
            kept += len(rows)
        new.executemany("INSERT OR IGNORE INTO pins VALUES (?, ?)", _pins(old))
    return kept


def _values(old: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    last = vain = 0
    while vain < _GIVE_UP:
        try:
            row = old.execute(
                "SELECT n, key, value, digest, used FROM objects WHERE n > ? ORDER BY n LIMIT 1", (last,)
            ).fetchone()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            last, vain = last + 1, vain + 1
            continue
        if row is None:
            return
        last, vain = max(row[0], last + 1), 0
        if isinstance(row[2], bytes) and digest(str(row[1]), row[2]) == row[3]:
            yield row[1:]


def _pins(old: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    try:
        yield from old.execute("SELECT key, run FROM pins")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
