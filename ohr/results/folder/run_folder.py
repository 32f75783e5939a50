"""The folder of a run: there from the run's first second, finished only when every file in it is whole."""

import errno
import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import ohr
from ohr.errors import DataError
from ohr.messages.secrets import without_passwords
from ohr.processes import lives, this_process
from ohr.results.folder.whole_files import damaged, listed, replaced, synced
from ohr.unfinished import unfinished

Status = Literal["running", "stopped", "interrupted", "finished"]

MANIFEST = "manifest.json"
FIGURES, REPORT = "figures", "report.html"
TAGS = "tags.json"
"""Tags of a run, which may change after it: no part of its results."""
PRICES = "prices.json"
"""Prices that a run is shown with, which may change as tags do."""
SCREEN = "screen.json"
"""The first screen, which `ohr run` writes; it is made again where it does not fit."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run in progress; its manifest says `running` until the run ends.

    Args:
        path: `<runs>/<name>/<time>-<start of the key>`; the time is UTC.
        begun: what the manifest has said since the start.
    """

    path: Path
    begun: Mapping[str, Any]

    @classmethod
    def start(cls, runs: Path, name: str, key: str, manifest: Mapping[str, Any]) -> "RunFolder":
        """Make a folder; remains of earlier attempts at the same run that have ended are removed.

        Args:
            runs: the folder of all runs.
            name: of the run.
            key: of the run: hash of its spec and data.
            manifest: what is known at the start; paths in it become relative to the folder.
        """
        home = runs / name
        home.mkdir(parents=True, exist_ok=True)
        _clear(home, key)
        now = datetime.now(UTC)
        begun = {
            "ohr": ohr.__version__,
            "status": "running",
            "name": name,
            "key": key,
            "started": now.isoformat(timespec="seconds"),
            "process": dict(zip(_PROCESS, this_process(), strict=True)),
            **manifest,
        }
        new = unfinished(home)
        try:
            new.mkdir()
            _write(new, begun)
            return cls(_renamed(new, f"{now:%Y%m%dT%H%M%S}", key), begun)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise

    def finish(self, manifest: Mapping[str, Any], growing: Collection[str] = ()) -> Path:
        """Write the final manifest, with size and hash of every file; returns the folder.

        Args:
            manifest: what the run found out; it is added to what was known at the start.
            growing: names of files that may still change, such as a log; they are not listed.
        """
        apart = {MANIFEST, FIGURES, TAGS, PRICES, SCREEN, *growing}
        below = (path for path in sorted(self.path.rglob("*")) if path.is_file())
        files = [path for path in below if path.relative_to(self.path).parts[0] not in apart]
        for path in files:
            synced(path)
        self._end({"status": "finished", **manifest, "files": listed(self.path, files)})
        return self.path

    def stop(self, reason: str) -> None:
        """Note that the run ended before it was finished, and why."""
        self._end({"status": "stopped", "reason": reason})

    def discard(self) -> None:
        """Remove the folder: an earlier run has the same results."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _end(self, manifest: Mapping[str, Any]) -> None:
        written = datetime.now(UTC).isoformat(timespec="seconds")
        _write(self.path, {**self.begun, **manifest, "written": written})
        synced(self.path.parent)


def _renamed(new: Path, time: str, key: str) -> Path:
    count = 1
    while True:  # two runs may start in the same second: whoever is late takes the next name
        folder = new.parent / f"{time}{f'.{count}' if count > 1 else ''}-{key[:8]}"
        try:
            return new.rename(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        count += 1


def _write(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest; relative paths start at its own folder, so that a study can be moved as a whole."""

    def placed(path: Path) -> str:
        return str(path) if path.is_absolute() else Path(os.path.relpath(path, folder)).as_posix()

    with replaced(folder / MANIFEST) as new:
        text = json.dumps(manifest, indent=1, ensure_ascii=False, default=placed)
        new.write_text(without_passwords(text) + "\n", encoding="utf-8")


def _clear(home: Path, key: str) -> None:
    for folder in home.glob(f"*-{key[:8]}"):
        try:
            left = status(read_manifest(folder)) in ("stopped", "interrupted")
        except DataError:
            continue  # damaged: not ours to remove
        if left:
            shutil.rmtree(folder, ignore_errors=True)


# --- reading ----------------------------------------------------------------------------------------------


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run, finished or not.

    Raises:
        DataError: there is no run in the folder, or its manifest is damaged or of an earlier version.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise DataError(f"{folder}: no run here: {MANIFEST} is missing") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("spec"), dict) or "status" not in manifest:
        raise DataError(f"{path}: is not a manifest of this version of ohr; run it again")
    odd = [name for name, kind in _KINDS.items() if not isinstance(manifest.get(name, kind()), kind)]
    if odd:
        raise DataError(f"{path}: `{odd[0]}` is not as ohr writes it; run it again")
    return manifest


_KINDS: dict[str, type] = {
    "name": str, "key": str, "started": str, "questions": int, "documents": int, "documents_asked": int,
    "protocol": dict, "agents": dict, "machine": dict, "failures": dict, "warnings": list,
    "notes": list,
}  # fmt: skip
"""Types of some parts of a manifest, where it has them: somebody may have edited it."""


def run_id(manifest: Mapping[str, Any]) -> str:
    """Return the name and folder that a run began in, `<name>/<time>-<start of the key>`, wherever it is now."""
    started = datetime.fromisoformat(manifest["started"])
    return f"{manifest['name']}/{started:%Y%m%dT%H%M%S}-{manifest['key'][:8]}"


def status(manifest: Mapping[str, Any]) -> Status:
    """Report how a run is doing: what its manifest says, but `interrupted` where the process is surely gone.

    A process of another host or container, or of this host before its last start, cannot be seen: its run counts
    as running, and nothing removes its folder.
    """
    said = manifest.get("status")
    if said == "running":
        return "running" if _may_run(manifest.get("process")) else "interrupted"
    return "finished" if said == "finished" else "stopped"


_PROCESS = ("host", "pid", "started")
"""Parts of a process in a manifest."""


def _may_run(process: Any) -> bool:
    """Report whether a process may still be there: one that cannot be seen from here counts as running."""
    if not isinstance(process, dict) or not isinstance(process.get("pid"), int):
        return False
    return lives(str(process.get("host")), process["pid"], str(process.get("started") or "")) is not False


def read_finished(folder: Path) -> dict[str, Any]:
    """Read the manifest of a finished run whose files are all there, with their sizes.

    Raises:
        DataError: the run is not finished, or a file is missing or cut.
    """
    manifest = read_manifest(folder)
    if (state := status(manifest)) != "finished":
        raise DataError(f"{folder}: this run is not finished ({state}): it has no results yet; run its spec again")
    if bad := _damaged(folder, manifest):
        raise DataError(f"{folder / bad}: is missing or damaged; run the spec again")
    for name in ("key", "protocol", "questions", "warnings", "failures"):
        if name not in manifest:
            raise DataError(f"{folder / MANIFEST}: has no `{name}`; run the spec again")
    return manifest


def find_finished(runs: Path, name: str, key: str, notes: Sequence[str] = ()) -> Path | None:
    """Find the newest folder of an earlier run with this key that is whole, to the hash of each file.

    A run in which something failed does not count: what failed then may be whole by now. One with other notes about
    its inputs is of another copy of the data, whose notes this run must not show.
    """
    for folder in sorted((runs / name).glob(f"*-{key[:8]}"), reverse=True):
        try:
            manifest = read_finished(folder)
            failed = manifest["failures"]["items"]
        except (DataError, KeyError, TypeError):
            continue
        its_notes = manifest.get("notes", manifest["warnings"][: len(notes)])
        if (
            manifest["key"] == key
            and its_notes == list(notes)
            and not failed
            and _damaged(folder, manifest, hashes=True) is None
        ):
            return folder
    return None


def _damaged(folder: Path, manifest: Mapping[str, Any], *, hashes: bool = False) -> str | None:
    """Name a file that is not as the manifest says; MANIFEST where that does not say how files should be."""
    files = manifest.get("files")
    return damaged(folder, files, hashes=hashes) if isinstance(files, dict) and files else MANIFEST


def headlines(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Name each stage's headline metric, by the protocol that a run was scored by.

    Raises:
        DataError: the manifest does not name them.
    """
    try:
        retrieval, answer = manifest["protocol"]["retrieval"], manifest["protocol"]["answer"][0]
    except (KeyError, IndexError, TypeError):
        raise DataError(f"{MANIFEST}: names no metrics under `protocol`; run the spec again") from None
    return {"retrieval": retrieval, "generation": answer, "overall": answer}
