"""What stands in a set of axes: curves with their bands, clean points, floors and ceilings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ohr.report.figures.data import Curve, Panel, Point, bounds
from ohr.report.figures.style import CEILING, CLEAN_MARKER, CLEAN_SIZE, DASHES, FLOOR, GREY, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BOUND, _BAND, _LINE, _MARKER, _CLEAN = 1, 2, 3, 4, 5
"""What lies above what."""


def draw_curve(axes: "Axes", curve: Curve, style: Style, opacity: float) -> None:
    """Draw a curve with its intervals as a band, hollow where the documents are few."""
    colour, points = style.colour(curve.system), curve.points
    x, y = [point.x for point in points], [point.mean for point in points]
    axes.plot(x, y, linestyle=DASHES[curve.noise_type], color=colour, zorder=_LINE)
    low, high = [point.low for point in points], [point.high for point in points]
    axes.fill_between(x, low, high, color=colour, alpha=opacity, linewidth=0.4, zorder=_BAND)
    for few in (False, True):
        _draw_markers(axes, curve, [point for point in points if point.few == few], style)
    spread = [point for point in points if point.least < point.most]
    least, most = [point.least for point in spread], [point.most for point in spread]
    axes.hlines([point.mean for point in spread], least, most, color=colour, linewidth=0.7, zorder=_LINE)


def draw_whiskers(axes: "Axes", curve: Curve, style: Style) -> None:
    """Draw as lines the intervals that no band shows: those without one beside them."""
    held = [point.has_interval for point in curve.points]
    beside = [any(pair) for pair in zip([False, *held[:-1]], [*held[1:], False], strict=True)]
    alone = [point for point, near in zip(curve.points, beside, strict=True) if point.has_interval and not near]
    low, high = [point.low for point in alone], [point.high for point in alone]
    axes.vlines([point.x for point in alone], low, high, color=style.colour(curve.system), linewidth=0.8, zorder=_LINE)


def _draw_markers(axes: "Axes", curve: Curve, points: Sequence[Point], style: Style) -> None:
    colour, clean = style.colour(curve.system), curve.noise_type == "none"
    axes.plot(
        [point.x for point in points],
        [point.mean for point in points],
        linestyle="none",
        marker=CLEAN_MARKER if clean else style.markers[curve.noise],
        markersize=CLEAN_SIZE if clean else None,
        markerfacecolor="white" if any(point.few for point in points) else colour,
        markeredgecolor=colour,
        markeredgewidth=0.6 if clean else None,
        zorder=_CLEAN if clean else _MARKER,  # the clean point lies over the starts of its curves
    )


def draw_bounds(axes: "Axes", panel: Panel, style: Style) -> None:
    """Draw each floor and ceiling once: in grey, or in its system's colour where systems differ."""
    for bound in (*bounds(panel, "floor"), *bounds(panel, "ceiling")):
        colour = style.colour(bound.system) if bound.system else GREY
        dash = FLOOR if bound.which == "floor" else CEILING
        if bound.x:
            axes.plot(bound.x, bound.y, linestyle=dash, color=colour, linewidth=0.9, zorder=_BOUND)
        else:
            axes.axhline(bound.y[0], linestyle=dash, color=colour, linewidth=0.9, zorder=_BOUND)
