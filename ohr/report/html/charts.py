"""Numbers for the charts of the page."""

from collections.abc import Mapping, Sequence
from typing import Any

from ohr.report.analyses import ANALYSES
from ohr.report.figures.data import dose_axes, read_panels
from ohr.report.figures.panels import Axis, NothingToDraw, Panel, bounds
from ohr.report.views.losses import QUANTITIES
from ohr.results.derived.decomposition import read_headlines
from ohr.results.derived.losses import has_sweep
from ohr.results.derived.pairs import FAILED
from ohr.results.run import Run
from ohr.results.tables.groups import pipeline_names

Row = Mapping[str, Any]


def chart_data(run: Run, points: Sequence[Row]) -> dict[str, Any]:
    """Return curves where some noise has several levels, else a dot for each condition and pipeline."""
    several, labels = len({row["chunker"] for row in points if row["chunker"]}) > 1, run.agent_labels
    found: dict[str, Any] = {"dots": [_dot(row, several, labels) for row in points]}
    if has_sweep((row["noise"], row["condition"]) for row in points):
        found["curves"] = {axis: panels for axis in dose_axes(run) if (panels := _panels(run, axis))}
    found["decomposition"] = _decomposition(run)
    classes = ANALYSES["error_classes"](run)
    pipeline = pipeline_names(classes)
    found["classes"] = [
        {"label": " ".join(filter(None, (row["noise"], row["level"]))), "pipeline": pipeline(row), **row}
        for row in classes
    ]
    return found


def _dot(row: Row, several: bool, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the numbers of one condition and pipeline; its search has the chunker's name where there are several."""
    agent = labels.get(row["generator"] or "")
    search, generator = (agent, "") if agent else (row["retriever"], row["generator"] or "")
    names = ("stage", "condition", "noise_type", "metric", "mean", "low", "high", "lost", "lost_low", "lost_high")
    judged = {} if row["verdict"] != FAILED else dict.fromkeys(("lost", "lost_low", "lost_high"))
    return {
        **{name: row[name] for name in names},
        **judged,
        "system": [" + ".join(filter(None, (row["chunker"] if several else None, search))), generator],
        "few": bool(row["note"]),
    }


def _decomposition(run: Run) -> list[dict[str, Any]]:
    """Return the loss by stage over all questions, in the headline metrics; nothing where the run has none."""
    rows = read_headlines(run, own=False)
    pipeline = pipeline_names(rows)
    return [
        {name: row[name] for name in ("stage", "condition", "metric", "value", "low", "high")}
        | {"pipeline": pipeline(row), "quantity": QUANTITIES[row["quantity"]]}
        for row in rows
        if row["quantity"] in QUANTITIES
    ]


def _panels(run: Run, axis: Axis) -> list[dict[str, Any]]:
    try:
        return [_panel(panel) for panel in read_panels(run, axis)]
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
