"""How figures look: colors, dashes and markers that stay apart in print and for color-blind readers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, cycle

from ohr.report.figures.panels import Curve, Panel, System

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

_PALEST = 0.6
"""Share of white in the last generator's tone."""

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
    searches = _distinct(curve.system.search for curve in curves)
    generators = _distinct(curve.system.generator for curve in curves)
    types = {curve.noise: curve.noise_type for curve in curves}
    noises = [noise for noise, noise_type in types.items() if noise_type != "none"]
    return Style(
        hues=dict(zip(searches, cycle(HUES))),
        tones=dict(zip(generators, _tones(len(generators)), strict=True)),
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


def _tones(count: int) -> Sequence[float]:
    return [min(0.45, _PALEST / max(count - 1, 1)) * place for place in range(count)]


def _distinct(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name]
