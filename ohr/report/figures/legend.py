"""The legend: blocks below the axes, side by side as far as they fit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from ohr.report.figures.panels import Panel
from ohr.report.figures.style import CEILING, CLEAN_MARKER, CLEAN_SIZE, DASHES, FLOOR, GREY, INK, Style, paler
from ohr.statistics.estimate import FEW, NO_INTERVAL

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

_MARGIN, _BETWEEN, _WIDEST = 0.06, 0.14, 0.5  # inches: around the legend, and at least and at most between its blocks
_LONGEST = 48
"""Characters of the longest name."""


@dataclass(frozen=True, slots=True)
class Block:
    """Entries under a title; more than `rows` of them get another column."""

    title: str
    entries: Sequence[tuple["Artist", str]]
    rows: int = 4


def add_legend(figure: "Figure", panels: Sequence[Panel], style: Style) -> float:
    """Add the legend at the foot of a figure and return its height in units of the style's scale."""
    blocks = [_noises(style), _searches(style), _generators(style), _references(panels, style)]
    return place_blocks(figure, [block for block in blocks if block.entries], style.scale)


def place_blocks(figure: "Figure", blocks: Sequence[Block], scale: float) -> float:
    """Add blocks at the foot of a figure and return their height in units of the scale."""
    return _place(figure, [_legend(figure, block, scale) for block in blocks], scale)


def _noises(style: Style) -> Block:
    entries = []
    for noise in style.noises:
        kind = style.noise_types[noise]
        mark = line(linestyle=DASHES[kind], marker=style.markers[noise], color=INK)
        entries.append((mark, noise if noise == kind else f"{noise} ({kind})"))
    return Block("Noise", entries)


def _searches(style: Style) -> Block:
    title = "Retriever, agent or system [looks at]" if style.agents else "Retriever"
    return Block(title, [(line(color=hue, linewidth=3 * style.scale), name) for name, hue in style.hues.items()])


def _generators(style: Style) -> Block:
    title = "Generator" if len(style.tones) < 2 or not style.hues else "Generator (tone)"
    return Block(
        title, [(line(color=paler(INK, tone), linewidth=3 * style.scale), name) for name, tone in style.tones.items()]
    )


def _references(panels: Iterable[Panel], style: Style) -> Block:
    from matplotlib.patches import Patch

    marks = [mark for panel in panels for mark in panel.marks]
    few = few_documents(all(mark.has_interval for mark in marks))
    clean = any(curve.noise_type == "none" for panel in panels for curve in panel.curves)
    possible = [
        (
            clean,
            line(marker=CLEAN_MARKER, markersize=CLEAN_SIZE * style.scale, linestyle="none", color=INK),
            "clean ground truth",
        ),
        (any(not isnan(mark.bound("ceiling")) for mark in marks), line(linestyle=CEILING, color=GREY), "ceiling"),
        (any(not isnan(mark.bound("floor")) for mark in marks), line(linestyle=FLOOR, color=GREY), "floor"),
        (
            any(mark.has_interval for mark in marks),
            Patch(color=paler(INK, 0.8), linewidth=0),
            "95% interval, each alone",
        ),
        (
            style.joint,
            line(color=INK, alpha=0.5, linewidth=0.4 * style.scale),
            "95% band of all levels together",
        ),
        (
            any(mark.least < mark.most for mark in marks),
            line(color=INK, linewidth=0.7 * style.scale),
            "range of the replicates' noise",
        ),
        (any(mark.few for mark in marks), line(marker="o", markerfacecolor="white", linestyle="none", color=INK), few),
    ]
    return Block("Reference", [(mark, label) for there, mark, label in possible if there], rows=2)


def few_documents(intervals: bool) -> str:
    """Explain a hollow mark.

    Args:
        intervals: all marks have one.
    """
    return f"fewer than {FEW} documents" + ("" if intervals else f" (no interval below {NO_INTERVAL})")


def line(**look: Any) -> "Line2D":
    """Return a line, or a mark, for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def _legend(figure: "Figure", block: Block, scale: float) -> "Legend":
    """Make a block's legend, with as many columns as it wants and the page allows."""
    columns = -(-len(block.entries) // block.rows)
    legend = _with_columns(figure, block, columns)
    while columns > 1 and _width(legend, scale) > _room(figure, scale):
        legend.remove()
        columns -= 1
        legend = _with_columns(figure, block, columns)
    return legend


def _with_columns(figure: "Figure", block: Block, columns: int) -> "Legend":
    legend = figure.legend(
        [mark for mark, _ in block.entries],
        [plain(label) for _, label in block.entries],
        title=block.title,
        loc="lower left",
        ncols=columns,
        alignment="left",
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        handlelength=2.7,
        labelspacing=0.3,
        columnspacing=1.2,
    )
    legend.get_title().set_fontweight("bold")
    return legend


def plain(label: str) -> str:
    """Shorten a name in its middle, and keep matplotlib from reading it as mathematics or as no label at all."""
    if len(label) > _LONGEST:
        label = f"{label[: _LONGEST // 2]}…{label[-_LONGEST // 2 :]}"
    return label.replace("$", r"\$").replace("_", "\u200b_", label.startswith("_"))


def _place(figure: "Figure", legends: Sequence["Legend"], scale: float) -> float:
    """Set legends as words in a paragraph, line by line from the top left; returns their height."""
    room = _room(figure, scale)
    lines: list[list[Legend]] = [[]]
    for legend in legends:
        if lines[-1] and sum(_width(other, scale) + _BETWEEN for other in lines[-1]) + _width(legend, scale) > room:
            lines.append([])
        lines[-1].append(legend)
    top = _MARGIN
    for row in reversed(lines):
        top += max(legend.get_window_extent().height / figure.dpi / scale for legend in row)
        spare = (room - sum(_width(legend, scale) for legend in row)) / max(len(row) - 1, 1)
        left = _MARGIN
        for legend in row:
            legend.set_loc("upper left")
            legend.set_bbox_to_anchor((scale * left, scale * top), figure.dpi_scale_trans)
            left += _width(legend, scale) + min(spare, _WIDEST)
        top += _BETWEEN
    return top - _BETWEEN


def _width(legend: "Legend", scale: float) -> float:
    return float(legend.get_window_extent().width / legend.figure.dpi / scale)


def _room(figure: "Figure", scale: float) -> float:
    return figure.get_figwidth() / scale - 2 * _MARGIN
