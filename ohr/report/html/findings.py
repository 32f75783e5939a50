"""A run's tables as plain data for its page: sentences, tables, and numbers for its charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from ohr.contracts import Published
from ohr.errors import OhrError
from ohr.report.analyses import ANALYSES
from ohr.report.figures.data import Axis, NothingToDraw, Panel, bounds, read_panels
from ohr.report.html import sheets
from ohr.report.html.sheets import Sheet, cell, interval, of_rows
from ohr.report.leaderboard.runs import run_leaderboards
from ohr.results.folder import MANIFEST, headlines, read_finished
from ohr.metrics.intervals import FEW
from ohr.results.groups import ALL, STAGES
from ohr.results.reading import read_rows
from ohr.spec.recorded import RecordedSpec

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Findings:
    """What the page shows of a run.

    Args:
        folder: of the run.
        manifest: what the run says of itself.
        facts: label and value, for the top of the page.
        headline: the result in sentences.
        charts: data of each chart, by name.
        sections: title, and the tables in it, by the section's name.
    """

    folder: Path
    manifest: Mapping[str, Any]
    facts: Sequence[tuple[str, str]]
    headline: Sequence[str]
    charts: Mapping[str, Any]
    sections: Mapping[str, Sequence[Sheet]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    """Why a part is not there, by the section's name."""

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest.get("name") or self.folder.parent.name)


def read_findings(folder: Path, *, trust_plugins: bool = False) -> Findings:
    """Read what the page shows of a finished run.

    Raises:
        DataError: the run is not finished, or a table is missing or damaged.
    """
    manifest = read_finished(folder)
    headline = headlines(manifest)
    published, note = _published(folder, manifest, trust_plugins)
    points = _points(folder, headline)
    sections: dict[str, Sequence[Sheet]] = {
        "cost": [_losses(points)] if points else [],
        "curves": [_means(points)],
        "decomposition": _decomposition(folder),
        "leaderboard": sheets.leaderboard(run_leaderboards(folder, published)),
        "groups": [sheet for trait in ("evidence_source", "domain") for sheet in sheets.by_group(folder, trait, headline)],
        "errors": [sheet for _, sheet in sheets.analyses(folder)],
        "words": sheets.confused(folder),
        "attribution": _attribution(folder, headline),
        "doses": _doses(folder),
        "failures": _failures(folder, manifest),
        "provenance": _provenance(manifest),
    }
    return Findings(folder, manifest, _facts(manifest, points), _headline(points), _charts(folder, points), sections, note)


# --- words and numbers ------------------------------------------------------------------------------------


def _facts(manifest: Mapping[str, Any], points: Sequence[Row]) -> list[tuple[str, str]]:
    spec = manifest["spec"]
    kind = spec.get("benchmark", {}).get("kind", "")
    return [
        ("Benchmark", str(kind)),
        ("Questions", f"{manifest['questions']:,}"),
        ("Documents", f"{manifest.get('documents', 0):,}"),
        ("Conditions", f"{len({row['condition'] for row in points}):,}"),
        ("Failed items", f"{manifest['failures'].get('items', 0):,}"),
        ("Protocol", str(manifest["protocol"].get("name", ""))),
        ("Started", str(manifest.get("started", ""))[:16].replace("T", " ")),
    ]


def _points(folder: Path, headline: Mapping[str, str]) -> list[Row]:
    """Read the means of all questions in each stage's headline metric."""
    rows = read_rows(folder / "summary.parquet", by="evidence_source", group=ALL)
    order = {stage: number for number, stage in enumerate(STAGES)}
    kept = [row for row in rows if row["metric"] == headline.get(row["stage"])]
    return sorted(kept, key=lambda row: order[row["stage"]])


def _pipeline(row: Row) -> str:
    return " + ".join(filter(None, (row["retriever"], row["generator"])))


def _headline(points: Sequence[Row]) -> list[str]:
    worst = max((row for row in points if not isnan(row["lost"])), key=lambda row: row["lost"], default=None)
    if worst is None:
        return ["This run has no condition without noise: scores are shown, losses are not."]
    return [
        f"{worst['condition']} costs {worst['lost']:.2f} of the {worst['stage']} {worst['metric']} ({_pipeline(worst)}): "
        f"{worst['lost'] + worst['mean']:.2f} without noise, {worst['mean']:.2f} with it."
    ]


def _losses(points: Sequence[Row]) -> Sheet:
    rows = [
        (
            row["stage"],
            _pipeline(row),
            row["condition"],
            cell(row["lost"] + row["mean"]),
            cell(row["mean"]),
            interval(row["lost"], row["lost_low"], row["lost_high"]),
            _verdict(row),
            cell(row["lost_detectable"]),
        )
        for row in points
        if not isnan(row["lost"])
    ]
    headers = ("stage", "pipeline", "condition", "clean", "score", "lost [95% interval]", "verdict", "detectable")
    how = (
        "Lost: the clean score minus this one, question by question, with its interval over documents. An interval that "
        "covers 0 shows nothing. Detectable: the smallest loss that so many documents show in four of five studies."
    )
    return Sheet("Loss against the clean text", how, headers, tuple(rows))


def _verdict(row: Row) -> str:
    if isnan(row["lost_low"]):
        return "too few documents"
    return "lost" if row["lost_low"] > 0 else "gained" if row["lost_high"] < 0 else "not shown"


def _means(points: Sequence[Row]) -> Sheet:
    rows = tuple(
        (
            row["stage"],
            _pipeline(row),
            row["condition"],
            cell(row["kb_r_noise"]),
            cell(row["kb_evidence_loss"]),
            interval(row["mean"], row["low"], row["high"]),
            cell(row["floor"]),
            cell(row["ceiling"]),
            cell(row["n"]),
            cell(row["documents"]),
        )
        for row in points
    )
    headers = ("stage", "pipeline", "condition", "r_noise", "evidence loss", "score", "floor", "ceiling", "n", "documents")
    return Sheet("Scores", "Mean over questions with its 95% interval over documents.", headers, rows)


def _decomposition(folder: Path) -> list[Sheet]:
    """Arrange the swap decomposition, where the run has one."""
    path = folder / "decomposition.parquet"
    rows = read_rows(path) if path.is_file() else []
    names = ("stage", "condition", "chunker", "retriever", "generator", "metric", "quantity")
    found = []
    for group in dict.fromkeys(row["group"] for row in rows):
        shown = [
            {**{name: row[name] for name in names}, "estimate": interval(row["value"], row["low"], row["high"])}
            for row in rows
            if row["group"] == group
        ]
        title = "All questions" if group == ALL else str(group)
        how = "Four cells: clean or noisy index, clean or noisy reading; what each damage alone takes, and what repair regains."
        found.append(of_rows(title, how, shown))
    return found


def _attribution(folder: Path, headline: Mapping[str, str]) -> list[Sheet]:
    path = folder / "attribution.parquet"
    if not path.is_file():
        return []
    wanted = {"page": "damaged", **headline}
    rows = [row for row in read_rows(path, evidence_source=ALL) if row["metric"] == wanted.get(row["stage"])]
    shown = [
        {
            "condition": row["condition"],
            "method": row["method"].replace("_", " "),
            "part": row["part"],
            "measure": "r_noise" if row["stage"] == "page" else f"{row['stage']} {row['metric']}",
            "pipeline": _pipeline(row),
            "cost": interval(row["cost"], row["low"], row["high"]),
            "n": row["n"],
        }
        for row in rows
    ]
    how = "What a part of a noise adds to r_noise and takes from a score: without it, or as its Shapley share."
    return [of_rows("Cost of each part", how, shown)] if shown else []


def _doses(folder: Path) -> list[Sheet]:
    names = {
        "kb": "knowledge base",
        "r_noise": "r_noise",
        "r_noise_clean": "of clean evidence",
        "r_content": "without markup",
        "evidence_loss": "evidence loss",
        "term_survival": "terms kept",
        "answer_survival": "answers kept",
        "edit_distance": "edit distance",
        "empty_pages": "empty pages",
        "failed_pages": "failed pages",
        "excluded": "excluded",
    }
    rows = read_rows(folder / "doses.parquet")
    how = "How noisy each knowledge base is. r_noise: share of questions whose evidence is damaged; evidence loss: mean share of its words lost."
    return [of_rows("Noise of each knowledge base", how, rows, names)] if rows else []


def _failures(folder: Path, manifest: Mapping[str, Any]) -> list[Sheet]:
    rows = read_rows(folder / "failures.parquet")
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        reasons.setdefault((row["stage"], row["reason"]), []).append(row["item"])
    shown = tuple((stage, f"{len(items):,}", reason, items[0]) for (stage, reason), items in reasons.items())
    found = []
    if shown:
        how = "Questions that need a failed item score 0, and are counted."
        found.append(Sheet("Failed items", how, ("stage", "items", "reason", "first"), shown))
    if warnings := manifest.get("warnings"):
        lines = tuple((str(warning),) for warning in warnings)
        found.append(Sheet("Warnings", "What was left out, and what looks wrong.", ("warning",), lines))
    return found


def _provenance(manifest: Mapping[str, Any]) -> list[Sheet]:
    machine = manifest.get("machine") or {}
    rows: list[tuple[str, str]] = [
        ("run", str(manifest.get("name", ""))),
        ("key", str(manifest.get("key", ""))),
        ("ohr", str(manifest.get("ohr", ""))),
        ("started", str(manifest.get("started", ""))),
        ("written", str(manifest.get("written", ""))),
        ("system", ", ".join(f"{name} {value}" for name, value in machine.items())),
        ("seconds by phase", _listed(manifest.get("seconds"))),
        ("calls", _listed(manifest.get("calls"))),
        ("tokens", _listed(manifest.get("tokens"))),
        ("packages", _listed(manifest.get("packages"))),
        ("prompts (SHA-256)", _listed(manifest.get("prompt_sha256"))),
        ("plugin files (SHA-256)", _listed(manifest.get("plugins"))),
    ]
    how = "Enough to check the run or to do it again; the whole manifest follows."
    return [Sheet("Origin of these numbers", how, ("what", "value"), tuple(row for row in rows if row[1]))]


def _listed(values: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value) if isinstance(values, Mapping) else ""


def _published(
    folder: Path, manifest: Mapping[str, Any], trust_plugins: bool
) -> tuple[Sequence[Published], Mapping[str, str]]:
    """Return what others published for the run's benchmark; without its plugin or variables nothing, and why."""
    try:
        return RecordedSpec(manifest, folder / MANIFEST, trust_plugins=trust_plugins).benchmark.published(), {}
    except OhrError as error:
        return (), {"leaderboard": f"No published rows: {str(error).splitlines()[0]}"}


# --- charts -----------------------------------------------------------------------------------------------


def _charts(folder: Path, points: Sequence[Row]) -> dict[str, Any]:
    """Return curves where some noise has several levels, else a dot for each condition and pipeline."""
    found: dict[str, Any] = {"dots": [_dot(row) for row in points]}
    levels: dict[str, set[str]] = {}
    for row in points:
        levels.setdefault(row["noise"], set()).add(row["condition"])
    if any(len(conditions) > 1 for conditions in levels.values()):
        axes: tuple[Axis, ...] = ("r_noise", "evidence_loss")
        found["curves"] = {axis: panels for axis in axes if (panels := _panels(folder, axis))}
    classes = ANALYSES["error_classes"](folder)
    found["classes"] = [
        {"label": " ".join(filter(None, (row["noise"], row["level"]))), "pipeline": _pipeline(row), **row} for row in classes
    ]
    return found


def _dot(row: Row) -> dict[str, Any]:
    names = ("stage", "condition", "noise_type", "metric", "mean", "low", "high", "lost", "lost_low", "lost_high")
    return {**{name: row[name] for name in names}, "system": [row["retriever"] or "", row["generator"] or ""], "few": row["documents"] < FEW}


def _panels(folder: Path, axis: Axis) -> list[dict[str, Any]]:
    try:
        return [_panel(panel) for panel in read_panels(folder, axis)]
    except NothingToDraw:
        return []


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "stage": panel.stage,
        "group": panel.group,
        "metric": panel.metric,
        "marks": [
            {
                "x": mark.x,
                "mean": mark.point.mean,
                "low": mark.point.low,
                "high": mark.point.high,
                "few": mark.few,
                "condition": mark.point.condition,
                "noise": curve.noise,
                "type": curve.noise_type,
                "system": [curve.system.search, curve.system.generator],
                "n": mark.point.n,
            }
            for curve in panel.curves
            for mark in curve.marks
        ],
        "bounds": [
            {
                "which": bound.which,
                "x": bound.x,
                "y": [value / 100 for value in bound.y],
            }
            for bound in (*bounds(panel, "floor"), *bounds(panel, "ceiling"))
        ],
    }
