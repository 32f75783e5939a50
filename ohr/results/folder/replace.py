"""Files that take the place of older ones: only of those that ohr wrote and nobody changed; others are kept."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.files.json_input import mapping_in
from ohr.results.folder.whole_files import damaged, listed, replaced, write_json

RECORD = ".ohr-written.json"
"""File that lists what ohr wrote into its folder: size and hash by name."""
UNFINISHED = ".ohr-unfinished.json"
"""File in a folder that a command is still filling, or was when it was killed; it says what the command was."""


@contextmanager
def written(path: Path, option: str, *, force: bool = False, own: bool = False) -> Iterator[Path]:
    """Yield the path to write a file under; it gets its name, in place of an older one, when it is on the disk.

    Args:
        path: of the file, as the user gave it; a pipe or a device is written to as it is.
        option: of the command line that names it, for messages; "" for none.
        force: keep what is there as `<name>.bak-<time>`, instead of refusing.
        own: the file is one of a run's own, in the run's folder, so that it may be replaced in any case.

    Raises:
        DataError: something is there that ohr did not write, or the file cannot be written; what is there stays.
    """
    if path.is_fifo() or path.is_char_device():
        yield path
        return
    if not own:
        refuse(path, option, force=force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None
    with replaced(path, before=lambda: None if own else set_aside(path)) as new:
        yield new
    if not own:
        write_json(path.parent / RECORD, mapping_in(path.parent / RECORD) | listed(path.parent, [path]))


def refuse(path: Path, option: str, *, force: bool = False) -> None:
    """Refuse a file or folder that may not be replaced; a command calls this before its work, too.

    Raises: as `written`.
    """
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir():
        raise DataError(f"{path}: cannot be written: {above} is not a folder")
    if not force and not _may_replace(path):
        kind = "a file that ohr did not write, or that was changed since"
        if path.is_dir():
            kind = "a folder that has files already"
        named = f"name another with {option}" if option else "move it away"
        raise DataError(f"{path}: is {kind}: {named}, or add --force, which keeps it as {path.name}.bak-TIME")


def set_aside(path: Path) -> None:
    """Rename a file or folder that may not be replaced to `<name>.bak-<time>`."""
    if _may_replace(path):
        return
    stem, count = f"{path.name}.bak-{datetime.now(UTC):%Y%m%dT%H%M%S}", 1
    while (target := path.with_name(f"{stem}{f'.{count}' if count > 1 else ''}")).exists():
        count += 1
    path.rename(target)


def record_folder(folder: Path) -> None:
    """List the files of a folder inside it, so that the folder may be replaced as long as it has just these."""
    files = listed(folder, [path for path in sorted(folder.rglob("*")) if path.is_file()])
    (folder / RECORD).write_text(json.dumps(files, indent=1) + "\n", encoding="utf-8")


@contextmanager
def filled(folder: Path, option: str, about: Mapping[str, Any], *, force: bool = False) -> Iterator[None]:
    """Have a folder for many files: a new or empty one, or one that the same command left unfinished.

    It is marked as unfinished until the command ends well.

    Args:
        folder: as the user gave it.
        option: as in `written`.
        about: what the command does, as JSON holds it; only the same continues in an unfinished folder.
        force: as in `written`.

    Raises:
        DataError: the folder has files, or cannot be written.
    """
    mark = folder / UNFINISHED
    if mapping_in(mark) != about:
        refuse(folder, option, force=force)
        set_aside(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        yield
        mark.unlink()
    except OSError as error:
        raise DataError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None


def _may_replace(path: Path) -> bool:
    """Report whether nothing is there, an empty folder, or what ohr wrote."""
    if path.is_symlink() or not path.exists():
        return not path.is_symlink()
    if not path.is_dir():
        known = mapping_in(path.parent / RECORD)
        return path.name in known and damaged(path.parent, {path.name: known[path.name]}, hashes=True) is None
    known, there = mapping_in(path / RECORD), {each.relative_to(path).as_posix() for each in path.rglob("*")}
    folders = {parent.as_posix() for name in known for parent in Path(name).parents}
    return there <= {RECORD, *known, *folders} and damaged(path, known, hashes=True) is None
