"""The set's folder: a new set takes the place of an older one, and what people wrote into the folder stays."""

import json
from collections.abc import Callable, Collection
from pathlib import Path
from shutil import rmtree

from ohr.errors import DataError
from ohr.files.built_set import FILE as SET_FILE
from ohr.files.json_input import mapping_in
from ohr.messages.wording import named
from ohr.questions.layout.datasheet import has_part_to_fill_in
from ohr.results.folder.replace import RECORD, UNFINISHED, refuse, set_aside
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
    if _is_set(out):
        if not force:
            _refuse_changed(out, mapping_in(out / RECORD))
    else:
        refuse(out, "--to", force=force)


def _is_set(out: Path) -> bool:
    """Report whether a folder has a set, or a part of one since a build was killed while it moved the files."""
    return (out / UNFINISHED).exists() or bool(mapping_in(out / RECORD)) or (out / SET_FILE).exists()


def _refuse_changed(out: Path, names: Collection[str]) -> None:
    if changed := _changed(out, names):
        raise DataError(
            f"{out}: no build wrote these files, or they were changed since: {named(changed)}. A build would write "
            "over them: correct pages in the folder `corrected` and questions by `ohr data review`, or add --force, "
            "which keeps them as NAME.bak-TIME"
        )


def _changed(out: Path, names: Collection[str]) -> list[str]:
    """List files that are not as a build wrote them; none while an interrupted build is continued."""
    if (out / UNFINISHED).exists():
        return []
    known = mapping_in(out / RECORD)
    return [
        name
        for name in names
        if name != STUDY
        and (out / name).exists()
        and (name not in known or damaged(out, {name: known[name]}, hashes=True))
        and not (name == DATASHEET and has_part_to_fill_in(out / name))
    ]


def publish(out: Path, write: Callable[[Path], None], *, force: bool = False) -> list[str]:
    """Write a set's files beside its folder, then move them into it; returns the names of files that people own.

    A build that is killed meanwhile leaves a mark, and the next one moves all files again.

    Args:
        write: writes all files into the folder that it is given.
        force: keep files that were changed by hand under another name, and write.

    Raises:
        DataError: as `check_target`, or a file cannot be written.
    """
    check_target(out, force=force)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        new = unfinished(out.parent, "")
        new.mkdir()
        try:
            write(new)
            return _move(new, out, force=force)
        finally:
            rmtree(new, ignore_errors=True)
    except OSError as error:
        raise DataError(f"{error.filename or out}: cannot be written: {error.strerror}") from None


def _move(new: Path, out: Path, *, force: bool) -> list[str]:
    files = {path.relative_to(new).as_posix(): path for path in sorted(new.rglob("*")) if path.is_file()}
    if not _is_set(out):
        set_aside(out)
    known = mapping_in(out / RECORD)
    if not force:
        _refuse_changed(out, files)
    for name in _changed(out, {*files, *known}):
        set_aside(out / name)
    own = _own(out, files)
    out.mkdir(exist_ok=True)
    (out / UNFINISHED).write_text('{"command": "data build"}\n', encoding="utf-8")
    record = listed(new, [path for name, path in files.items() if name not in own])
    for name in files.keys() - set(own):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        files[name].replace(out / name)
    for name in known.keys() - files.keys():
        (out / name).unlink(missing_ok=True)
        _remove_empty(out, (out / name).parent)
    with replaced(out / RECORD) as path:
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / UNFINISHED).unlink()
    return own


def _own(out: Path, files: Collection[str]) -> list[str]:
    """Return the study where it was changed since it was written."""
    known = mapping_in(out / RECORD)
    if STUDY not in files or not (out / STUDY).exists():
        return []
    as_written = STUDY in known and not damaged(out, {STUDY: known[STUDY]}, hashes=True)
    return [] if as_written else [STUDY]


def _remove_empty(out: Path, folder: Path) -> None:
    while folder != out and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
