"""The set's folder: a new set takes the place of an older one, and what people wrote into the folder stays."""

import json
from collections.abc import Callable, Collection
from pathlib import Path
from shutil import rmtree
from typing import Any

from ohr.errors import DataError
from ohr.files.built_set import FILE as SET_FILE
from ohr.files.json_input import mapping_in
from ohr.messages.wording import named
from ohr.results.folder.replace import RECORD, UNFINISHED, refuse, set_aside
from ohr.results.folder.whole_files import damaged, listed, replaced
from ohr.unfinished import unfinished

STUDY, DATASHEET = "study.yaml", "README.md"
"""Files that people complete. A study that was changed stays as it is; a datasheet that was changed is kept beside the
new one, which has the part that they filled in."""
_COMMAND = "data build"


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
    return bool(_interrupted(out) or mapping_in(out / RECORD)) or (out / SET_FILE).exists()


def _interrupted(out: Path) -> dict[str, Any]:
    """Return the files that a build which was killed was moving, as they were to be; nothing where none was."""
    mark = mapping_in(out / UNFINISHED)
    files = mark.get("files") if mark.get("command") == _COMMAND else None
    return files if isinstance(files, dict) else {}


def _refuse_changed(out: Path, names: Collection[str]) -> None:
    if changed := _changed(out, names):
        raise DataError(
            f"{out}: no build wrote these files, or they were changed since: {named(changed)}. A build would write "
            "over them: correct pages in the folder `corrected` and questions by `ohr data review`, or add --force, "
            "which keeps them as NAME.bak-TIME"
        )


def _changed(out: Path, names: Collection[str]) -> list[str]:
    """List files that are not as a build wrote them, or was writing them when it was killed."""
    return [name for name in names if name not in (STUDY, DATASHEET) and _is_changed(out, name)]


def _is_changed(out: Path, name: str) -> bool:
    """Report whether a file is there that no build wrote, or that was changed since."""
    written = [known[name] for known in (mapping_in(out / RECORD), _interrupted(out)) if name in known]
    return (out / name).exists() and all(damaged(out, {name: about}, hashes=True) for about in written)


def publish(out: Path, write: Callable[[Path], None], *, force: bool = False) -> list[str]:
    """Write a set's files beside its folder, then move them into it; returns sentences about files that people changed.

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
    known = mapping_in(out / RECORD) | _interrupted(out)
    if not force:
        _refuse_changed(out, files)
    for name in _changed(out, {*files, *known}):
        set_aside(out / name)
    record, sentences = listed(new, files.values()), []
    if STUDY in files and _is_changed(out, STUDY):
        del files[STUDY], record[STUDY]
        sentences.append(f"{out / STUDY} was changed since it was written: it stays as it is")
    if DATASHEET in files and _is_changed(out, DATASHEET):
        set_aside(out / DATASHEET)
        sentences.append(f"{out / DATASHEET} was changed since it was written: it is kept as {DATASHEET}.bak-TIME")
    out.mkdir(exist_ok=True)
    with replaced(out / UNFINISHED) as path:
        path.write_text(json.dumps({"command": _COMMAND, "files": record}, indent=1) + "\n", encoding="utf-8")
    for name, path in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        path.replace(out / name)
    for name in known.keys() - files.keys() - {STUDY}:
        (out / name).unlink(missing_ok=True)
        folder = (out / name).parent
        while folder != out and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent
    with replaced(out / RECORD) as path:
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / UNFINISHED).unlink()
    return sentences
