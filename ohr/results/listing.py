"""The runs in a folder: which there are, whether they are whole, and in which settings they differ."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.results.folder.run_folder import MANIFEST, Status
from ohr.results.run import Run


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One run of a folder.

    Args:
        started: date and time, ISO 8601 in UTC.
        partial: why it is a part of its study: `limit 7`, `sample 100`; "" for a whole run.
        questions: that it asks.
        failures: items that failed; None before the end.
    """

    run: Run
    name: str
    started: str
    status: Status
    partial: str
    questions: int
    failures: int | None
    tags: Mapping[str, str]

    @property
    def id(self) -> str:
        """Name of the folder, which is unique."""
        return self.run.folder.name

    @property
    def state(self) -> str:
        """Status, and what makes the run a part of its study: `finished, limit 7`."""
        return ", ".join(filter(None, (self.status, self.partial)))

    def has(self, wanted: Mapping[str, str]) -> bool:
        """Report whether the run has all of some tags; `name` and `status` count as tags of every run."""
        known = {"name": self.name, "status": self.status, **self.tags}
        return all(known.get(key) == value for key, value in wanted.items())


def run_folders(runs: Path) -> list[Path]:
    """List the folders of runs, of each name the oldest first."""
    return sorted(path.parent for path in runs.glob(f"*/*/{MANIFEST}") if not path.parent.name.startswith("."))


def list_runs(runs: Path, name: str | None = None) -> tuple[list[ListedRun], list[str]]:
    """List the runs in a folder, of all names or of one, the oldest first, and the faults that were found."""
    listed, faults = [], []
    for folder in run_folders(runs):
        if name not in (None, folder.parent.name):
            continue
        run, tags = Run(folder), dict[str, str]()
        try:
            tags = run.tags
        except DataError as error:
            faults.append(str(error))
        try:
            listed.append(_listed(run, tags))
        except DataError as error:
            faults.append(str(error))
    return sorted(listed, key=lambda run: (run.started, run.id)), faults


def _listed(run: Run, tags: Mapping[str, str]) -> ListedRun:
    manifest = run.manifest
    try:
        failures = manifest["failures"]["items"] if "failures" in manifest else None
        name, started, questions = str(manifest["spec"]["name"]), str(manifest["started"]), int(manifest["questions"])
        return ListedRun(run, name, started, run.status, partial(manifest), questions, failures, tags)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DataError(f"{run.folder}: its manifest is not that of a run") from None


def partial(manifest: Mapping[str, Any]) -> str:
    """Return what makes a run a part of its study, "" for a whole one; a limit that cuts nothing makes none."""
    spec, questions = manifest["spec"], manifest.get("questions", 0)
    sizes = {"limit": manifest.get("documents", 0), "per_document": questions, "sample": questions}
    return ", ".join(f"{key} {spec[key]}" for key, size in sizes.items() if spec.get(key) and spec[key] <= size)


# --- settings that differ ---------------------------------------------------------------------------------

_ABSENT: Any = object()


def differences(runs: Sequence[ListedRun]) -> list[tuple[str, list[str]]]:
    """List the settings in which runs differ, each with its value in every run; "" where a run lacks it.

    A setting is named by its place in the spec, entries of lists by their name or kind. Of an entry that a run lacks
    as a whole, `yes` says who has it. Versions, plugin files and the hash of the data count as settings.
    """
    return list(_differing("", [_settings(listed.run.manifest) for listed in runs]))


def _settings(manifest: Mapping[str, Any]) -> dict[str, Any]:
    data = hashlib.sha256(json.dumps(manifest.get("data"), sort_keys=True).encode()).hexdigest()[:8]
    about = {"ohr": manifest.get("ohr"), "data": data, "plugins": manifest.get("plugins", {})}
    return {key: _named(value) for key, value in {**about, **manifest["spec"]}.items() if key != "name"}


def _named(value: Any) -> Any:
    """Turn lists of entries into mappings by their names, so that one more entry shifts no other."""
    if isinstance(value, Mapping):
        return {str(key): _named(item) for key, item in value.items()}
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for key in ("name", "kind"):
            names = [item.get(key) for item in value]
            if None not in names and len(set(names)) == len(names):
                return {str(name): _named(item) for name, item in zip(names, value, strict=True)}
        return {str(place): _named(item) for place, item in enumerate(value)}
    return value


def _differing(place: str, values: Sequence[Any]) -> "Sequence[tuple[str, list[str]]]":
    if all(value == values[0] for value in values):
        return []
    if all(isinstance(value, Mapping) for value in values):
        keys = dict.fromkeys(key for value in values for key in value)
        return [
            found
            for key in keys
            for found in _differing(f"{place}.{key}".lstrip("."), [value.get(key, _ABSENT) for value in values])
        ]
    return [(place, [_shown(value) for value in values])]


def _shown(value: Any) -> str:
    if value is _ABSENT or value is None:
        return ""
    if isinstance(value, Mapping):
        return "yes" if value else ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
