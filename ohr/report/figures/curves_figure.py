"""Performance against noise, after the paper's Fig. 3: a row a stage, a column an evidence source; turned on slides."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan
from typing import TYPE_CHECKING, Any

from ohr.errors import SpecError
from ohr.report.figures.choices import Wanted, drawn_as
from ohr.report.figures.panels import (
    COLUMNS,
    GROUP_NAMES,
    METRIC_NAMES,
    ROWS,
    Axis,
    Curve,
    Mark,
    Panel,
    bounds,
    counts,
    read_conditions,
    read_panels,
)
from ohr.report.figures.style import (
    CEILING,
    CLEAN_MARKER,
    CLEAN_SIZE,
    DASHES,
    FLOOR,
    GREY,
    Style,
    add_legend,
    plain,
    shortened,
    style_of,
)
from ohr.results.run import Run
from ohr.results.tables.groups import ALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

_BOUND, _BAND, _CURVE, _MARKER, _CLEAN = 1, 2, 3, 4, 5
"""Layers: the larger number is drawn later, and covers the others."""


def draw_curve(axes: "Axes", curve: Curve, style: Style, opacity: float) -> None:
    """Draw a curve with its intervals as a band, hollow where the documents are few."""
    color, marks = style.color(curve.system), curve.marks
    x, y = [mark.x for mark in marks], [mark.mean for mark in marks]
    axes.plot(x, y, linestyle=DASHES[curve.noise_type], color=color, zorder=_CURVE)
    low, high = zip(*(mark.interval for mark in marks), strict=True)
    axes.fill_between(x, low, high, color=color, alpha=opacity, linewidth=0.4 * style.scale, zorder=_BAND)
    if style.joint:
        for ends in zip(*curve.joint, strict=True):
            axes.plot(x, ends, color=color, alpha=0.5, linewidth=0.4 * style.scale, zorder=_BAND)
    for few in sorted({mark.few for mark in marks}):
        _draw_markers(axes, curve, [mark for mark in marks if mark.few == few], style)
    if spread := [mark for mark in marks if mark.least < mark.most]:
        least, most = [mark.least for mark in spread], [mark.most for mark in spread]
        axes.hlines(
            [mark.mean for mark in spread], least, most, color=color, linewidth=0.7 * style.scale, zorder=_CURVE
        )


def draw_whiskers(axes: "Axes", curve: Curve, style: Style) -> None:
    """Draw as lines the intervals that no band shows: those without one beside them."""
    held = [mark.has_interval for mark in curve.marks]
    beside = [any(pair) for pair in zip([False, *held[:-1]], [*held[1:], False], strict=True)]
    alone = [mark for mark, near in zip(curve.marks, beside, strict=True) if mark.has_interval and not near]
    if not alone:
        return
    x, low, high = zip(*((mark.x, *mark.interval) for mark in alone), strict=True)
    axes.vlines(x, low, high, color=style.color(curve.system), linewidth=0.8 * style.scale, zorder=_CURVE)


def _draw_markers(axes: "Axes", curve: Curve, marks: Sequence[Mark], style: Style) -> None:
    color, clean = style.color(curve.system), curve.noise_type == "none"
    axes.plot(
        [mark.x for mark in marks],
        [mark.mean for mark in marks],
        linestyle="none",
        marker=CLEAN_MARKER if clean else style.markers[curve.noise],
        markersize=CLEAN_SIZE * style.scale if clean else None,
        markerfacecolor="white" if any(mark.few for mark in marks) else color,
        markeredgecolor=color,
        markeredgewidth=0.6 * style.scale if clean else None,
        zorder=_CLEAN if clean else _MARKER,  # the clean point covers the starts of its curves
    )


def draw_bounds(axes: "Axes", panel: Panel, style: Style) -> None:
    """Draw each floor and ceiling once: in grey, or in its system's color where systems differ."""
    for bound in (*bounds(panel, "floor"), *bounds(panel, "ceiling")):
        color = style.color(bound.system) if bound.system else GREY
        dash = FLOOR if bound.which == "floor" else CEILING
        if bound.x:
            axes.plot(bound.x, bound.y, linestyle=dash, color=color, linewidth=0.9 * style.scale, zorder=_BOUND)
        else:
            axes.axhline(bound.y[0], linestyle=dash, color=color, linewidth=0.9 * style.scale, zorder=_BOUND)


_AXIS_NAMES: dict[Axis, tuple[str, str]] = {
    "r_noise": (r"$r_\mathrm{noise}$ of the knowledge base", " (share of all questions whose evidence is damaged)"),
    "evidence_loss": ("Evidence loss $L$", " (mean share of a question's evidence words that is lost)"),
    "condition": ("Knowledge base", ""),
}
"""Names of axes, and what is added where there is room."""

_LEFT, _RIGHT, _TOP, _BELOW, _GAP = 0.62, 0.08, 0.36, 0.5, 0.27  # units: room beside, above, under and between axes
_BESIDE = 0.1  # of the axes' width: between columns that share their y axis
_OWN = 0.3  # units: between columns with y axes of their own
_NARROWEST, _LOWEST, _HIGHEST = 0.9, 0.7, 1.8  # units: of axes
_WORDY = 1.35  # units: axes with room for "n = 35 questions, 7 docs"
_UPRIGHT = 0.62
"""Units: further room under axes whose conditions are written upright, as there are too many side by side."""
_ROOM = 0.5  # units: room of a condition's name that is written across
_FEW = 2  # panels with more noises and systems than this have no joint bands, which would hide each other


@dataclass(frozen=True, slots=True)
class _Grid:
    """Which panel is where.

    Args:
        stages: rows, or on a slide columns.
        groups: columns, or on a slide rows.
    """

    panels: Sequence[Panel]
    stages: Sequence[str]
    groups: Sequence[str]
    turned: bool

    @property
    def shape(self) -> tuple[int, int]:
        shape = len(self.stages), len(self.groups)
        return shape[::-1] if self.turned else shape

    def place(self, stage: str, group: str) -> tuple[int, int]:
        place = self.stages.index(stage), self.groups.index(group)
        return place[::-1] if self.turned else place

    def of(self, stage: str) -> list[Panel]:
        return [panel for panel in self.panels if panel.stage == stage]

    def metric(self, stage: str) -> str:
        """Return the metric that a stage shows, with its unit."""
        return f"{METRIC_NAMES.get(self.of(stage)[0].metric, plain(self.of(stage)[0].metric))} (%)"


def performance(run: Run, axis: Axis, wanted: Wanted) -> "Picture":
    """Draw the curves of a run.

    Raises: as `draw`; NothingToDraw where no score has a dose of that kind.
    """
    panels = read_panels(run, axis, wanted.metric, wanted.groups)
    stages = [stage for stage in ROWS if any(panel.stage == stage for panel in panels)]
    groups = [group for group in COLUMNS if any(panel.group == group for panel in panels)]
    grid = _Grid(panels, stages, groups, turned=wanted.style == "slides")
    most = max(sum(curve.has_joint for curve in panel.curves) for panel in panels)
    joint = most > 0 and (most <= _FEW if wanted.joint is None else wanted.joint)
    return drawn_as(wanted, _figure, grid, axis, list(read_conditions(run).values()), joint)


def _figure(grid: _Grid, axis: Axis, conditions: Sequence[str], joint: bool, page: "Page") -> "Picture | None":
    style = style_of(grid.panels, page.scale, joint=joint)
    figure = page.picture(page.width, page.height or page.width)
    legend = add_legend(figure, grid.panels, style)
    if not _arrange(figure, grid, page, legend, axis, conditions):
        return None
    axes = figure.subplots(*grid.shape, sharex=True, sharey="col" if grid.turned else "row", squeeze=False)
    _fit_axes(axes[0, 0], grid, axis, conditions, page)
    for stage in grid.stages:
        held = {panel.group: panel for panel in grid.of(stage)}
        for group in grid.groups:
            place = grid.place(stage, group)
            if group == grid.groups[0]:  # limits come first: else each line scales all axes that share them again
                axes[place].set_ylim(*_limits(list(held.values()), joint=joint))
            if group in held:
                _draw_panel(axes[place], held[group], style, page)
            else:
                axes[place].text(0.5, 0.5, "no score", ha="center", va="center", transform=axes[place].transAxes)
            _name_panel(axes[place], grid, stage, group, page)
    return figure


def _name_panel(axes: "Axes", grid: _Grid, stage: str, group: str, page: "Page") -> None:
    row, column = grid.place(stage, group)
    above = f"{stage.capitalize()}: {grid.metric(stage)}" if grid.turned else GROUP_NAMES[group]
    beside = GROUP_NAMES[group] if grid.turned else f"{stage.capitalize()}\n{grid.metric(stage)}"
    if row == 0:
        _write_above(axes, 0.5, 0.18 * page.scale, above, ha="center", weight="bold")
    if column == 0 and not (grid.turned and list(grid.groups) == [ALL]):
        axes.set_ylabel(beside, weight="bold" if grid.turned else "normal")


def _fit_axes(axes: "Axes", grid: _Grid, axis: Axis, conditions: Sequence[str], page: "Page") -> None:
    from matplotlib.ticker import MaxNLocator

    if axis == "condition":
        axes.set_xlim(-0.5, len(conditions) - 0.5)
        names = [plain(shortened(name, 14)) for name in conditions]
        upright = _is_upright(grid, page, conditions)
        for bottom in axes.figure.axes[-grid.shape[1] :]:
            bottom.set_xticks(range(len(conditions)), names, rotation=90 if upright else 12)
        return
    most = max(mark.most for panel in grid.panels for mark in panel.marks) or 1
    axes.set_xlim(-0.04 * most, 1.05 * most)
    width = axes.get_position().width * page.width
    axes.xaxis.set_major_locator(MaxNLocator(5 if width >= _WORDY else 3, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter("{x:g}")


def _is_upright(grid: _Grid, page: "Page", conditions: Sequence[str]) -> bool:
    return (page.width - _LEFT - _RIGHT) / grid.shape[1] < _ROOM * len(conditions)


def _draw_panel(axes: "Axes", panel: Panel, style: Style, page: "Page") -> None:
    short = axes.get_position().width * page.width < _WORDY
    count = counts([mark.point for mark in panel.marks], short=short)
    _write_above(axes, 1.0, 0.035 * page.scale, count, ha="right", size=6.5 * page.scale, color="0.35")
    draw_bounds(axes, panel, style)
    opacity = max(0.04, 0.16 / max(len(panel.curves) / 3, 1))
    begun = {curve.system for curve in panel.curves if curve.noise_type == "formatting" and len(curve.marks) > 1}
    for curve in panel.curves:
        draw_curve(axes, curve, style, opacity)
        if curve.noise_type != "none" or curve.system not in begun:  # else the band of another curve begins there
            draw_whiskers(axes, curve, style)


def _write_above(axes: "Axes", x: float, inches: float, text: str, **look: Any) -> None:
    axes.annotate(text, (x, 1), (0, 72 * inches), xycoords="axes fraction", textcoords="offset points", **look)


def _limits(panels: Sequence[Panel], *, joint: bool = False) -> tuple[float, float]:
    """Reach from zero to the highest mean, ceiling and end of an interval, in steps of 10."""
    marks = [mark for panel in panels for mark in panel.marks]
    values = [value for mark in marks for value in (mark.mean, mark.bound("ceiling"), *mark.interval)]
    if joint:
        values += [end for panel in panels for curve in panel.curves for ends in curve.joint for end in ends]
    known = [value for value in values if not isnan(value)]
    low, top = min(0, 10 * floor(min(known) / 10)), 10 * ceil(round(max(known), 6) / 10) or 10
    return low - 0.03 * (top - low), top + 0.03 * (top - low)


def _arrange(
    figure: "Picture", grid: _Grid, page: "Page", legend: float, axis: Axis, conditions: Sequence[str]
) -> bool:
    """Size the axes by the unit, so that print size does not depend on how many there are.

    Returns:
        Whether the page has room for them.

    Raises:
        SpecError: a page of paper is too narrow.
    """
    rows, columns = grid.shape
    between = _BESIDE if not grid.turned else _OWN * columns / (page.width - _LEFT - _RIGHT)
    width = (page.width - _LEFT - _RIGHT) / (columns + between * (columns - 1))
    below = _BELOW + _UPRIGHT * (axis == "condition" and _is_upright(grid, page, conditions))
    rest = _TOP + (rows - 1) * _GAP + legend + below
    height = min(0.85 * width, _HIGHEST) if page.height is None else (page.height - rest) / rows
    if width < _NARROWEST and page.height is None:
        raise SpecError(f"{page.width:g} inches are too narrow for {columns} columns: choose fewer of them")
    if width < _NARROWEST or height < min(_LOWEST, 0.5 * width):
        return False
    total = rest + rows * height
    figure.set_size_inches(page.width * page.scale, total * page.scale)
    figure.subplots_adjust(
        left=_LEFT / page.width,
        right=1 - _RIGHT / page.width,
        top=1 - _TOP / total,
        bottom=(legend + below) / total,
        hspace=_GAP / height,
        wspace=between,
    )
    name = "".join(_AXIS_NAMES[axis][: 2 if page.width >= 6 else 1])
    middle = (_LEFT + page.width - _RIGHT) / 2 / page.width
    figure.text(middle, (legend + 0.16) / total, name, ha="center")
    return True
