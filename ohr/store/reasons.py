"""Turns errors of a disk, SQLite or a network into a StoreError of one sentence."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from ohr.errors import StoreError

PATIENCE = 60.0
"""Seconds to wait for another process's write. One write holds the lock for as long as a batch takes to be copied,
well under a second; a minute passes only when a process was stopped or the disk hangs."""


class ReadOnly(StoreError):
    """The store can be read, but not written."""


@contextmanager
def explained(place: str, done: str) -> Iterator[None]:
    """Raise a StoreError for an error of the disk or a network.

    Args:
        place: folder or URL of the store.
        done: what cannot be done: `read` or `written`.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(sentence(error, place, done)) from error


def sentence(error: OSError, place: str, done: str) -> str:
    """Return a sentence with the file and the error."""
    if is_full(error):
        return f"the disk is full: {error.filename or place}"
    reason = error.strerror or str(error) or type(error).__name__
    where = f" ({error.filename})" if error.filename and str(error.filename) != place else ""
    return f"the store at {place} cannot be {done}: {reason}{where}"


def is_full(error: OSError) -> bool:
    """Report whether there was no room for a file."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def database_sentence(error: sqlite3.Error, path: Path, place: str, done: str) -> str:
    """Return a sentence with the error of the database in `path`."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return f"the disk is full: {path}"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"the store at {place} has been locked by another process for {PATIENCE:.0f} seconds"
    if code == sqlite3.SQLITE_READONLY:
        return f"the store at {place} is read-only"
    hidden = _hidden_reason(path, place, done) if code == sqlite3.SQLITE_CANTOPEN else None
    return sentence(hidden, place, done) if hidden else f"the store at {place} cannot be {done}: {error} ({path})"


def _hidden_reason(path: Path, place: str, done: str) -> OSError | None:
    """Find out what SQLite does not say: why it cannot open a file.

    The database's own file is left alone, since closing it would drop the locks that this process has on it.
    """
    try:
        if done == "written":
            TemporaryFile(dir=place).close()
        else:
            os.close(os.open(path.parent, os.O_RDONLY))
    except OSError as error:
        return error
    return None


class Damaged(sqlite3.DatabaseError):
    """The file in the database's place is no database of ours."""


def is_damage(error: sqlite3.Error) -> bool:
    """Report whether an error means damaged content; as all statements are fixed, an unknown table is damage too."""
    damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
    return isinstance(error, Damaged) or primary_code(error) in damage


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's code of an error without its details; 0 where it has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
