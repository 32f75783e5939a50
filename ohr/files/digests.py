"""Hashes of input files, and what else follows from them, kept from run to run by the files' sizes and times."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import time_ns
from typing import Any

from ohr.files.below import files_below
from ohr.files.json_input import mapping_in
from ohr.keys import file_digest

KEPT = "input-digests.json"
"""Name of the file in a store."""
_VALUES = "values"
"""Folder that every store on this machine has."""
_SETTLED = 2_000_000_000
"""Nanoseconds since its last change after which a file is not changed again within one tick of a disk's clock."""

_BETWEEN = "\n"
"""Between a file's name and that of a value."""
_MANY = 100_000
"""Kept hashes from which those of files that are gone are left out."""

State = list[int]
"""Numbers that differ once a file has changed: from its inode, size and times."""
_known: dict[str, Any] = {}
"""By name the state of a file, and what follows from it; as JSON has them, for there are thousands."""


def input_digest(path: Path) -> str:
    """Hash a file's content; one whose size, inode and times are as they were is not read again."""
    return str(_value(str(path.absolute()), path, lambda: file_digest(path)))


def input_value(path: Path, what: str, read: Callable[[], Any]) -> Any:
    """Return a JSON value that follows from a file's content alone, read again only where the file has changed.

    Args:
        what: names the value and the version of how it is read.
        read: reads it.
    """
    return _value(f"{path.absolute()}{_BETWEEN}{what}", path, read)


def _value(name: str, path: Path, read: Callable[[], Any]) -> Any:
    before = _state(path)
    held = _known.get(name)
    if isinstance(held, list) and len(held) == 2 and held[0] == before:  # somebody may have edited the file
        return held[1]
    value = read()
    if before == _state(path) and time_ns() - max(before[1:3]) > _SETTLED:
        _known[name] = [before, value]
    return value


def folder_digest(folder: Path, pattern: str = "*") -> str:
    """Hash a folder's files whose names fit a pattern, by relative name and content, hidden ones among them."""
    digest = sha256()
    for path in (path for path in files_below(folder, hidden=True) if path.match(pattern)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{input_digest(path)}\n".encode())
    return digest.hexdigest()


@contextmanager
def remembered(store: Path, *, verify: bool = False) -> Iterator[None]:
    """Use the hashes that a store on this machine keeps, and keep those that are made.

    Args:
        store: its folder; without one nothing is kept.
        verify: read all files again.
    """
    if verify:
        _known.clear()
    else:
        _known.update(mapping_in(store / KEPT))
    before = dict(_known)
    try:
        yield
    finally:
        if _known != before and (store / _VALUES).is_dir():  # nothing is put into a folder that is no store
            with suppress(OSError):  # a store that can only be read is good for reading
                _write(store / KEPT)


def _state(path: Path) -> State:
    about = path.stat()
    return [about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino]


def _write(path: Path) -> None:
    known = _known if len(_known) < _MANY else {name: held for name, held in _known.items() if _is_there(name)}
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        new.write_text(json.dumps(known, separators=(",", ":")), encoding="utf-8")
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _is_there(name: str) -> bool:
    return Path(name.partition(_BETWEEN)[0]).exists()
