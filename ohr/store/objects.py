"""Reads the values of a store of format 1, which had a file `objects/ab/cdef...` for each."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ohr.store.content import checked_key, unframed
from ohr.store.folders import is_file, remove


class Objects:
    """The files below `root`; nothing is written there any more."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def has(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have a file."""
        return {key for key in keys if is_file(self.path(key))} if self._root.is_dir() else set()

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Read values; damaged ones are removed."""
        found = {}
        for key in self.has(keys):
            try:
                found[key] = unframed(self.path(key).read_bytes())
            except ValueError:
                remove(self.path(key))
            except FileNotFoundError:  # removed meanwhile
                pass
        return found

    def listed(self) -> Iterator[Path]:
        """List the files, left-over temporary ones too."""
        return self._root.glob("*/*") if self._root.is_dir() else iter(())

    def path(self, key: str) -> Path:
        """Return where a value's file is."""
        return self._root / checked_key(key)[:2] / key[2:]
