"""Files and folders that are not finished yet, named after the process that makes them: none of a dead one stays."""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from time import monotonic, time
from urllib.parse import quote, unquote

from ohr.processes import lives, this_process

NEW = ".new-"
"""Begins the names of unfinished files and folders."""

_NAME = re.compile(rf"{re.escape(NEW)}(.+)-(\d+)-(\d*)-[0-9a-f]{{16}}.*")
_SHARE = 0.05
"""Most of the time that looking may take: a folder of 10,000 files takes 8 ms."""
_next: dict[Path, float] = {}
"""When folders are looked at again."""
_DAY = 86_400
"""Seconds without a change after which the work of a process that cannot be seen from here counts as left behind."""


def unfinished(folder: Path, suffix: str = "") -> Path:
    """Return a path in `folder` for what this process makes and then renames; removes what dead ones left there."""
    _clean(folder)
    space, pid, started = this_process()
    # nobody can have left a file or a link of this name
    return folder / f"{NEW}{quote(space, safe='')}-{pid}-{started}-{token_hex(8)}{suffix}"


def _clean(folder: Path) -> None:
    """Remove what dead processes left in a folder, unless looking would take more than its share of the time."""
    began = monotonic()
    if began < _next.get(folder, 0.0):
        return
    with suppress(OSError):  # there is no such folder, or another process removes the same
        for name in os.listdir(folder):  # noqa: PTH208 half the time of `Path.iterdir`
            if name.startswith(NEW) and _is_left(folder / name):
                remove(folder / name)
    now = monotonic()
    _next[folder] = now + (now - began) / _SHARE


def remove(path: Path) -> None:
    """Remove a file or folder, if that can be done."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _is_left(path: Path) -> bool:
    parts = _NAME.fullmatch(path.name)
    alive = lives(unquote(parts[1]), int(parts[2]), parts[3]) if parts else True  # another name is not ours
    if alive is None:
        alive = max(part.lstat().st_mtime for part in (path, *path.rglob("*"))) > time() - _DAY
    return not alive
