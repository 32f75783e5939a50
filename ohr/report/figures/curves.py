"""Performance against noise, after the paper's Fig. 3: a row a stage, a column an evidence source."""

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import ceil, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ohr
from ohr import extras
from ohr.report.figures.data import COLUMNS, ROWS, Axis, NothingToDraw, Panel, counts, read_conditions, read_panels
from ohr.report.figures.decomposition import draw_decomposition
from ohr.report.figures.legend import add_legend
from ohr.report.figures.marks import draw_bounds, draw_curve, draw_whiskers
from ohr.report.figures.saving import save
from ohr.report.figures.style import Style, style_of
from ohr.results.files import damaged, listed, replaced
from ohr.results.folder import FIGURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0
"""Inches: the text width of a two-column page."""
DPI = 200

_FILES: dict[Axis, str] = {
    "r_noise": "performance",
    "evidence_loss": "performance-evidence-loss",
    "condition": "performance-by-condition",
}
_AXIS_NAMES: dict[Axis, str] = {
    "r_noise": r"$r_\mathrm{noise}$ of the knowledge base (share of all questions whose evidence is damaged)",
    "evidence_loss": "Evidence loss $L$ (mean share of a question's evidence words that is lost)",
    "condition": "Knowledge base (how noisy they are is not known: no evidence)",
}
_GROUP_NAMES = {"text": "Text", "multimodal": "Multimodal", "reading_order": "Reading order", "all": "All"}
_METRIC_NAMES = {"lcs": "LCS", "f1": "F1", "em": "Exact match", "f1_numeric": "Numeric F1"}

_LEFT, _RIGHT, _TOP, _BELOW, _GAP = 0.62, 0.08, 0.36, 0.5, 0.27  # inches: room beside, above, under and between axes


INDEX = "figures.json"
"""Written last, beside the figures: which files there are, with size and hash."""


def figures(run_folder: Path) -> list[Path]:
    """Return a run's figures; they are drawn unless all of them are there and whole.

    Raises: as `draw`.
    """
    folder = run_folder / FIGURES
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if index["ohr"] == ohr.__version__ and index["files"] and damaged(folder, index["files"], hashes=True) is None:
            return [folder / name for name in index["files"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # no index, or a damaged one: so may the figures be
    return draw(run_folder)


def draw(run_folder: Path) -> list[Path]:
    """Draw a run's performance against r_noise and against evidence loss, each as SVG and PNG; and its losses by stage.

    A run whose benchmark has no ground truth has no evidence loss; without evidence it has no r_noise either: then its
    knowledge bases are drawn one after the other.

    Returns:
        The files, in the folder `figures` of the run. Each appears whole or not at all.

    Raises:
        DataError: a table of the run is missing or cannot be read, or there is nothing to draw.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    found: dict[Axis, list[Panel]] = {}
    for axis in ("r_noise", "evidence_loss"):
        with suppress(NothingToDraw):
            found[axis] = read_panels(run_folder, axis)
    if not found:
        found["condition"] = read_panels(run_folder, "condition")
    folder = run_folder / FIGURES
    folder.mkdir(exist_ok=True)
    names = read_conditions(run_folder)
    files = [
        file
        for axis, panels in found.items()
        for file in save(partial(_figure, panels, axis, names), folder / _FILES[axis])
    ]
    files += draw_decomposition(run_folder, folder)
    index = {"ohr": ohr.__version__, "files": listed(folder, files)}
    with replaced(folder / INDEX) as new:
        new.write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    return files


def _figure(panels: Sequence[Panel], axis: Axis, conditions: Sequence[str]) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    stages = [stage for stage in ROWS if any(panel.stage == stage for panel in panels)]
    groups = [group for group in COLUMNS if any(panel.group == group for panel in panels)]
    figure = Figure(figsize=(WIDTH, WIDTH), dpi=DPI)
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(stages), len(groups), sharex=True, sharey="row", squeeze=False)
    style = style_of(panels)
    # limits come first: else each line scales all axes that share them again
    grid[0, 0].set_xlim(*_reach(panels, axis, conditions))
    for row, stage in enumerate(stages):
        grid[row, 0].set_ylim(*_limits([panel for panel in panels if panel.stage == stage]))
        for column, group in enumerate(groups):
            axes: Axes = grid[row, column]
            held = [panel for panel in panels if (panel.stage, panel.group) == (stage, group)]
            for panel in held:
                _draw_panel(axes, panel, style)
            if not held:
                axes.text(0.5, 0.5, "no score", ha="center", va="center", transform=axes.transAxes, color="0.5")
            if row == 0:
                _write_above(axes, 0.5, 0.18, _GROUP_NAMES[group], ha="center", weight="bold")
        metric = next(panel.metric for panel in panels if panel.stage == stage)
        grid[row, 0].set_ylabel(f"{stage.capitalize()}\n{_METRIC_NAMES.get(metric, metric)} (%)")
    for axes in grid[-1]:
        if axis == "condition":
            axes.set_xticks(range(len(conditions)), [_shortened(name) for name in conditions], rotation=12)
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
            axes.xaxis.set_major_formatter("{x:g}")
    _arrange(figure, (len(stages), len(groups)), add_legend(figure, panels, style), _AXIS_NAMES[axis])
    return figure


def _shortened(name: str, longest: int = 14) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _draw_panel(axes: "Axes", panel: Panel, style: Style) -> None:
    _write_above(axes, 1.0, 0.035, counts(panel), ha="right", size=6.5, color="0.35")
    draw_bounds(axes, panel, style)
    opacity = max(0.04, 0.16 / max(len(panel.curves) / 3, 1))
    begun = {curve.system for curve in panel.curves if curve.noise_type == "formatting" and len(curve.marks) > 1}
    for curve in panel.curves:
        draw_curve(axes, curve, style, opacity)
        if curve.noise_type != "none" or curve.system not in begun:  # else the band of another curve begins there
            draw_whiskers(axes, curve, style)


def _write_above(axes: "Axes", x: float, inches: float, text: str, **look: Any) -> None:
    axes.annotate(text, (x, 1), (0, 72 * inches), xycoords="axes fraction", textcoords="offset points", **look)


def _reach(panels: Sequence[Panel], axis: Axis, conditions: Sequence[str]) -> tuple[float, float]:
    if axis == "condition":
        return -0.5, len(conditions) - 0.5
    most = max(mark.most for panel in panels for mark in panel.marks) or 1
    return -0.04 * most, 1.05 * most


def _limits(panels: Sequence[Panel]) -> tuple[float, float]:
    """Reach from zero to the highest mean, ceiling and interval of all questions, in steps of 10.

    The wide intervals of small groups may leave the frame; making room for them would flatten every curve.
    """
    values = [value for panel in panels for mark in panel.marks for value in (mark.mean, mark.bound("ceiling"))]
    values += [mark.interval[1] for panel in panels if panel.group == COLUMNS[-1] for mark in panel.marks]
    top = min(100, 10 * ceil(max(value for value in values if not isnan(value)) / 10)) or 10
    return -0.03 * top, 1.03 * top


def _arrange(figure: "Figure", shape: tuple[int, int], legend_height: float, axis_name: str) -> None:
    """Size the axes by the inch, so that print size does not depend on how many there are."""
    rows, columns = shape
    height = min(0.85 * (WIDTH - _LEFT - _RIGHT) / columns, 1.8)
    below = legend_height + _BELOW
    total = _TOP + rows * height + (rows - 1) * _GAP + below
    figure.set_size_inches(WIDTH, total)
    figure.subplots_adjust(
        left=_LEFT / WIDTH,
        right=1 - _RIGHT / WIDTH,
        top=1 - _TOP / total,
        bottom=below / total,
        hspace=_GAP / height,
        wspace=0.1,
    )
    figure.text((_LEFT + WIDTH - _RIGHT) / 2 / WIDTH, (legend_height + 0.16) / total, axis_name, ha="center")
