"""Folders with a list of their files' checksums: a saved index, a converted model."""

import errno
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ohr.errors import StoreError
from ohr.keys import file_digest
from ohr.store.reasons import explained, is_full, sentence
from ohr.store.written_values import checked_key
from ohr.unfinished import NEW, remove, unfinished

SUMS = "checksums.json"


def user_cache() -> Path:
    """Return ohr's folder in the user's cache: `$XDG_CACHE_HOME/ohr`, or `~/.cache/ohr`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ohr"


class Folders:
    """Folders below `root`.

    Args:
        root: is made at the first write.
        place: name of the store, for messages.
    """

    def __init__(self, root: Path, place: str) -> None:
        self.root, self._place = root, place

    def find(self, key: str) -> Path | None:
        """Return a whole folder, or None; a damaged one is removed."""
        path = self.root / checked_key(key)
        if not os.path.lexists(path):
            return None
        if is_whole(path):
            return path
        remove(path)
        return None

    def keep(self, key: str, fill: Callable[[Path], None]) -> Path:
        """Let `fill` write files into a new folder, then keep it unless there is a whole one by now."""
        path = self.root / checked_key(key)
        with explained(self._place, "written"):
            new = new_folder(self.root)
        try:
            self._fill(new, fill)
            with explained(self._place, "written"):
                (new / SUMS).write_text(json.dumps(checksums(new), indent=1))
                try:
                    if self.find(key) is None:  # another run's whole one may be in use
                        new.rename(path)
                except OSError:
                    if self.find(key) is None:  # nor was another run faster by the blink of an eye
                        raise
        finally:
            shutil.rmtree(new, ignore_errors=True)
        return path

    def _fill(self, new: Path, fill: Callable[[Path], None]) -> None:
        try:
            fill(new)
        except OSError as error:  # others are about what `fill` reads
            if is_full(error):
                raise StoreError(sentence(error, str(new), "written")) from error
            raise

    def listed(self) -> Iterator[tuple[Path, int, float]]:
        """List finished and unfinished folders with their bytes and when each was last used."""
        for path in sorted(self.root.iterdir()) if self.root.is_dir() else ():
            yield path, *measured(path)


def checksums(folder: Path) -> dict[str, str]:
    """Hash the files of a folder, by relative name."""
    return {
        path.relative_to(folder).as_posix(): file_digest(path) for path in sorted(folder.rglob("*")) if is_file(path)
    }


def sums_in(content: bytes) -> dict[str, str] | None:
    """Read a list of checksums by relative file name; None when it is damaged."""
    try:
        sums = json.loads(content)
    except ValueError:
        return None
    if not isinstance(sums, dict) or any(".." in Path(name).parts or Path(name).is_absolute() for name in sums):
        return None
    return sums


def sums_of(folder: Path) -> dict[str, str] | None:
    """Read the list of a folder; None when there is none or it is damaged."""
    return sums_in((folder / SUMS).read_bytes()) if is_file(folder / SUMS) else None


def is_whole(folder: Path) -> bool:
    """Report whether a folder has all its files with the right checksums; marks it as used.

    Raises:
        OSError: a file is there but cannot be read.
    """
    sums = sums_of(folder)
    if sums is None:
        return False
    whole = all(is_file(folder / name) and file_digest(folder / name) == digest for name, digest in sums.items())
    if whole:
        with suppress(OSError):  # read-only
            os.utime(folder / SUMS)
    return whole


def is_file(path: Path) -> bool:
    """Report whether there is a regular file, which can be read without waiting.

    Raises:
        OSError: it cannot be found out; what is there must not be taken for absent.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        raise


def new_folder(root: Path) -> Path:
    """Make an unfinished folder in `root`; those that killed processes left are removed."""
    root.mkdir(parents=True, exist_ok=True)
    new = unfinished(root)
    new.mkdir()
    new.chmod(root.stat().st_mode & 0o777)  # who can read the store can read this part of it
    return new


def measured(path: Path) -> tuple[int, float]:
    """Return the bytes of a file or folder and when it was last used; what vanishes meanwhile does not count."""
    found = {}
    below = (Path(top, name) for top, _, names in os.walk(path) for name in names)
    for part in (path, *below):
        with suppress(OSError):
            found[part] = part.lstat()
    size = sum(each.st_size for each in found.values() if not stat.S_ISDIR(each.st_mode))
    whole = found.get(path / SUMS) if not path.name.startswith(NEW) else None
    return size, whole.st_mtime if whole else max((each.st_mtime for each in found.values()), default=0.0)
