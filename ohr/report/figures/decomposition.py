"""The loss to noise split by stage: an interval for each part of it, a block for each condition and pipeline."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from ohr import extras
from ohr.report.figures.choices import Wanted
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.style import GREY, HUES, INK, Color
from ohr.report.headlines import METRICS
from ohr.report.views.loss_tables import QUANTITIES
from ohr.results.derived.decomposition import Row, read_headlines, varying
from ohr.results.run import Run
from ohr.statistics.estimate import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

_PARTS: Mapping[str, tuple[Color, str]] = {
    "total": (INK, "D"),
    "index_alone": (HUES[0], "o"),
    "gain_of_repairing_index": (HUES[0], ">"),
    "reading_alone": (HUES[1], "s"),
    "gain_of_repairing_reading": (HUES[1], ">"),
    "overlap": (GREY, "v"),
}
"""Quantities from the top of a block to its foot: color and marker."""

_MOST = 60
"""Blocks of a figure; of more, which no page holds, the table has the rest."""

_LINE, _BETWEEN = 0.085, 0.12  # units: of one quantity, and between two blocks
_STEP = _LINE * len(_PARTS) + _BETWEEN
_LEFT, _RIGHT, _TOP, _GAP, _FOOT = 1.6, 0.12, 0.42, 0.15, 0.95  # units: beside, above, between and under axes
_NARROWEST = 1.5  # units of axes: a figure with more columns is wider

Column = tuple[str, str, str]
"""Stage, metric and generator."""
Block = tuple[str, str]
"""Condition, and the pipeline that searches."""
Quantities = Mapping[tuple[Block, Column], Mapping[str, Row]]
"""The rows of a block in a column, by quantity."""


def decomposition(run: Run, wanted: Wanted) -> "Picture":
    """Draw a run's losses by stage.

    Raises:
        NothingToDraw: the run has none, or none of the metric.
        DataError: the table of the run cannot be read.
        SpecError: there are more than a slide holds.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    from ohr.report.figures.picture import drawn

    if not (rows := read_headlines(run, wanted.metric, own=False)):
        of = f" of {wanted.metric}" if wanted.metric else ""
        raise NothingToDraw(
            f"{run.folder}: nothing to draw: no losses{of} by stage; ask for them with `decompose: true`"
        )
    return drawn(partial(_figure, rows), wanted)


def _figure(rows: Sequence[Row], page: "Page") -> "Picture | None":
    found = _blocks(rows)
    blocks = list(dict.fromkeys(block for block, _ in found))[:_MOST]
    columns = list(dict.fromkeys(column for _, column in found))
    axes_width = max(_NARROWEST, (page.width - _LEFT - _RIGHT + _GAP) / len(columns) - _GAP)
    width, height = _LEFT + len(columns) * (axes_width + _GAP) - _GAP + _RIGHT, len(blocks) * _STEP
    if not page.holds(width, _TOP + height + _FOOT):
        return None
    height = height if page.height is None else page.height - _TOP - _FOOT
    total = _TOP + height + _FOOT
    figure = page.picture(width, total)
    for place, (stage, metric, generator) in enumerate(columns):
        left = _LEFT + place * (axes_width + _GAP)
        axes: Axes = figure.add_axes((left / width, _FOOT / total, axes_width / width, height / total))
        held = {block: found[block, column] for block, column in found if column == columns[place]}
        _draw(axes, blocks, held, page.scale)
        title = "\n".join(filter(None, (stage.capitalize(), _shortened(generator, 22))))
        axes.set_title(title, weight="bold", loc="left", parse_math=False)
        axes.set_xlabel(f"loss of {METRICS.get(metric, metric)} (points)", parse_math=False)
        axes.set_yticklabels(
            ["\n".join(map(_shortened, block)) if not place else "" for block in blocks], parse_math=False
        )
    _add_legend(figure, page, few=any(row["documents"] < FEW for row in rows))
    return figure


def _blocks(rows: Sequence[Row]) -> Quantities:
    found: dict[tuple[Block, Column], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        block = (
            row["condition"],
            " / ".join(filter(None, (row[part] for part in varying(rows, "chunker", "retriever")))),
        )
        found[block, (row["stage"], row["metric"], row["generator"] or "")][row["quantity"]] = row
    return found


def _shortened(name: str, longest: int = 24) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _draw(axes: "Axes", blocks: Sequence[Block], quantities: Mapping[Block, Mapping[str, Row]], scale: float) -> None:
    """Draw a column's blocks from the top down; the y axis is in units."""
    axes.axvline(0, color=INK, linewidth=0.6 * scale)
    for number, block in enumerate(blocks):
        for line, (name, (color, marker)) in enumerate(_PARTS.items()):
            if (row := quantities.get(block, {}).get(name)) is None:
                continue
            y = number * _STEP + (line + 0.5) * _LINE + _BETWEEN / 2
            value, low, high = (100 * row[column] for column in ("value", "low", "high"))
            if not isnan(low):
                axes.hlines(y, low, high, color=color, linewidth=scale)
            face = "white" if row["documents"] < FEW else color
            axes.plot(value, y, marker, color=color, markerfacecolor=face, markersize=3.2 * scale)
        if number:
            axes.axhline(number * _STEP, color="0.8", linewidth=0.4 * scale)
    axes.set_yticks([(number + 0.5) * _STEP for number in range(len(blocks))])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(len(blocks) * _STEP, 0)


def _add_legend(figure: "Picture", page: "Page", *, few: bool) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=color, marker=marker, linewidth=page.scale, label=QUANTITIES[name])
        for name, (color, marker) in _PARTS.items()
    ]
    if few:
        hollow = f"fewer than {FEW} documents"
        marks.append(Line2D([], [], color=INK, marker="o", markerfacecolor="white", linestyle="none", label=hollow))
    figure.legend(handles=marks, loc="lower center", ncols=3, frameon=False)
