"""The share of each protocol number that is left under each condition, beside the same questions on clean pages."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

from ohr import extras
from ohr.report.figures.choices import Wanted
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.style import HUES, INK
from ohr.results.run import Run
from ohr.statistics.estimate import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

Row = Mapping[str, Any]
Panel = tuple[str, str, str]
"""Stage, pipeline, and the number's name."""

_LEFT, _RIGHT, _TOP, _GAP, _FOOT = 1.6, 0.15, 0.08, 0.15, 0.45  # units
_TITLE = 0.17  # units: of one line of a title
_LINE = 0.17  # units: of one condition
_NARROWEST = 1.3  # units of axes
_MOST = 12
"""Panels of a figure; the table `aggregates` has the rest."""


def ratios(run: Run, wanted: Wanted) -> "Picture":
    """Draw the ratios of a run's aggregates to their clean values.

    Raises:
        NothingToDraw: the benchmark has none, or the run no clean condition to compare with.
        DataError: the table of the run cannot be read.
        SpecError: there are more than a slide holds.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    from ohr.report.figures.picture import drawn

    rows = [row for row in run.rows_if_any("aggregates") if not isnan(row["ratio"])]
    if not rows:
        raise NothingToDraw(f"{run.folder}: nothing to draw: no protocol number is compared with clean pages")
    return drawn(partial(_figure, rows), wanted)


def _panel(row: Row) -> Panel:
    return row["stage"], " / ".join(filter(None, (row[p] for p in ("chunker", "retriever", "generator")))), row["name"]


def _figure(rows: Sequence[Row], page: "Page") -> "Picture | None":
    panels = list(dict.fromkeys(map(_panel, rows)))[:_MOST]
    conditions = list(dict.fromkeys(row["condition"] for row in rows))
    columns = min(len(panels), max(1, int((page.width - _LEFT - _RIGHT + _GAP) / (_NARROWEST + _GAP))))
    lines = -(-len(panels) // columns)
    axes_width = (page.width - _LEFT - _RIGHT + _GAP) / columns - _GAP
    axes_height = max(0.8, _LINE * len(conditions))
    titles = {panel: [*panel[1].split(" / "), panel[2]] for panel in panels}  # a part each, since panels are narrow
    top = _TOP + _TITLE * max(map(len, titles.values()))
    height = lines * (top + axes_height + _FOOT)
    if not page.holds(page.width, height):
        return None
    figure = page.picture(page.width, height)
    for place, panel in enumerate(panels):
        left = _LEFT + place % columns * (axes_width + _GAP)
        low = height - place // columns * (top + axes_height + _FOOT) - top - axes_height
        box = (left / page.width, low / height, axes_width / page.width, axes_height / height)
        axes: Axes = figure.add_axes(box)
        _draw(axes, [row for row in rows if _panel(row) == panel], conditions, page.scale)
        axes.set_title("\n".join(filter(None, titles[panel])), weight="bold", loc="left", parse_math=False)
        axes.set_xlabel(f"share of {next(row['ratio_of'] for row in rows if _panel(row) == panel)}", parse_math=False)
        axes.set_yticks(range(len(conditions)), conditions if place % columns == 0 else [""] * len(conditions))
    return figure


def _draw(axes: "Axes", rows: Sequence[Row], conditions: Sequence[str], scale: float) -> None:
    axes.axvline(1, color=INK, linewidth=0.6 * scale)
    for row in rows:
        y = conditions.index(row["condition"])
        if not isnan(row["ratio_low"]):
            axes.hlines(y, row["ratio_low"], row["ratio_high"], color=HUES[0], linewidth=scale)
        face = "white" if row["documents"] < FEW else HUES[0]
        axes.plot(row["ratio"], y, "o", color=HUES[0], markerfacecolor=face)
    axes.set_ylim(len(conditions) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
