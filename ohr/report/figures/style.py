"""How figures look, also in print and to color-blind readers: colors, dashes, markers, and the legend."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from math import isnan
from typing import TYPE_CHECKING, Any

from ohr.report.figures.panels import Curve, Panel, System
from ohr.statistics.estimate import FEW, NO_INTERVAL

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

Color = tuple[float, float, float]

HUES: tuple[Color, ...] = (
    (0.000, 0.447, 0.698),
    (0.835, 0.369, 0.000),
    (0.000, 0.620, 0.451),
    (0.800, 0.475, 0.655),
    (0.902, 0.624, 0.000),
    (0.337, 0.706, 0.914),
)
"""Okabe and Ito's palette without its yellow, which is lost on white."""
INK: Color = (0.15, 0.15, 0.15)
"""Of systems without a retriever."""
GREY: Color = (0.5, 0.5, 0.5)
"""Of floors and ceilings."""

MARKERS = "os^DvPX<>ph8"
CLEAN_MARKER = "*"
CLEAN_SIZE = 7.5
DASHES = {"formatting": "-", "semantic": (0, (3.2, 1.6)), "none": "none"}
FLOOR = (0, (1, 1.4))
CEILING = (0, (5, 1.5, 1, 1.5))

_PALEST = 0.6  # share of white in the last generator's tone

_FIXED: dict[str, object] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters, and the same bytes, everywhere
    "grid.color": "0.9",
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,  # embeds fonts as TrueType: many publishers refuse Type 3
    "svg.fonttype": "path",
    "svg.hashsalt": "ohr",
    "text.hinting": "no_hinting",  # widths do not depend on the resolution
}
_POINTS: dict[str, float] = {
    "axes.labelpad": 4,
    "axes.labelsize": 8,
    "axes.linewidth": 0.5,
    "axes.titlepad": 6,
    "axes.titlesize": 8,
    "font.size": 8,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.title_fontsize": 7.5,
    "lines.linewidth": 1.1,
    "lines.markeredgewidth": 0.8,
    "lines.markersize": 3.6,
    "patch.linewidth": 0.5,
    "xtick.labelsize": 7,
    "xtick.major.pad": 3.5,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.5,
    "ytick.labelsize": 7,
    "ytick.major.pad": 3.5,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.5,
}
"""Sizes of type and lines on paper."""


def settings(scale: float = 1.0) -> dict[str, object]:
    """Return matplotlib's settings, with type and lines of `scale` times their size on paper."""
    return {**_FIXED, **{name: scale * points for name, points in _POINTS.items()}}


@dataclass(frozen=True, slots=True)
class Style:
    """Look of a figure's curves: a hue for each retriever, a tone for each generator, a marker for each noise.

    Args:
        scale: sizes, in those on paper.
        joint: bands that hold at all levels together are drawn.
        agents: some of the retrievers are agents.
    """

    hues: dict[str, Color]
    tones: dict[str, float]
    markers: dict[str, str]
    noise_types: dict[str, str]
    scale: float = 1.0
    joint: bool = False
    agents: bool = False

    def color(self, system: System) -> Color:
        """Return the color of a system: its retriever's, the paler the later its generator."""
        return paler(self.hues.get(system.search, INK), self.tones.get(system.generator, 0.0))

    @property
    def noises(self) -> list[str]:
        """The noises that have a curve, formatting first, as in the run's spec."""
        return sorted(self.markers, key=lambda noise: self.noise_types[noise] != "formatting")


def style_of(panels: Iterable[Panel], scale: float = 1.0, *, joint: bool = False) -> Style:
    """Assign hues, tones and markers in order of first appearance."""
    curves: list[Curve] = list(chain.from_iterable(panel.curves for panel in panels))
    searches = dict.fromkeys(curve.system.search for curve in curves if curve.system.search)
    generators = dict.fromkeys(curve.system.generator for curve in curves if curve.system.generator)
    tones = [min(0.45, _PALEST / max(len(generators) - 1, 1)) * place for place in range(len(generators))]
    types = {curve.noise: curve.noise_type for curve in curves}
    noises = [noise for noise, noise_type in types.items() if noise_type != "none"]
    return Style(
        hues=dict(zip(searches, cycle(HUES))),
        tones=dict(zip(generators, tones, strict=True)),
        markers=dict(zip(noises, cycle(MARKERS))),
        noise_types=types,
        scale=scale,
        joint=joint,
        agents=any(curve.system.is_agent for curve in curves),
    )


def paler(color: Color, white: float) -> Color:
    """Mix a color with a share of white."""
    red, green, blue = (part + (1 - part) * white for part in color)
    return red, green, blue


_MARGIN, _BETWEEN, _WIDEST = 0.06, 0.14, 0.5  # inches: around the legend, and at least and at most between its blocks
_LONGEST = 48  # characters of the longest name


@dataclass(frozen=True, slots=True)
class Block:
    """Entries under a title; more than `rows` of them get another column."""

    title: str
    entries: Sequence[tuple["Artist", str]]
    rows: int = 4


def add_legend(figure: "Figure", panels: Sequence[Panel], style: Style) -> float:
    """Add the legend at the foot of a figure and return its height in units of the style's scale."""
    noises = []
    for noise in style.noises:
        kind = style.noise_types[noise]
        mark = line(linestyle=DASHES[kind], marker=style.markers[noise], color=INK)
        noises.append((mark, noise if noise == kind else f"{noise} ({kind})"))
    wide = 3 * style.scale
    searches = [(line(color=hue, linewidth=wide), name) for name, hue in style.hues.items()]
    generators = [(line(color=paler(INK, tone), linewidth=wide), name) for name, tone in style.tones.items()]
    blocks = [
        Block("Noise", noises),
        Block("Retriever, agent or system [looks at]" if style.agents else "Retriever", searches),
        Block("Generator" if len(style.tones) < 2 or not style.hues else "Generator (tone)", generators),
        _references(panels, style),
    ]
    return place_blocks(figure, [block for block in blocks if block.entries], style.scale)


def _references(panels: Iterable[Panel], style: Style) -> Block:
    from matplotlib.patches import Patch

    marks = [mark for panel in panels for mark in panel.marks]
    intervals = [mark.has_interval for mark in marks]
    clean = any(curve.noise_type == "none" for panel in panels for curve in panel.curves)
    band = line(color=INK, alpha=0.5, linewidth=0.4 * style.scale)
    spread, spread_mark = any(mark.least < mark.most for mark in marks), line(color=INK, linewidth=0.7 * style.scale)
    possible = [
        (clean, clean_mark(style.scale), "clean ground truth"),
        (any(not isnan(mark.bound("ceiling")) for mark in marks), line(linestyle=CEILING, color=GREY), "ceiling"),
        (any(not isnan(mark.bound("floor")) for mark in marks), line(linestyle=FLOOR, color=GREY), "floor"),
        (any(intervals), Patch(color=paler(INK, 0.8), linewidth=0), "95% interval, each alone"),
        (style.joint, band, "95% band of all levels together"),
        (spread, spread_mark, "range of the replicates' noise"),
        (any(mark.few for mark in marks), hollow_mark(), few_documents(all(intervals))),
    ]
    return Block("Reference", [(mark, label) for there, mark, label in possible if there], rows=2)


def few_documents(intervals: bool) -> str:
    """Explain a hollow mark, where all marks have intervals or some have none."""
    return f"fewer than {FEW} documents" + ("" if intervals else f" (no interval below {NO_INTERVAL})")


def shortened(name: str, longest: int = 26) -> str:
    """Cut a name to the room that there is."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def line(**look: Any) -> "Line2D":
    """Return a line, or a mark, for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def clean_mark(scale: float) -> "Line2D":
    """Return the mark of clean text, for a legend."""
    return line(marker=CLEAN_MARKER, markersize=CLEAN_SIZE * scale, linestyle="none", color=INK)


def hollow_mark(**look: Any) -> "Line2D":
    """Return the mark of few documents, for a legend."""
    return line(marker="o", markerfacecolor="white", linestyle="none", color=INK, **look)


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


def place_blocks(figure: "Figure", blocks: Sequence[Block], scale: float) -> float:
    """Add blocks at the foot of a figure, as words in a paragraph; returns their height in units of the scale."""
    room = _room(figure, scale)
    lines: list[list[Legend]] = [[]]
    for legend in [_legend(figure, block, scale) for block in blocks]:
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
