"""A run as runs of MLflow: a parent with its artifacts and curves, and a nested run per condition and pipeline."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isnan
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from ohr import extras
from ohr.errors import DataError
from ohr.report.exports.written_tables import one_line
from ohr.results.folder.run_folder import FIGURES, MANIFEST, REPORT
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES

if TYPE_CHECKING:
    from mlflow import MlflowClient

RUN = "ohr.run"
"""Tag of an MLflow run: the run of ohr that it was made from."""

_PARTS = ("chunker", "retriever", "generator")
_ENDS = ("low", "high", "lost", "lost_low", "lost_high", "lost_p")
_AXES = ("r_noise", "evidence_loss")
_COUNTS = ("n", "failed", "documents")
_FILES = (MANIFEST, REPORT, "summary.csv", "doses.csv", "curves.csv")
_DATABASES = ("sqlite:", "mysql", "postgresql", "mssql")
_MOST = 1_000  # metrics of one call; MLflow refuses more
_STEPS = 1_000  # a step is a whole number: r_noise in thousandths
_LONGEST = 40  # letters of a part of a metric's name; MLflow refuses names of more than 250

_VALUE = 500  # letters of a parameter's value: the least that servers in use take

Row = Mapping[str, Any]
Point = tuple[str, float | None, int]
"""Name, value and step of a metric."""
Cell = tuple[str, ...]
"""Stage, condition, chunker, retriever and generator."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Args:
        experiment: the name of the MLflow experiment.
        run_id: of the parent run.
        children: nested runs that were written; 0 where the run was there already.
    """

    experiment: str
    run_id: str
    children: int


def export_mlflow(run: Run, uri: str) -> Exported:
    """Export a finished run; of one that is there already, only the tags are updated.

    Args:
        uri: of an MLflow tracking server or store, as for `MLFLOW_TRACKING_URI`.

    Raises:
        DataError: MLflow refuses, or a table of the run is damaged.
        MissingExtra: mlflow is not installed.
    """
    extras.require("mlflow", "mlflow")
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    try:
        return _export(run, MlflowClient(tracking_uri=uri))
    except (MlflowException, OSError) as error:
        reason = re.sub(r"//[^@/\s]*@", "//", str(error).strip().partition("\n")[0])  # an address may hold a password
        hint = "; a database needs all of MLflow: pip install mlflow" if uri.startswith(_DATABASES) else ""
        raise DataError(f"MLflow: {reason}{hint}") from None


def _export(run: Run, client: "MlflowClient") -> Exported:
    manifest, name = run.manifest, run.name
    experiment = client.get_experiment_by_name(name)
    place = experiment.experiment_id if experiment else client.create_experiment(name)
    if done := _exported(client, place, run.id):
        _tag(client, done, run)
        return Exported(name, done, 0)
    cells, engines, shared = _cells(run), run.engines, _shared(manifest)
    parent = client.create_run(place, tags={RUN: run.id, "ohr.key": manifest["key"]}, run_name=run.id).info.run_id
    _log(client, parent, shared, _curves(cells))
    for cell, rows in cells.items():
        about = {"mlflow.parentRunId": parent, RUN: run.id}
        child = client.create_run(place, tags=about, run_name=" ".join(filter(None, cell))).info.run_id
        _log(client, child, shared | _about(rows[0], engines), _scores(rows))
        client.set_terminated(child)
    _tag(client, parent, run)
    _artifacts(client, parent, run)
    client.set_terminated(parent)  # last: one without it was interrupted
    return Exported(name, parent, len(cells))


def _exported(client: "MlflowClient", experiment: str, run: str) -> str | None:
    """Find the parent of an earlier export; an interrupted one is deleted with all its runs."""
    found: list[Any] = []
    more: str | None = None
    while more != "":
        page = client.search_runs([experiment], f"tags.`{RUN}` = '{run}'", page_token=more)
        found, more = [*found, *page], page.token or ""
    parents = [one for one in found if "mlflow.parentRunId" not in one.data.tags]
    for parent in parents:
        if parent.info.status == "FINISHED":
            return str(parent.info.run_id)
    for one in found:
        client.delete_run(one.info.run_id)
    return None


def _cells(run: Run) -> dict[Cell, list[Row]]:
    found: dict[Cell, list[Row]] = {}
    for row in run.rows("summary", by="evidence_source"):
        if row["stage"] in STAGES and row["n"]:
            cell = (row["stage"], row["condition"], *(row[part] or "" for part in _PARTS))
            found.setdefault(cell, []).append(row)
    return found


def _scores(rows: Sequence[Row]) -> Iterator[Point]:
    """Yield each metric of a cell with its interval, loss and counts; by evidence source, its mean."""
    whole = [row for row in rows if row["group"] == ALL]
    for row in whole:
        metric = _name(row["metric"])
        yield metric, row["mean"], 0
        yield from ((f"{metric}.{end}", row[end], 0) for end in (*_ENDS, *_COUNTS))
    yield from ((f"{_name(row['metric'])}.{row['group']}", row["mean"], 0) for row in rows if row["group"] != ALL)
    for axis in _AXES if whole else ():
        yield axis, whole[0][f"kb_{axis}"], 0


def _curves(cells: Mapping[Cell, Sequence[Row]]) -> Iterator[Point]:
    """Yield the curve of each noise, pipeline and metric; the step is `r_noise` in thousandths, 0 the clean text."""
    rows = [row for held in cells.values() for row in held if row["group"] == ALL]
    levels: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        levels.setdefault((*_pipeline(row), row["noise"]), []).append(row)
    clean = {_pipeline(row): row for row in reversed(rows) if row["noise_type"] == "none"}
    for (stage, metric, *parts, noise), held in levels.items():
        if len(held) > 1:
            name = "/".join(map(_name, filter(None, (stage, metric, *parts, noise))))
            pipeline = (stage, metric, *parts)
            for row in [*([clean[pipeline]] if pipeline in clean else []), *held]:
                if not isnan(row["kb_r_noise"]):
                    yield name, row["mean"], round(_STEPS * row["kb_r_noise"])


def _pipeline(row: Row) -> tuple[str, ...]:
    return (row["stage"], row["metric"], *(row[part] or "" for part in _PARTS))


def _name(text: str) -> str:
    """Return a text that MLflow takes as a part of a metric's name (`hit_at_2`); different ones stay different."""
    wanted = text.replace("@", "_at_")
    plain = re.sub(r"[^\w .:-]", "_", wanted)[:_LONGEST].strip(". ") or "_"
    return plain if plain == wanted else f"{plain}-{sha256(text.encode('utf-8', 'replace')).hexdigest()[:6]}"


def _shared(manifest: Mapping[str, Any]) -> dict[str, Any]:
    spec = manifest["spec"]
    about = {"study": manifest["name"], "ohr": manifest["ohr"], "protocol": manifest["protocol"]["name"]}
    about |= {
        key: spec[key] for key in ("seed", "replicates", "limit", "per_document", "sample") if spec.get(key) is not None
    }
    return about | {"benchmark": spec["benchmark"]["kind"], "questions": manifest["questions"]}


def _about(row: Row, engines: Mapping[str, str]) -> dict[str, Any]:
    names = ("stage", "condition", "noise", "noise_type", "knob", *_PARTS)
    level = {"engine": engines.get(row["condition"]), "level": row["knob_value"]}
    return {name: value for name, value in ({name: row[name] for name in names} | level).items() if value is not None}


def _log(client: "MlflowClient", run: str, params: Mapping[str, Any], points: Iterator[Point]) -> None:
    """Log parameters and metrics; an undefined number is no metric, and one too many letters are cut."""
    from mlflow.entities import Metric, Param

    now = round(time() * 1_000)
    client.log_batch(run, params=[Param(name, one_line(str(value))[:_VALUE]) for name, value in params.items()])
    known = ((name, value, step) for name, value, step in points if value is not None and not isnan(value))
    metrics = [Metric(name, float(value), now, step) for name, value, step in known]
    for start in range(0, len(metrics), _MOST):
        client.log_batch(run, metrics=metrics[start : start + _MOST])


def _tag(client: "MlflowClient", parent: str, run: Run) -> None:
    for key, value in run.tags.items():
        client.set_tag(parent, _name(key), value)


def _artifacts(client: "MlflowClient", parent: str, run: Run) -> None:
    client.log_dict(parent, run.manifest["spec"], "spec.json")
    for name in _FILES:
        if (run.folder / name).is_file():
            client.log_artifact(parent, str(run.folder / name))
    for name in (FIGURES, f"{Path(REPORT).stem}-data"):
        if (run.folder / name).is_dir():
            client.log_artifacts(parent, str(run.folder / name), name)
