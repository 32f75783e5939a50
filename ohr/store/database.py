"""The SQLite database of a local store: one connection for each process, and what to do when the file is not right.

The database has a folder of its own, since SQLite keeps a log beside it: the three files are made, moved and set aside
together. It is made complete under another name and renamed, so a killed process leaves none that is half made."""

import fcntl
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from uuid import uuid4

from ohr.errors import StoreError
from ohr.messages.wording import counted
from ohr.store.content import digest, framed, unframed
from ohr.store.folders import is_file, new_folder
from ohr.store.interface import FORMAT, check_format
from ohr.store.reasons import PATIENCE, Damaged, ReadOnly, database_sentence, explained, is_damage, primary_code

T = TypeVar("T")

FOLDER, FILE = "values", "values.sqlite"
DAMAGED = "damaged-"
"""Begins the name of a database that was set aside."""

_SCHEMA = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE about (content BLOB);
CREATE TABLE objects (n INTEGER PRIMARY KEY, key TEXT UNIQUE, value BLOB, digest BLOB, used INTEGER);
CREATE TABLE pins (key TEXT, run TEXT, PRIMARY KEY (key, run)) WITHOUT ROWID;
CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT) WITHOUT ROWID;
CREATE TABLE owners (owner TEXT PRIMARY KEY, beat INTEGER) WITHOUT ROWID;
"""

_inherited: list[object] = []
"""Connections that a forked process got from its parent: SQLite forbids to use them there, and to close them."""

_log = logging.getLogger(__name__)


class Database:
    """The database of the store in a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._place = str(root)
        self.path = root / FOLDER / FILE
        self._log = self.path.with_name(f"{FILE}-wal")
        self._id: str | None = None  # of the store that this process has seen; another one must not take its place
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._lock = RLock()
        self._db: sqlite3.Connection | None = None
        self._stamp: tuple[object, ...] = ()
        self._tried: object = None

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do `work`; None when there is no database yet."""
        with self._mine(), explained(self._place, "read"):
            return self._attempt(lambda: self._read(work), "read")

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in a transaction; a database that is set aside in the middle has it done again in the new one."""
        with self._mine(), explained(self._place, "written"):
            return self._attempt(lambda: self._write(work), "written")

    def make(self) -> None:
        """Make the database unless there is one."""
        self.write(lambda _db: None)

    def close(self) -> None:
        """Close this process's connection; the next verb opens another one."""
        with self._mine():
            if self._db is not None:
                self._db.close()
            self._db = None

    def __del__(self) -> None:
        with suppress(AttributeError):  # __init__ did not come so far
            self.close()

    @contextmanager
    def _mine(self) -> Iterator[None]:
        if self._pid != os.getpid():
            _inherited.append(self._db)
            self._start()
        with self._lock:
            yield

    def _attempt(self, work: Callable[[], T], done: str) -> T:
        for last in (False, True):
            try:
                return work()
            except sqlite3.Error as error:
                if last or not is_damage(error):
                    raise self._error(error, done) from error
                try:
                    self._rescue(error)
                except sqlite3.Error as another:
                    raise self._error(another, "written") from another
        raise AssertionError("the last attempt returns or raises")

    def _error(self, error: sqlite3.Error, done: str) -> StoreError:
        kind = ReadOnly if primary_code(error) == sqlite3.SQLITE_READONLY else StoreError
        return kind(database_sentence(error, self.path, self._place, done))

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        db = self._connect()
        return None if db is None else work(db)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        while True:
            db = self._connect()
            if db is None:
                self._make()
                continue
            db.execute("BEGIN IMMEDIATE")
            try:
                result = work(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            if not self._moved():
                return result

    def _connect(self) -> sqlite3.Connection | None:
        if self._db is not None and self._moved():
            self._db.close()
            self._db = None
        if self._db is None and self._exists():
            self._open()
        return self._db

    def _exists(self) -> bool:
        """Report whether there is a database.

        Raises:
            StoreError: there was one, or the store's folder is something else, or has values of another form.
            Damaged: there is something else in its place.
        """
        if (old := self._root / "objects").is_dir():
            raise StoreError(
                f"{old} holds values of an earlier version of ohr, or of a shared store: delete that folder, or use "
                f"another --store; a shared store is named {self._root.as_uri()}"
            )
        if is_file(self.path):
            return True
        if os.path.lexists(self._root) and not self._root.is_dir():
            raise StoreError(f"{self._place} is not a folder, so it cannot hold a store")
        with self._alone():
            if is_file(self.path):
                return True
        if self._id is not None:
            raise StoreError(f"the store at {self._place} was removed while the run used it")
        if os.path.lexists(self.path.parent):
            raise Damaged(f"{self.path} is not a file")
        return False

    def _open(self) -> None:
        db, known = self._opened()
        try:
            check_format(known["format"], self._place)
            if self._id not in (None, known["id"]):
                raise StoreError(f"the store at {self._place} was replaced by another one while the run used it")
        except StoreError:
            db.close()
            raise
        self._db, self._id, self._stamp = db, known["id"], self._stamps()

    def _opened(self) -> tuple[sqlite3.Connection, dict[str, Any]]:
        """Open the database for reading and writing, or for reading only where its folder allows no more."""
        self._tried = _stamp(self.path)
        try:
            return _connection(self.path, "mode=rw")
        except sqlite3.Error:
            if os.access(self.path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
                raise
        # without the log's index, which only a writer can make, SQLite reads a database only if nobody changes it
        unread = is_file(self._log) and self._log.stat().st_size
        return _connection(self.path, "mode=ro" if unread else "mode=ro&immutable=1")

    def _stamps(self) -> tuple[object, ...]:
        """Name the files that the paths lead to: a deleted file is written on by a process that has it open."""
        return _stamp(self.path), _stamp(self._log)

    def _moved(self) -> bool:
        return self._stamps() != self._stamp

    def _make(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        with self._alone():
            if not os.path.lexists(self.path.parent):  # another process was faster
                with self._built(None) as (new, _):
                    new.rename(self.path.parent)

    def _rescue(self, error: sqlite3.Error) -> None:
        """Set a damaged database aside and begin a new one with what can be read of it."""
        if self._db is not None:
            self._db.close()
            self._db = None
        aside = self._root / f"{DAMAGED}{uuid4().hex[:8]}"
        with self._alone():
            if is_file(self.path) and _stamp(self.path) != self._tried:
                return  # another process has done it
            with self._built(self.path) as (new, kept):
                self.path.parent.rename(aside)
                new.rename(self.path.parent)
        _log.warning(
            "the store's database %s is damaged (%s): it was moved to %s; %s could be read and kept",
            *(self.path, error, aside, counted(kept, "value")),
        )

    @contextmanager
    def _built(self, old: Path | None) -> Iterator[tuple[Path, int]]:
        """Build a database in an unfinished folder, with what can be read of an old one; counts these values."""
        new = new_folder(self._root)
        try:
            with closing(sqlite3.connect(new / FILE, isolation_level=None)) as db:
                db.executescript(_SCHEMA)
                about = framed({"format": FORMAT, "id": self._id or uuid4().hex})
                db.execute("INSERT INTO about VALUES (?)", (about,))
                kept = salvage(old, db) if old and is_file(old) else 0
            yield new, kept
        finally:
            shutil.rmtree(new, ignore_errors=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process makes a database here, then keep others from doing so."""
        if not self._root.is_dir():
            yield
            return
        folder = os.open(self._root, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def _connection(path: Path, options: str) -> tuple[sqlite3.Connection, dict[str, Any]]:
    """Connect, and read the database's description of itself."""
    db = sqlite3.connect(
        f"{path.as_uri()}?{options}", uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        # a commit is in the log when it returns, but not flushed: that survives a kill, and after a loss of power
        # the last commits may be missing, never half there
        db.execute("PRAGMA synchronous = NORMAL")
        db.text_factory = lambda text: text.decode("utf-8", "replace")  # a damaged key is some other key
        return db, unframed(db.execute("SELECT content FROM about").fetchone()[0])
    except (TypeError, ValueError) as error:
        db.close()
        raise Damaged("its first entry is damaged") from error
    except BaseException:
        db.close()
        raise


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return stat.st_dev, stat.st_ino


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
    count = 0
    with closing(sqlite3.connect(f"{damaged.as_uri()}?mode=ro", uri=True, isolation_level=None)) as old:
        old.execute("PRAGMA writable_schema = ON")  # lets SQLite read a file that is shorter than its header says
        old.text_factory = lambda text: text.decode("utf-8", "replace")
        values = _values(old)
        while rows := list(islice(values, _AT_ONCE)):
            new.execute("BEGIN")
            new.executemany("INSERT OR REPLACE INTO objects (key, value, digest, used) VALUES (?, ?, ?, ?)", rows)
            new.execute("COMMIT")
            count += len(rows)
        new.executemany("INSERT OR IGNORE INTO pins VALUES (?, ?)", _pins(old))
    return count


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
