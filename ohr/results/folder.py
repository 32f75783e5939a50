"""What a run leaves behind: a folder that says everything needed to check it or make it again."""

import csv
import json
import os
import platform
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import ohr
from ohr.engine.recipe import Recipe
from ohr.engine.work import Work
from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.results.summary import summarise
from ohr.spec.model import Calibration

_PACKAGES = (
    "bm25s", "faiss-cpu", "jieba", "numpy", "onnxruntime", "opencv-python", "pypdfium2", "quicktok-v1", "rapidfuzz",
    "rapidocr", "sentence-transformers", "tesserocr", "torch", "transformers",
)  # fmt: skip

Row = Mapping[str, Any]

_ROOM = 0.95
"""A smaller share than this of the edits that were to be made is told."""

_SCORES = (
    "question_id document domain evidence_source answer_form task_type multi_page:bool kb condition noise noise_type "
    "knob knob_value replicate:int64 chunker retriever generator stage status metric value:double"
)
_HITS = "question_id kb chunker retriever rank:int64 score:double document page:int64 start:int64 end:int64 text"
_ANSWERS = (
    "question_id stage kb chunker retriever generator answer reply tokens_in:int64 tokens_out:int64 seconds:double "
    "finish truncated:bool error"
)
_PAGES = " ".join(
    [
        "kb condition noise noise_type knob knob_value replicate:int64 document domain page:int64 sources",
        "edit_distance:double edit_distance_content:double empty:bool redundant:int64",
        *(f"commands_{kind}:int64" for kind in KINDS),
        *(f"{count}:int64" for count in COUNTS),
    ]
)
_EDITS = "kb condition noise knob_value replicate:int64 document page:int64 rule edits:int64"
"""Columns of the tables, text unless told otherwise: fixed, so that a run without failures has the same ones."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """What each part of a noise costs, and the scores and doses of the levels with some of the parts."""

    costs: Sequence[Row]
    rows: Sequence[Row]
    doses: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Results:
    """Everything a run found out."""

    recipe: Recipe
    rows: Sequence[Row]
    hits: Sequence[Row]
    answers: Sequence[Row]
    doses: Sequence[Row]
    pages: Sequence[Row]
    edits: Sequence[Row]
    work: Work
    attributed: Attributed | None = None


def find_finished(runs: Path, recipe: Recipe) -> Path | None:
    """Find the newest whole folder of an earlier run of the same spec on the same data."""
    for folder in sorted((runs / recipe.spec.name).glob(f"*-{recipe.run()[:8]}"), reverse=True):
        try:
            manifest = json.loads((folder / "manifest.json").read_text())
        except (OSError, ValueError):
            continue
        if not manifest.get("failures", True):  # what failed then may be whole by now
            return folder
    return None


def write_results(runs: Path, results: Results) -> Path:
    """Write a run's folder, `<runs>/<name>/<time>-<key>`; it appears whole or not at all."""
    spec = results.recipe.spec
    now = datetime.now(UTC)
    home = runs / spec.name
    home.mkdir(parents=True, exist_ok=True)
    new = Path(mkdtemp(dir=home, prefix=".new-"))
    try:
        write_table(new / "scores.parquet", results.rows, _SCORES)
        write_table(new / "hits.parquet", results.hits, _HITS)
        write_table(new / "answers.parquet", results.answers, _ANSWERS)
        write_table(new / "pages.parquet", results.pages, _PAGES)
        write_table(new / "edits.parquet", results.edits, _EDITS)
        write_csv(new / "doses.csv", results.doses)
        if results.attributed:
            write_csv(new / "attribution.csv", results.attributed.costs)
            write_csv(new / "attribution_doses.csv", results.attributed.doses)
            write_table(new / "attribution.parquet", results.attributed.rows, _SCORES)
        write_csv(new / "summary.csv", summarise(results.rows))
        (new / "manifest.json").write_text(_json(_manifest(results, now), new))
        new.chmod(0o755)
        folder = home / f"{now:%Y%m%dT%H%M%S}-{results.recipe.run()[:8]}"
        count = 1
        while folder.exists():  # two runs may end in the same second
            count += 1
            folder = home / f"{now:%Y%m%dT%H%M%S}.{count}-{results.recipe.run()[:8]}"
        new.rename(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return folder


def _manifest(results: Results, now: datetime) -> dict[str, Any]:
    recipe, work = results.recipe, results.work
    return {
        "ohr": ohr.__version__,
        "written": now.isoformat(timespec="seconds"),
        "key": recipe.run(),
        "spec": recipe.spec.resolved,
        "protocol": asdict(recipe.spec.benchmark.scoring),
        "plugins": dict(recipe.spec.plugin_digests),
        "prompt_sha256": recipe.prompt_digests,
        "data": {document.name: recipe.leaf(document, images=False) for document in recipe.inputs.documents},
        "documents": len(recipe.inputs.documents),
        "questions": len(recipe.inputs.questions),
        "notes": [*recipe.inputs.notes, *_misses(recipe.spec.calibrations), *_shortfalls(results.doses), *work.notes],
        "calibration": [asdict(found) for found in recipe.spec.calibrations],
        "noise": [dict(row) for row in results.doses],
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
