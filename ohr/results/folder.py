"""What a run leaves behind: a folder that says everything needed to check it or make it again."""

import csv
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import ohr
from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.results.summary import summarise
from ohr.spec.model import Calibration

_PACKAGES = (
    "bm25s", "faiss-cpu", "jieba", "numpy", "onnxruntime", "opencv-python", "pypdfium2", "quicktok-v1", "rapidfuzz",
    "rapidocr", "sentence-transformers", "tesserocr", "torch", "transformers",
)  # fmt: skip

Row = Mapping[str, Any]

_ROOM = 0.95
"""A smaller share than this of the edits that were to be made is told."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """What each part of a noise costs, and the scores and doses of the levels with some of the parts."""

    costs: Sequence[Row]
    rows: Sequence[Row]
    doses: Sequence[Row]


def find_finished(runs: Path, name: str, key: str) -> Path | None:
    """Find the newest whole folder of an earlier run of the same spec on the same data."""
    for folder in sorted((runs / name).glob(f"*-{key[:8]}"), reverse=True):
        try:
            manifest = json.loads((folder / "manifest.json").read_text())
        except (OSError, ValueError):
            continue
        if manifest.get("status") == "finished" and not manifest.get("failures", True):
            return folder
    return None


class RunFolder:
    def __init__(self, path: Path, keys: Any, session: Any) -> None:
        self.path, self.keys, self.session = path, keys, session

    @classmethod
    @contextmanager
    def start(cls, runs: Path, keys: Any, session: Any) -> Iterator["RunFolder"]:
        now = datetime.now(UTC)
        count = 1
        while True:
            again = f".{count}" if count > 1 else ""
            path = runs / keys.spec.name / f"{now:%Y%m%dT%H%M%S}{again}-{keys.run()[:8]}"
            try:
                path.mkdir(parents=True)
                break
            except FileExistsError:
                count += 1
        (path / "manifest.json").write_text(json.dumps({"status": "running"}))
        yield cls(path, keys, session)

    def finish(self, doses: Sequence[Row], trials: Any) -> Path:
        from ohr.attribution.costs import shares

        write_csv(self.path / "doses.csv", [row for row in doses if row["kb"] not in trials])
        rows = read_table(self.path / "scores.parquet")
        if trials:
            apart = [row for row in rows if row["kb"] in trials]
            write_csv(self.path / "attribution.csv", shares(self.keys.spec, rows, trials))
            write_csv(self.path / "attribution_doses.csv", [row for row in doses if row["kb"] in trials])
            rows = [row for row in rows if row["kb"] not in trials]
        write_csv(self.path / "summary.csv", summarise(rows))
        manifest = _manifest(self.keys, self.session.ledger, doses, datetime.now(UTC))
        (self.path / "manifest.json").write_text(_json(manifest, self.path))
        return self.path


def _manifest(recipe: Any, work: Any, doses: Sequence[Row], now: datetime) -> dict[str, Any]:
    return {
        "status": "finished",
        "ohr": ohr.__version__,
        "written": now.isoformat(timespec="seconds"),
        "key": recipe.run(),
        "spec": recipe.spec.resolved,
        "protocol": asdict(recipe.spec.benchmark.scoring),
        "plugins": dict(recipe.spec.plugin_digests),
        "prompt_sha256": recipe.prompt_digests,
        "data": {document.name: recipe.inputs.leaf(document, images=False) for document in recipe.inputs.documents},
        "documents": len(recipe.inputs.documents),
        "questions": len(recipe.inputs.questions),
        "notes": [*recipe.inputs.warnings, *_misses(recipe.spec.calibrations), *_shortfalls(doses), *work.warnings],
        "calibration": [asdict(found) for found in recipe.spec.calibrations],
        "noise": [dict(row) for row in doses],
        "calls": dict(work.calls),
        "seconds": {stage: round(seconds, 2) for stage, seconds in work.seconds.items()},
        "tokens": dict(work.tokens),
        "failures": [asdict(failure) for failure in work.failures],
        "machine": {"system": platform.platform(), "python": platform.python_version(), "cpus": os.cpu_count()},
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _json(manifest: Mapping[str, Any], folder: Path) -> str:
    """Write a manifest; relative paths start at its own folder, so that a study can be moved as a whole."""

    def placed(path: Path) -> str:
        return str(path) if path.is_absolute() else Path(os.path.relpath(path, folder)).as_posix()

    return json.dumps(manifest, indent=1, ensure_ascii=False, default=placed) + "\n"


def _misses(calibrations: Sequence[Calibration]) -> list[str]:
    """Say where the nearest dose that was found is not near enough."""
    return [
        f"{found.noise}: target_{found.target.measure} {found.target.value:g} was met to {found.achieved:.3f} only, "
        f"at {found.knob} {found.value:g}: the dose jumps there, or "
        f"{counted(len(found.passes), 'measurement')} did not find it"
        for found in calibrations
        if not found.met
    ]


def _shortfalls(doses: Sequence[Row]) -> list[str]:
    """Say where noise that was placed found no room for its dose."""
    return [
        f"{dose['kb']}: only {dose['edits']:,} of {counted(dose['edits_aimed'], 'edit')} found a place: no equal dose"
        for dose in doses
        if dose["edits"] < _ROOM * dose["edits_aimed"]
    ]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read what a run says of itself.

    Raises:
        DataError: there is no run in the folder, or its manifest is damaged.
    """
    path = folder / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise DataError(f"{folder}: no run here: {path.name} is missing") from None
    except ValueError as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    return manifest


def write_table(path: Path, rows: Iterable[Row], columns: str) -> None:
    """Write rows as Parquet, with the named columns (`name` or `name:type`)."""
    import pyarrow
    from pyarrow import parquet

    fields = [column.partition(":")[::2] for column in columns.split()]
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(kind or "string")) for name, kind in fields])
    parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows], schema), path, compression="zstd")


def read_table(path: Path) -> list[dict[str, Any]]:
    """Read rows from Parquet.

    Raises:
        DataError: the file is missing or damaged.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    return rows


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV; numbers with at most six digits, undefined ones empty."""
    with path.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, list(rows[0]) if rows else ["empty"], restval="")
        writer.writeheader()
        writer.writerows({name: _shown(value) for name, value in row.items()} for row in rows)


def _shown(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"  # nan differs from itself
    return "" if value is None else value


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read rows from CSV, as text.

    Raises:
        DataError: the file is missing.
    """
    try:
        with path.open(newline="", encoding="utf-8") as opened:
            return list(csv.DictReader(opened))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a CSV file: {error}") from None
