"""Conditions side by side, such as engines: a row each, its score at the left, its loss at the right."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr import extras
from ohr.report.figures.curves import GROUP_NAMES, METRIC_NAMES
from ohr.report.figures.data import metric_rows, stage_of
from ohr.report.figures.legend import Block, few_documents, line, place_blocks
from ohr.report.figures.panels import COLUMNS, NothingToDraw, System, counts
from ohr.report.figures.style import CLEAN_MARKER, CLEAN_SIZE, HUES, INK, Colour
from ohr.report.figures.wanted import Wanted
from ohr.results.choices import read_choices
from ohr.results.folder import headlines, read_manifest
from ohr.results.groups import ALL
from ohr.results.losses import Loss, read_losses
from ohr.results.points import Point, read_points
from ohr.statistics.estimate import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

_ROW, _HEAD, _TITLE, _FOOT = 0.17, 0.2, 0.36, 0.44  # units: a row, a system's name, above and under a section
_MARGIN, _BETWEEN, _LEGEND_GAP = 0.08, 0.2, 0.06  # units: at the sides, between two axes, above the legend
_NARROWEST = 0.8  # units: of axes
_MOST = 60
"""Rows of a section; of more, which no page holds, the tables have the rest, and the title says so."""
_LONGEST = 26


@dataclass(frozen=True, slots=True)
class _Row:
    """One condition in one system; without a loss where it is the clean text, or nothing is paired with it."""

    point: Point
    loss: Loss | None

    @property
    def is_clean(self) -> bool:
        """Report whether nothing was done to the text."""
        return self.point.noise_type == "none"

    @property
    def name(self) -> str:
        """The condition, cut to the room that there is."""
        whole = " ".join(filter(None, (self.point.noise, self.point.level)))
        return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class _Section:
    """A stage and a group of questions: rows by system."""

    title: str
    metric: str
    systems: dict[System, list[_Row]]

    @property
    def rows(self) -> list[_Row]:
        """All rows."""
        return [row for rows in self.systems.values() for row in rows]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Sizes in units.

    Args:
        label: width of the names of conditions.
        stretch: of rows, in their usual height.
        named: systems have a line with their name.
    """

    label: float
    width: float
    stretch: float
    named: bool

    def height(self, section: _Section) -> float:
        """Return the height of a section's axes."""
        heads = len(section.systems) * _HEAD if self.named else 0.0
        return self.stretch * (heads + len(section.rows) * _ROW)


def comparison(run_folder: Path, wanted: Wanted) -> "Picture":
    """Draw the conditions of a run side by side.

    Raises:
        DataError: a table of the run is missing or cannot be read, or has no such metric.
        NothingToDraw: the run has no score.
        SpecError: there are more rows than a slide holds.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    from ohr.report.figures.picture import drawn

    groups = [group for group in COLUMNS if group in (wanted.columns or (ALL,))]
    sections = [section for group in groups for section in _sections(run_folder, group, wanted.metric)]
    if not sections:
        raise NothingToDraw(f"{run_folder}: nothing to draw: no score of any condition")
    margin = read_manifest(run_folder)["spec"].get("margin")
    return drawn(partial(_figure, sections, 100 * margin if margin else 0.0), wanted)


def _sections(run_folder: Path, group: str, metric: str | None) -> list[_Section]:
    repeats = read_choices(run_folder).repeats
    points = [point for point in read_points(run_folder, group=group) if point.condition not in repeats]
    losses = {(*_key(loss), loss.metric): loss for loss in read_losses(run_folder, group, every_metric=True)}
    several = len({point.chunker for point in points if point.chunker}) > 1
    made = []
    for name, shown in metric_rows(points, headlines(read_manifest(run_folder)), metric).items():
        systems: dict[System, list[_Row]] = {}
        key = (stage_of(name), shown)
        held = [point for point in points if (point.stage, point.metric) == key and not isnan(point.mean)]
        for point in held[:_MOST]:
            system = System(point.chunker if several else "", point.retriever, point.generator)
            systems.setdefault(system, []).append(_Row(point, losses.get((*_key(point), shown))))
        if systems:
            title = name.capitalize() + ("" if group == ALL else f", {GROUP_NAMES[group].lower()}")
            cut = f" (the first {_MOST} of {len(held):,} rows)" if len(held) > _MOST else ""
            made.append(_Section(title + cut, shown, systems))
    return made


def _key(of: Point | Loss) -> tuple[str, ...]:
    return of.stage, of.condition, of.chunker, of.retriever, of.generator


# --- drawing ----------------------------------------------------------------------------------------------


def _figure(sections: Sequence[_Section], margin: float, page: "Page") -> "Picture | None":
    figure = page.picture(page.width, page.height or page.width)
    legend = place_blocks(figure, [_legend(sections, margin, page.scale)], page.scale) + _LEGEND_GAP
    layout = _layout(figure, sections, legend, page)
    if layout is None:
        return None
    total = legend + sum(layout.height(section) + _TITLE + _FOOT for section in sections)
    total = page.height or total
    figure.set_size_inches(page.width * page.scale, total * page.scale)
    hues = _hues(sections)
    top = total
    for section in sections:
        height = layout.height(section)
        bottom = top - _TITLE - height
        paired = any(row.loss for row in section.rows)
        for place in range(2 if paired else 1):
            left = _MARGIN + layout.label + place * (layout.width + _BETWEEN)
            width = layout.width if paired else 2 * layout.width + _BETWEEN
            share = (left / page.width, bottom / total, width / page.width, height / total)
            axes: Axes = figure.add_axes(share)
            (_draw_losses if place else _draw_scores)(axes, section, layout, hues, page.scale, margin)
        _name(figure, section, (top - 0.2) / total, page.scale)
        top = bottom - _FOOT
    return figure


def _layout(figure: "Picture", sections: Sequence[_Section], legend: float, page: "Page") -> _Layout | None:
    """Return the sizes; nothing where the page is too small."""
    named = any(len(section.systems) > 1 for section in sections)
    label = _widest(figure, [row.name for section in sections for row in section.rows], page.scale) + 0.12
    width = (page.width - 2 * _MARGIN - label - _BETWEEN) / 2
    layout = _Layout(label, width, 1.0, named)
    rows = sum(map(layout.height, sections))
    if page.height is None:
        return layout
    spare = page.height - legend - len(sections) * (_TITLE + _FOOT)
    return _Layout(label, width, spare / rows, named) if spare >= rows and width >= _NARROWEST else None


def _widest(figure: "Picture", names: Sequence[str], scale: float) -> float:
    """Measure the longest name in units."""
    text = figure.text(0, 0, "", size=7.5 * scale, parse_math=False)
    most = 0.0
    for name in dict.fromkeys(names):
        text.set_text(name)
        most = max(most, text.get_window_extent().width / figure.dpi / scale)
    text.remove()
    return most


def _hues(sections: Sequence[_Section]) -> dict[str, Colour]:
    """Return the colour of each search, the same in all sections."""
    searches = dict.fromkeys(system.search for section in sections for system in section.systems if system.search)
    return {search: HUES[place % len(HUES)] for place, search in enumerate(searches)}


def _name(figure: "Picture", section: _Section, y: float, scale: float) -> None:
    """Write the title of a section, and over its axes how many questions are behind them."""
    left, *right = figure.axes[-2 if any(row.loss for row in section.rows) else -1 :]
    small = {"size": 6.5 * scale, "color": "0.35", "va": "baseline"}
    figure.text(_MARGIN * scale / figure.get_figwidth(), y, section.title, weight="bold", parse_math=False)
    figure.text(left.get_position().x1, y, counts([row.point for row in section.rows], short=True), ha="right", **small)
    for axes in right:
        pairs = [row.loss.pairs for row in section.rows if row.loss]
        span = f"{min(pairs):,}" + (f"\N{EN DASH}{max(pairs):,}" if min(pairs) < max(pairs) else "")
        figure.text(axes.get_position().x1, y, f"{span} pairs", ha="right", **small)


def _draw_scores(
    axes: "Axes", section: _Section, layout: _Layout, hues: dict[str, Colour], scale: float, _: float
) -> None:
    ends = [0.0]
    for y, system, row in _lines(axes, section, layout, scale):
        point = row.point
        look = {"marker": CLEAN_MARKER, "markersize": CLEAN_SIZE * scale} if row.is_clean else {"marker": "o"}
        ends += _dot(axes, y, (point.mean, point.low, point.high), hues.get(system.search, INK), point.documents, look)
    _fit(axes, ends)
    name = METRIC_NAMES.get(section.metric, section.metric)
    axes.set_xlabel(f"{name} (%)", parse_math=False)


def _draw_losses(
    axes: "Axes", section: _Section, layout: _Layout, hues: dict[str, Colour], scale: float, margin: float
) -> None:
    ends = [-margin, margin]
    if margin:
        axes.axvspan(-margin, margin, color="0.9", linewidth=0)
    axes.axvline(0, color=INK, linewidth=0.6 * scale)
    for y, system, row in _lines(axes, section, layout, scale):
        if (loss := row.loss) is not None and not row.is_clean:
            values = (loss.lost, loss.low, loss.high)
            ends += _dot(axes, y, values, hues.get(system.search, INK), loss.documents, {"marker": "o"})
    axes.tick_params(axis="y", labelleft=False)
    _fit(axes, ends)
    axes.set_xlabel("\N{LEFTWARDS ARROW} gain   loss to noise (points) \N{RIGHTWARDS ARROW}")


def _lines(axes: "Axes", section: _Section, layout: _Layout, scale: float) -> list[tuple[float, System, _Row]]:
    """Set a y axis in units from the top down; returns where each row is."""
    found, y = [], 0.0
    for number, (system, rows) in enumerate(section.systems.items()):
        if number:
            axes.axhline(y, color="0.8", linewidth=0.5 * scale)
        y += _HEAD if layout.named else 0.0
        for row in rows:
            found.append((y + _ROW / 2, system, row))
            y += _ROW
    axes.set_ylim(y, 0)
    axes.set_yticks([place for place, _, _ in found], [row.name for _, _, row in found], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    return found


def _dot(
    axes: "Axes", y: float, values: tuple[float, float, float], colour: Colour, documents: int, look: dict[str, Any]
) -> list[float]:
    """Draw a value with its interval, in percent, and return what the axes must hold."""
    value, low, high = (100 * number for number in values)
    if not isnan(low):
        axes.hlines(y, low, high, color=colour)
    axes.plot(value, y, color=colour, markerfacecolor="white" if documents < FEW else colour, **look)
    return [end for end in (value, low, high) if not isnan(end)]


def _fit(axes: "Axes", ends: Sequence[float]) -> None:
    """Let axes hold everything, with a little room beside it."""
    from matplotlib.ticker import MaxNLocator

    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 1.0
    axes.set_xlim(low - room, high + room)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter("{x:g}")


def _legend(sections: Sequence[_Section], margin: float, scale: float) -> Block:
    from matplotlib.patches import Patch

    rows = [row for section in sections for row in section.rows]
    intervals = [not isnan(row.point.low) for row in rows]
    hollow = line(marker="o", markerfacecolor="white", linestyle="none", color=INK)
    possible = [
        (
            any(row.is_clean for row in rows),
            line(marker=CLEAN_MARKER, markersize=CLEAN_SIZE * scale, linestyle="none", color=INK),
            "clean ground truth",
        ),
        (any(intervals), line(color=INK, marker="o"), "mean, 95% interval over documents"),
        (any(row.point.documents < FEW for row in rows), hollow, few_documents(all(intervals))),
        (
            bool(margin) and any(row.loss for row in rows),
            Patch(color="0.9", linewidth=0),
            f"within the margin of {margin:g} points",
        ),
    ]
    return Block("", [(mark, label) for there, mark, label in possible if there], rows=2)
