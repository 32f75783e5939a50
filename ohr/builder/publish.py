"""The set's folder: a new set takes the place of an older one, and what people wrote into the folder stays."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree

from ohr.errors import DataError
from ohr.files.json_input import mapping_in
from ohr.messages.wording import named
from ohr.results.folder.replace import RECORD, refuse, set_aside
from ohr.results.folder.whole_files import damaged, listed, replaced
from ohr.unfinished import unfinished

STUDY, DATASHEET = "study.yaml", "README.md"
"""Files that people complete. A study that was changed stays as it is; a datasheet is written around their part."""


def check_places(folder: Path, out: Path) -> None:
    """Refuse a set inside of its documents, which the next build would count among them, and documents inside of a set.

    Raises:
        DataError: one folder is in the other.
    """
    documents, target = folder.resolve(), out.resolve()
    if target.is_relative_to(documents) or documents.is_relative_to(target):
        raise DataError(f"{out}: is in, or holds, the folder of documents {folder}: name a folder beside it with --to")


def check_target(out: Path, *, force: bool) -> None:
    """Refuse a folder that a build may not write into; called before anything is spent.

    Raises:
        DataError: it has files and no set of questions, or data of the set were changed by hand.
    """
    known = mapping_in(out / RECORD)
    if not known:
        return refuse(out, "--to", force=force)
    if (changed := _changed(out)) and not force:
        raise DataError(
            f"{out}: changed since they were written: {named(changed)}. A build would overwrite them: correct pages in "
            "the folder `corrected` and questions by `ohr data review`, or add --force, which keeps them as "
            "NAME.bak-TIME"
        )
    return None


def _changed(out: Path) -> list[str]:
    known = mapping_in(out / RECORD)
    return [
        name
        for name, about in known.items()
        if name not in (STUDY, DATASHEET) and (out / name).exists() and damaged(out, {name: about}, hashes=True)
    ]


def publish(out: Path, write: Callable[[Path], None], *, force: bool = False) -> list[str]:
    """Write a set's files beside its folder, then move them into it; returns the names of files that people own.

    Args:
        write: writes all files into the folder that it is given.
        force: keep files that were changed by hand under another name, and write.

    Raises:
        DataError: as `check_target`, or a file cannot be written.
    """
    check_target(out, force=force)
    if force and not mapping_in(out / RECORD):
        set_aside(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        new = unfinished(out.parent, "")
        new.mkdir()
        try:
            write(new)
            return _move(new, out)
        finally:
            rmtree(new, ignore_errors=True)
    except OSError as error:
        raise DataError(f"{error.filename or out}: cannot be written: {error.strerror}") from None


def _move(new: Path, out: Path) -> list[str]:
    known, changed = mapping_in(out / RECORD), _changed(out)
    for name in changed:
        set_aside(out / name)
    files = {path.relative_to(new).as_posix(): path for path in sorted(new.rglob("*")) if path.is_file()}
    study = out / STUDY
    as_written = STUDY in known and not damaged(out, {STUDY: known[STUDY]}, hashes=True)
    own = [STUDY] if STUDY in files and study.exists() and not as_written else []
    record = listed(new, [path for name, path in files.items() if name not in own])
    for name, path in files.items():
        if name not in own:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            path.replace(out / name)
    for name in known.keys() - files.keys() - set(changed):
        (out / name).unlink(missing_ok=True)
    with replaced(out / RECORD) as path:
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for folder in sorted((path for path in out.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    return own
