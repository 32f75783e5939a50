"""The survival of facts from the page to the answer: a line for each condition, a panel for each pipeline."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from ohr import extras
from ohr.report.figures.choices import Wanted
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.style import CLEAN_MARKER, HUES, INK, MARKERS, Color
from ohr.results.derived.survival import STEPS, pipelines, read_survival
from ohr.results.run import Run
from ohr.statistics.estimate import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

Row = Mapping[str, Any]
Look = tuple[Color, str, Literal["-", "--", ":"]]
"""Color, marker and line of a condition."""

_LEFT, _RIGHT, _TOP, _GAP, _FOOT, _HEIGHT = 0.55, 0.12, 0.42, 0.2, 0.55, 2.1  # units
_LINE = 0.16  # units: of one line of the legend
_LINES: tuple[Literal["-", "--", ":"], ...] = ("-", "--", ":")
"""Lines of conditions that share a color."""
_MOST = 12
"""Panels of a figure; the table has the rest."""


def survival(run: Run, wanted: Wanted) -> "Picture":
    """Draw the share of facts that is left after each step.

    Raises:
        NothingToDraw: the run's questions have no facts.
        DataError: the table of the run cannot be read.
        SpecError: there are more panels than a slide holds.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    from ohr.report.figures.picture import drawn

    if not (rows := read_survival(run)):
        raise NothingToDraw(f"{run.folder}: nothing to draw: its questions have no facts")
    return drawn(partial(_figure, rows), wanted)


def _figure(rows: Sequence[Row], page: "Page") -> "Picture | None":
    found = list(pipelines(rows).items())[:_MOST]
    conditions, looks = list(dict.fromkeys(row["condition"] for row in rows)), _looks(rows)
    columns = min(len(found), max(1, int((page.width - _LEFT - _RIGHT + _GAP) / (2.2 + _GAP))))
    lines = -(-len(found) // columns)
    axes_width = (page.width - _LEFT - _RIGHT - (columns - 1) * _GAP) / columns
    axes_width = min(axes_width, 4.5)
    legend = _LINE * -(-len(conditions) // 3) + 0.1
    width = max(page.width if columns > 1 else 0, _LEFT + columns * (axes_width + _GAP) - _GAP + _RIGHT)
    height = lines * (_TOP + _HEIGHT + _FOOT) + legend
    if not page.holds(width, height):
        return None
    figure = page.picture(width, height)
    for place, (pipeline, held) in enumerate(found):
        left = _LEFT + place % columns * (axes_width + _GAP)
        top = place // columns * (_TOP + _HEIGHT + _FOOT) + _TOP
        box = (left / width, 1 - (top + _HEIGHT) / height, axes_width / width, _HEIGHT / height)
        axes: Axes = figure.add_axes(box)
        _draw(axes, held, looks, page.scale)
        axes.set_title(" / ".join(filter(None, pipeline)) or "pages", weight="bold", loc="left", parse_math=False)
        if place % columns:
            axes.set_yticklabels([])
        else:
            axes.set_ylabel("facts left (%)")
    _add_legend(figure, {name: looks[name] for name in conditions}, page)
    return figure


def _draw(axes: "Axes", held: Mapping[str, Mapping[str, Row]], looks: Mapping[str, Look], scale: float) -> None:
    steps = [step for step in STEPS if any(step in rows for rows in held.values())]
    for number, (condition, rows) in enumerate(held.items()):
        places = [place for place, step in enumerate(steps) if step in rows]
        found = [rows[steps[place]] for place in places]
        color, marker, line = looks[condition]
        shift = (number - (len(held) - 1) / 2) * 0.05  # so that intervals do not cover each other
        axes.plot([p + shift for p in places], [100 * r["mean"] for r in found], line, color=color, linewidth=scale)
        for place, row in zip(places, found, strict=True):
            if not isnan(row["low"]):
                axes.vlines(place + shift, 100 * row["low"], 100 * row["high"], color=color, linewidth=0.8 * scale)
            face = "white" if row["documents"] < FEW else color
            axes.plot(place + shift, 100 * row["mean"], marker, color=color, markerfacecolor=face)
    axes.set_xticks(range(len(steps)), [STEPS[step].replace(" ", "\n", 1) for step in steps])
    axes.set_xlim(-0.4, len(steps) - 0.6)
    axes.set_ylim(-3, 103)


def _looks(rows: Sequence[Row]) -> dict[str, Look]:
    """Choose each condition's color and marker: clean text is ink, and a star."""
    clean = {row["condition"] for row in rows if row["noise_type"] == "none"}
    noisy = [name for name in dict.fromkeys(row["condition"] for row in rows) if name not in clean]
    looks: dict[str, Look] = dict.fromkeys(clean, (INK, CLEAN_MARKER, "-"))
    return looks | {
        name: (HUES[place % len(HUES)], MARKERS[place % len(MARKERS)], _LINES[place // len(HUES) % len(_LINES)])
        for place, name in enumerate(noisy)
    }


def _add_legend(figure: "Picture", looks: Mapping[str, Look], page: "Page") -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=color, marker=marker, linestyle=line, linewidth=page.scale, label=name)
        for name, (color, marker, line) in looks.items()
    ]
    figure.legend(handles=marks, loc="lower center", ncols=min(3, len(marks)), frameon=False)
