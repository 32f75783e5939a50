"""A store in a folder on this machine: values in one SQLite database, and folders as they are."""

# ruff: noqa: D102 - what each verb does is written in Store

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import time
from typing import Any, TypeVar

from ohr.errors import StoreError
from ohr.store.claims import Heart, Watch, this_process
from ohr.store.database import DAMAGED, Database
from ohr.store.folders import Folders, measured
from ohr.store.interface import DAY, Entry, Store
from ohr.store.reasons import Damaged, ReadOnly, explained
from ohr.store.written_values import checked_key, digest, dump, is_key, load
from ohr.unfinished import NEW, remove

T = TypeVar("T")

_MANY = 500
"""Keys in one statement: SQLite before 3.32 takes 999."""

_REMOVING_KB = 80_000
"""SQLite's cache while parts are removed: of each of 10,000 at once a page of 4 kB of the table and of its index. With
the usual 2 MB each page is written several times, and 900,000 of a million parts take a quarter longer."""

_OWNERS = "SELECT key, owner FROM claims WHERE key IN"
_KEYS = "SELECT key FROM objects WHERE key IN"
_VALUES = "SELECT key, value, digest, used FROM objects WHERE key IN"
_PUT = (
    "INSERT INTO objects (key, value, digest, used) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE "
    "SET value = excluded.value, digest = excluded.digest, used = excluded.used"
)
_LISTED = (
    "SELECT n, key, coalesce(length(value), 0) + 96, coalesce(CAST(used AS INTEGER), 0) FROM objects "
    "WHERE n > ? AND typeof(key) = 'text' ORDER BY n LIMIT 500"  # damaged rows may hold anything
)


class LocalStore(Store):
    """A store in a folder, made at the first write.

    Several processes of one machine may use it at once. A network disk is no place for SQLite's log: several machines
    share a store through a URL (`file:///shared/folder`, `s3://bucket/prefix`).
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._db = Database(self._root)
        self._folders = Folders(self._root / "folders", self.url)
        self._watch, self._heart = Watch(), Heart()

    def __reduce__(self) -> tuple[type["LocalStore"], tuple[Path]]:
        return LocalStore, (self._root,)

    @property
    def url(self) -> str:
        """The folder."""
        return str(self._root)

    def has_many(self, keys: Collection[str]) -> set[str]:
        return {row[0] for row in self._rows(_KEYS, {checked_key(key) for key in keys})}

    def get_many(self, keys: Collection[str]) -> dict[str, Any]:
        found, damaged, seldom = {}, [], []
        recently = time() - DAY
        for key, payload, checksum, used in self._rows(_VALUES, {checked_key(key) for key in keys}):
            try:
                if not isinstance(payload, bytes) or digest(key, payload) != checksum:
                    raise ValueError("the checksum is wrong")
                found[key] = load(payload)
            except ValueError:
                damaged.append((key, checksum))
            if not isinstance(used, int) or used < recently:
                seldom.append((int(time()), key))
        if damaged:
            self._if_possible("DELETE FROM objects WHERE key = ? AND digest IS ?", damaged)
        if seldom:
            self._if_possible("UPDATE objects SET used = ? WHERE key = ?", seldom)
        return found

    def put_many(self, values: Mapping[str, Any]) -> None:
        rows, now = [], int(time())
        for key, value in values.items():
            payload = dump(value)
            rows.append((checked_key(key), payload, digest(key, payload), now))

        def work(db: sqlite3.Connection) -> None:
            db.executemany(_PUT, rows)
            if {row[0] for row in _chosen(db, _KEYS, values)} != values.keys():
                raise Damaged("a value that was just written cannot be found")

        self._db.write(work)

    def folder(self, key: str) -> Path | None:
        self._db.read(lambda _db: None)  # notices that the store was removed
        with explained(self.url, "read"):
            return self._folders.find(key)

    def put_folder(self, key: str, fill: Callable[[Path], None]) -> Path:
        self._db.make()
        return self._folders.keep(key, fill)

    # --- claims and pins ---------------------------------------------------------------------------------------

    def claim(self, keys: Collection[str]) -> set[str]:
        """See Store; of two processes that claim a key at the same time one gets it."""
        wanted, me = {checked_key(key) for key in keys}, this_process()

        def work(db: sqlite3.Connection) -> set[str]:
            db.execute("INSERT OR IGNORE INTO owners VALUES (?, 0)", (me,))
            owners = dict(_chosen(db, _OWNERS, wanted))
            if set(owners.values()) - {me}:
                self._bury(db)
                owners = dict(_chosen(db, _OWNERS, wanted))
            mine = {key for key in wanted if owners.get(key, me) == me}
            db.executemany("INSERT OR IGNORE INTO claims VALUES (?, ?)", [(key, me) for key in mine])
            return mine

        mine = self._db.write(work)
        if mine:
            self._heart.start(self._beat)
        return mine

    def release(self, keys: Collection[str]) -> None:
        me = this_process()

        def work(db: sqlite3.Connection) -> bool:
            db.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", [(key, me) for key in keys])
            return db.execute("SELECT 1 FROM claims WHERE owner = ? LIMIT 1", (me,)).fetchone() is not None

        if not self._db.write(work):
            self._heart.stop()

    def _beat(self) -> None:
        self._db.write(lambda db: db.execute("UPDATE owners SET beat = beat + 1 WHERE owner = ?", (this_process(),)))

    def _bury(self, db: sqlite3.Connection) -> None:
        """Void the claims of dead owners."""
        for owner, beat in db.execute("SELECT owner, beat FROM owners").fetchall():
            if not self._watch.lives(owner, beat):
                db.execute("DELETE FROM claims WHERE owner = ?", (owner,))
                db.execute("DELETE FROM owners WHERE owner = ?", (owner,))

    def pin(self, run: str, keys: Iterable[str]) -> None:
        rows = [(checked_key(key), run) for key in keys]
        with suppress(ReadOnly):  # such a store cannot be pruned either
            self._db.write(lambda db: db.executemany("INSERT OR IGNORE INTO pins VALUES (?, ?)", rows))

    def unpin(self, run: str) -> int:
        return self._db.write(lambda db: db.execute("DELETE FROM pins WHERE run = ?", (run,)).rowcount)

    def pins(self) -> dict[str, int]:
        rows = self._db.read(lambda db: db.execute("SELECT run, count(*) FROM pins GROUP BY run").fetchall())
        return dict(rows or ())

    # --- entries, and their removal ----------------------------------------------------------------------------

    def exists(self) -> bool:
        return self._root.is_dir()

    def size(self) -> int:
        with explained(self.url, "read"):
            return measured(self._root)[0] if self._root.is_dir() else 0

    def entries(self) -> Iterator[Entry]:
        with explained(self.url, "read"):
            claimed = self._db.read(self._claimed) or set()
            for some in _parts(self._found()):
                runs: dict[str, list[str]] = {}
                for key, run in self._rows("SELECT key, run FROM pins WHERE key IN", [part[0] for part in some]):
                    runs.setdefault(key, []).append(run)
                for key, kind, size, used in some:
                    yield Entry(key, kind, size, used, tuple(runs.get(key, ())), key in claimed)

    def remove(self, entries: Sequence[Entry]) -> None:
        free = self._db.write(lambda db: self._removed(db, {entry.key for entry in entries}))
        with explained(self.url, "written"):
            for entry in entries:
                if entry.kind == "leftover":
                    remove(self._root / entry.key)
                elif entry.kind == "folder" and entry.key in free:
                    remove(self._folders.root / entry.key)
        self._db.read(lambda db: db.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)"))

    def discard(self, keys: Collection[str]) -> None:
        self._db.write(
            lambda db: db.executemany("DELETE FROM objects WHERE key = ?", [(checked_key(key),) for key in keys])
        )
        with explained(self.url, "written"):
            for key in keys:
                remove(self._folders.root / key)

    def _removed(self, db: sqlite3.Connection, keys: set[str]) -> set[str]:
        """Remove values that nobody needs; returns those of the keys that nobody needs."""
        db.execute(f"PRAGMA cache_size = -{_REMOVING_KB}")
        self._bury(db)
        kept = {
            row[0] for table in ("pins", "claims") for row in _chosen(db, f"SELECT key FROM {table} WHERE key IN", keys)
        }
        db.executemany("DELETE FROM objects WHERE key = ?", [(key,) for key in keys - kept])
        return keys - kept

    def _found(self) -> Iterator[tuple[str, str, int, float]]:
        """List key, kind, bytes and last use of all parts."""
        last = 0
        while rows := self._db.read(lambda db: db.execute(_LISTED, (last,)).fetchall()):  # noqa: B023
            last = rows[-1][0]
            yield from ((key, "value", size, float(used)) for _, key, size, used in rows)
        for path, size, used in self._folders.listed():
            done = is_key(path.name)
            yield path.name if done else self._name(path), "folder" if done else "leftover", size, used
        for path in (*self._root.glob(f"{DAMAGED}*"), *self._root.glob(f"{NEW}*")):
            yield self._name(path), "leftover", *measured(path)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def _claimed(self, db: sqlite3.Connection) -> set[str]:
        living = {row[0] for row in db.execute("SELECT owner, beat FROM owners") if self._watch.lives(*row)}
        return {key for key, owner in db.execute("SELECT key, owner FROM claims") if owner in living}

    def _rows(self, statement: str, keys: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        for some in _parts(keys):
            yield from self._db.read(lambda db: _chosen(db, statement, some)) or ()  # noqa: B023

    def _if_possible(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with suppress(StoreError):  # a store that can only be read is good for reading
            self._db.write(lambda db: db.executemany(statement, rows))


def _chosen(db: sqlite3.Connection, statement: str, keys: Collection[str]) -> list[tuple[Any, ...]]:
    """Fetch the rows of keys; `statement` chooses the key first, and ends with IN.

    Raises:
        Damaged: a row is found under the key of another.
    """
    rows: list[tuple[Any, ...]] = []
    for some in _parts(sorted(keys)):
        rows += db.execute(f"{statement} ({', '.join('?' * len(some))})", some)
    if not {row[0] for row in rows} <= set(keys):
        raise Damaged("a value is found under another's key")
    return rows


def _parts(things: Iterable[T]) -> Iterator[list[T]]:
    waiting = iter(things)
    while some := list(islice(waiting, _MANY)):
        yield some
