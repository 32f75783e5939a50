"""A run in one picture: what is left of each clean score, what is lost, and the verdict in words."""

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ohr.report.figures.choices import Wanted, drawn_as
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.style import HUES, INK, shortened
from ohr.report.first_screen import ROWS, Cell, Line, Summary, summarize
from ohr.results.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

_LETTERS = 14.5  # of the bold title in a unit
_SMALL = 19.5  # of the small type in a unit
_NAME, _GAP, _RIGHT = 0.065, 0.2, 0.1  # units: a letter of a condition's name, between panels, beside them
_LONGEST = 26  # letters of a condition's name
_ROW, _LINE, _HEAD, _FOOT = 0.34, 0.16, 0.3, 0.3  # units: a condition, a line of type, stages, and how to read it
_BAR = 0.3  # of a row


def summary(run: Run, wanted: Wanted) -> "Picture":
    """Draw the verdicts of a run's summary, under the sentence that it begins with.

    Raises: as `draw`; NothingToDraw where the run shows no loss, or another metric than the headline is wanted.
    """
    verdict = summarize(run, advise=False) if wanted.metric is None else None
    if verdict is None or not verdict.lines:
        raise NothingToDraw(f"{run.folder}: nothing to draw: no loss in the headline metric")
    return drawn_as(wanted, _figure, verdict)


def _figure(verdict: Summary, page: "Page") -> "Picture | None":
    lines = verdict.first(ROWS)
    title = wrap(verdict.lead, int(_LETTERS * page.width))
    left_out = f" Not in the figure: {more}." if (more := verdict.left_out(ROWS)) else ""
    note = f"Points of 100. {verdict.legend} {verdict.compared}.{left_out}"
    notes = wrap(note, int(_SMALL * page.width))
    left = 0.1 + _NAME * min(_LONGEST, max(len(line.name) for line in lines))
    body, top, foot = len(lines) * _ROW, len(title) * _LINE + _HEAD + 0.1, _FOOT + len(notes) * _LINE
    if not page.holds(page.width, top + body + foot):
        return None
    height = page.height or top + body + foot
    body = height - top - foot
    figure = page.picture(page.width, height)
    figure.text(0.1 / page.width, 1 - 0.1 / height, "\n".join(title), va="top", weight="bold", parse_math=False)
    figure.text(0.1 / page.width, 0.08 / height, "\n".join(notes), va="bottom", fontsize="small", parse_math=False)
    width = (page.width - left - _RIGHT + _GAP) / len(verdict.stages) - _GAP
    for place, stage in enumerate(verdict.stages):
        start = left + place * (width + _GAP)
        box = (start / page.width, foot / height, width / page.width, body / height)
        axes: Axes = figure.add_axes(box)
        _draw(axes, lines, place, verdict.top, page.scale)
        axes.set_title(stage, loc="left", weight="bold", parse_math=False)
        names = [shortened(line.name) if not place else "" for line in lines]
        axes.set_yticklabels(names, parse_math=False)
    return figure


def _draw(axes: "Axes", lines: list[Line], place: int, top: float, scale: float) -> None:
    for row, line in enumerate(lines):
        if cell := line.cells[place]:
            weight = "bold" if cell.kind == "loss" else "normal"
            axes.text(0, row + 0.08, cell.words, va="top", fontsize="small", weight=weight, parse_math=False)
            if cell.is_judged:
                _bar(axes, cell, row + 0.62, scale)
    axes.set_xlim(0, 100 * top)
    axes.set_ylim(len(lines), 0)
    axes.set_yticks([row + 0.5 for row in range(len(lines))])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="x", color="0.6")


def _bar(axes: "Axes", cell: Cell, y: float, scale: float) -> None:
    left = min(cell.left, cell.clean)
    axes.barh(y, 100 * left, height=_BAR, color=HUES[0])
    color, hatch = (HUES[1], "/////") if cell.left < cell.clean else (HUES[0], None)
    look: dict[str, Any] = {"facecolor": "white", "edgecolor": color, "hatch": hatch, "linewidth": 0.6 * scale}
    axes.barh(y, 100 * abs(cell.clean - cell.left), left=100 * left, height=_BAR, **look)
    if cell.has_interval:
        low, high = (100 * end for end in cell.ends)
        axes.plot(
            [low, high], [y + _BAR / 2 + 0.1] * 2, color=INK, linewidth=0.8 * scale, marker="|", markersize=3 * scale
        )
