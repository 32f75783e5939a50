"""The loss to noise split by stage: an interval for each part of it, a block for each condition and pipeline."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from ohr.report.figures.saving import save
from ohr.report.figures.style import GREY, HUES, INK, Colour
from ohr.results.decomposition import Row, read_headlines
from ohr.statistics.estimate import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, DPI = 7.0, 200
"""Inches, the text width of a two-column page; and dots per inch."""

_PARTS: Mapping[str, tuple[str, Colour, str]] = {
    "total": ("total loss", INK, "D"),
    "index_alone": ("noisy index alone", HUES[0], "o"),
    "gain_of_repairing_index": ("gain of a clean index", HUES[0], ">"),
    "reading_alone": ("noisy reading alone", HUES[1], "s"),
    "gain_of_repairing_reading": ("gain of clean reading", HUES[1], ">"),
    "overlap": ("overlap", GREY, "X"),
}
"""Quantities from the top of a block to its foot: label, colour and marker."""

_METRICS = {"lcs": "LCS", "f1": "F1", "em": "exact match", "f1_numeric": "numeric F1"}
_MOST = 60
"""Blocks of a figure; of more, which no page holds, the table has the rest."""

_LINE, _BETWEEN = 0.09, 0.14  # inches: of one quantity, and between two blocks
_LEFT, _RIGHT, _TOP, _GAP, _FOOT = 2.0, 0.12, 0.3, 0.62, 0.95  # inches: beside, above, between and under axes

Block = tuple[str, Mapping[str, Row]]
"""The label of a condition and pipeline, and its rows by quantity."""


def draw_decomposition(run_folder: Path, folder: Path) -> list[Path]:
    """Draw a run's losses by stage as SVG and PNG; a run without them has no such figure.

    Args:
        run_folder: of the run.
        folder: of its figures.

    Raises:
        DataError: the table of the run cannot be read.
    """
    if rows := read_headlines(run_folder):
        return save(partial(_figure, rows), folder / "decomposition")
    return []


def _figure(rows: Sequence[Row]) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    stages = _blocks(rows)
    heights = [len(blocks) * (_LINE * len(_PARTS) + _BETWEEN) for blocks in stages.values()]
    total = _TOP + sum(heights) + (len(heights) - 1) * _GAP + _FOOT
    figure = Figure(figsize=(WIDTH, total), dpi=DPI)
    FigureCanvasAgg(figure)
    top = total - _TOP
    for ((stage, metric), blocks), height in zip(stages.items(), heights, strict=True):
        place = (_LEFT / WIDTH, (top - height) / total, 1 - (_LEFT + _RIGHT) / WIDTH, height / total)
        axes: Axes = figure.add_axes(place)
        _draw(axes, blocks)
        axes.set_title(stage.capitalize(), weight="bold", loc="left")
        axes.set_xlabel(f"loss of {_METRICS.get(metric, metric)} (points of 100)", parse_math=False)
        top -= height + _GAP
    _add_legend(figure, few=any(row["documents"] < FEW for row in rows))
    return figure


def _blocks(rows: Sequence[Row]) -> dict[tuple[str, str], list[Block]]:
    """Sort rows by stage and metric, then by condition and pipeline."""
    found: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        parts = " / ".join(filter(None, (row[name] for name in ("chunker", "retriever", "generator"))))
        found[row["stage"], row["metric"], row["condition"], parts][row["quantity"]] = row
    stages: dict[tuple[str, str], list[Block]] = defaultdict(list)
    for (stage, metric, condition, parts), quantities in list(found.items())[:_MOST]:
        stages[stage, metric].append((f"{_shortened(condition)}\n{_shortened(parts)}", quantities))
    return stages


def _shortened(name: str, longest: int = 30) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _draw(axes: "Axes", blocks: Sequence[Block]) -> None:
    """Draw the blocks of one stage from the top down; the y axis is in inches."""
    step = _LINE * len(_PARTS) + _BETWEEN
    axes.axvline(0, color=INK, linewidth=0.6)
    for number, (_, rows) in enumerate(blocks):
        for line, (name, (_, colour, marker)) in enumerate(_PARTS.items()):
            y, row = number * step + (line + 0.5) * _LINE + _BETWEEN / 2, rows[name]
            value, low, high = (100 * row[column] for column in ("value", "low", "high"))
            if not isnan(low):
                axes.hlines(y, low, high, color=colour, linewidth=1.0)
            face = "white" if row["documents"] < FEW else colour
            axes.plot(value, y, marker, color=colour, markerfacecolor=face, markersize=3.2)
        if number:
            axes.axhline(number * step, color="0.8", linewidth=0.4)
    middles = [(number + 0.5) * step for number in range(len(blocks))]
    axes.set_yticks(middles, [label for label, _ in blocks], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(len(blocks) * step, 0)


def _add_legend(figure: "Figure", *, few: bool) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=colour, marker=marker, linewidth=1.0, label=label)
        for label, colour, marker in _PARTS.values()
    ]
    if few:
        hollow = f"fewer than {FEW} documents"
        marks.append(Line2D([], [], color=INK, marker="o", markerfacecolor="white", linestyle="none", label=hollow))
    figure.legend(handles=marks, loc="lower center", ncols=3, frameon=False)
