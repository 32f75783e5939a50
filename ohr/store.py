"""The content-addressed store: what was made once is found again, whole or not at all.

An object is a file `objects/ab/cdef...` that begins with the sha256 of the rest; it is written under a temporary
name, flushed to disk and renamed, so that a killed run leaves no half object and two runs can share a store. A
folder (a saved index, a converted model) is kept under `folders/` with a list of its files' checksums.
A damaged object counts as absent. No pickle is ever read.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import Any

from ohr.keys import file_digest

_SUMS = "checksums.json"


@dataclass(frozen=True, slots=True)
class Store:
    """A store in a folder, made at first use."""

    root: Path

    def get(self, key: str) -> Any | None:
        """Read a JSON value, or None when it is absent or damaged; a damaged object is removed."""
        path = self._object(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, _, payload = content.partition(b"\n")
        if digest.decode("ascii", "replace") == sha256(payload).hexdigest():
            try:
                return json.loads(payload)
            except ValueError:  # whole, but nothing that `put` wrote
                pass
        path.unlink(missing_ok=True)
        return None

    def put(self, key: str, value: Any) -> None:
        """Write a JSON value."""
        payload = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=True).encode()
        path = self._object(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as new:
            new.write(sha256(payload).hexdigest().encode() + b"\n" + payload)
            new.flush()
            os.fsync(new.fileno())
        Path(new.name).replace(path)

    def has(self, key: str) -> bool:
        """Tell whether an object is there; its checksum is verified when it is read."""
        return self._object(key).is_file()

    def folder(self, key: str) -> Path | None:
        """Find a stored folder, or None when it is absent or damaged; a damaged folder is removed."""
        path = self._folder(key)
        try:
            sums = json.loads((path / _SUMS).read_text())
            whole = all(file_digest(path / name) == digest for name, digest in sums.items())
        except (OSError, ValueError, AttributeError):
            whole = False
        if not whole and path.exists():
            shutil.rmtree(path, ignore_errors=True)
        return path if whole else None

    def put_folder(self, key: str, fill: Callable[[Path], None]) -> Path:
        """Let `fill` write files into a new folder, then keep it."""
        path = self._folder(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = Path(mkdtemp(dir=path.parent, prefix=".new-"))
        try:
            fill(new)
            sums = {p.relative_to(new).as_posix(): file_digest(p) for p in sorted(new.rglob("*")) if p.is_file()}
            (new / _SUMS).write_text(json.dumps(sums, indent=1))
            if self.folder(key) is None:  # a damaged one is removed; a whole one, which another run made, may be in use
                new.rename(path)
            else:
                shutil.rmtree(new, ignore_errors=True)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            if self.folder(key) is None:
                raise
        return path

    def objects(self) -> Iterator[Path]:
        """List the files of all objects."""
        return (path for path in (self.root / "objects").glob("*/*") if not path.name.startswith("."))

    def _object(self, key: str) -> Path:
        return self.root / "objects" / key[:2] / key[2:]

    def _folder(self, key: str) -> Path:
        return self.root / "folders" / key
