"""Files that are whole or not there: written under another name first, and listed with size and hash."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.unfinished import unfinished


@contextmanager
def replaced(path: Path, before: Callable[[], object] = lambda: None) -> Iterator[Path]:
    """Yield the path to write a file under; it gets its name, in place of an older one, when it is on the disk.

    Args:
        path: of the file.
        before: called when the new file is whole, before it takes the place of an older one.

    Raises:
        DataError: the file cannot be written; an older one stays as it was.
    """
    new = unfinished(path.parent, path.suffix)
    try:
        yield new
        synced(new)
        before()
        new.replace(path)
        synced(path.parent)
    except BaseException as error:
        new.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise DataError(f"{path}: cannot be written: {error.strerror}") from None
        raise


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON in place of an older file.

    Raises:
        DataError: the file cannot be written; an older one stays as it was.
    """
    with replaced(path) as new:
        new.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path, absent: Any) -> Any:
    """Read a JSON file; `absent` where there is none.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return absent
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None


def synced(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def listed(folder: Path, files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Describe files of a folder: size and SHA-256 by name."""
    return {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in files
    }


def damaged(folder: Path, files: Mapping[str, Any], *, hashes: bool = False) -> str | None:
    """Name a file that is missing or is not as `listed` described it.

    Args:
        folder: of the files.
        files: what `listed` returned.
        hashes: compare the content too, not only the size.
    """
    for name, about in files.items():
        path = folder / name
        try:
            if path.stat().st_size != about["bytes"] or (hashes and _sha256(path) != about["sha256"]):
                return name
        except (OSError, KeyError, TypeError):
            return name
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
