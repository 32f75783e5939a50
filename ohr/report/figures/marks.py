"""Drawing in a set of axes: curves with their bands, clean points, floors and ceilings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ohr.report.figures.panels import Curve, Mark, Panel, bounds
from ohr.report.figures.style import CEILING, CLEAN_MARKER, CLEAN_SIZE, DASHES, FLOOR, GREY, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BOUND, _BAND, _LINE, _MARKER, _CLEAN = 1, 2, 3, 4, 5
"""Layers: the larger number is drawn later, and covers the others."""


def draw_curve(axes: "Axes", curve: Curve, style: Style, opacity: float) -> None:
    """Draw a curve with its intervals as a band, hollow where the documents are few."""
    color, marks = style.color(curve.system), curve.marks
    x, y = [mark.x for mark in marks], [mark.mean for mark in marks]
    axes.plot(x, y, linestyle=DASHES[curve.noise_type], color=color, zorder=_LINE)
    low, high = zip(*(mark.interval for mark in marks), strict=True)
    axes.fill_between(x, low, high, color=color, alpha=opacity, linewidth=0.4 * style.scale, zorder=_BAND)
    if style.joint:
        for ends in zip(*curve.joint, strict=True):
            axes.plot(x, ends, color=color, alpha=0.5, linewidth=0.4 * style.scale, zorder=_BAND)
    for few in sorted({mark.few for mark in marks}):
        _draw_markers(axes, curve, [mark for mark in marks if mark.few == few], style)
    if spread := [mark for mark in marks if mark.least < mark.most]:
        least, most = [mark.least for mark in spread], [mark.most for mark in spread]
        axes.hlines([mark.mean for mark in spread], least, most, color=color, linewidth=0.7 * style.scale, zorder=_LINE)


def draw_whiskers(axes: "Axes", curve: Curve, style: Style) -> None:
    """Draw as lines the intervals that no band shows: those without one beside them."""
    held = [mark.has_interval for mark in curve.marks]
    beside = [any(pair) for pair in zip([False, *held[:-1]], [*held[1:], False], strict=True)]
    alone = [mark for mark, near in zip(curve.marks, beside, strict=True) if mark.has_interval and not near]
    if not alone:
        return
    low, high = [mark.interval[0] for mark in alone], [mark.interval[1] for mark in alone]
    axes.vlines(
        [mark.x for mark in alone],
        low,
        high,
        color=style.color(curve.system),
        linewidth=0.8 * style.scale,
        zorder=_LINE,
    )


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
