"""Conditions side by side, such as engines: a row each, its score at the left, its loss at the right."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, isnan
from typing import TYPE_CHECKING, Any

from ohr.errors import SpecError
from ohr.report.figures.choices import Wanted, drawn_as
from ohr.report.figures.panels import (
    COLUMNS,
    GROUP_NAMES,
    METRIC_NAMES,
    NothingToDraw,
    System,
    counts,
    metric_rows,
    spanned,
    stage_of,
)
from ohr.report.figures.style import (
    CLEAN_MARKER,
    CLEAN_SIZE,
    HUES,
    INK,
    Block,
    Color,
    clean_mark,
    few_documents,
    hollow_mark,
    line,
    place_blocks,
    shortened,
)
from ohr.results.derived.losses import Loss, Point, read_losses, read_points
from ohr.results.derived.pairs import FAILED
from ohr.results.run import Run
from ohr.results.tables.groups import ALL
from ohr.statistics.estimate import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

MOST = 60
"""Rows of a section; of more, which no page holds, the tables have the rest, and the title says so."""


@dataclass(frozen=True, slots=True)
class Row:
    """One condition in one system; without a loss where it is the clean text, or nothing is paired with it.

    Of a condition of which too much failed, the name says so, and the loss is not drawn.
    """

    point: Point
    loss: Loss | None

    @property
    def is_clean(self) -> bool:
        """Report whether nothing was done to the text."""
        return self.point.noise_type == "none"

    @property
    def name(self) -> str:
        """The condition, cut to the room that there is."""
        failed = self.loss is not None and self.loss.verdict == FAILED
        return shortened(" ".join(filter(None, ("failed:" if failed else "", self.point.noise, self.point.level))))


@dataclass(frozen=True, slots=True)
class Section:
    """A stage and a group of questions: rows by system."""

    title: str
    metric: str
    systems: dict[System, list[Row]]

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for rows in self.systems.values() for row in rows]

    @property
    def is_paired(self) -> bool:
        """Report whether any condition is compared with the clean text."""
        return any(row.loss for row in self.rows)

    def name(self, system: System) -> str:
        """Name a system: by the parts that differ, or where it is the only one by all of them."""
        parts = [(one.chunker, one.retriever, one.generator) for one in self.systems]
        several = [len(set(names)) > 1 or len(parts) == 1 for names in zip(*parts, strict=True)]
        mine = (system.chunker, system.retriever, system.generator)
        return shortened(" / ".join(part for part, shown in zip(mine, several, strict=True) if shown and part))


def read_sections(run: Run, group: str, metric: str | None) -> list[Section]:
    """Read the scores and losses of a run's conditions, stage by stage.

    Args:
        group: of questions.
        metric: of all stages; by default each stage's headline.

    Raises:
        DataError: a table is missing or cannot be read, or no stage has the metric.
    """
    points = read_points(run, group=group)
    losses = {(*_key(loss), loss.metric): loss for loss in read_losses(run, group, every_metric=True)}
    labels = run.agent_labels
    several = len({point.chunker for point in points if point.chunker}) > 1
    sections = []
    for name, shown in metric_rows(points, run.headlines, metric).items():
        systems: dict[System, list[Row]] = {}
        key = (stage_of(name), shown)
        held = [point for point in points if (point.stage, point.metric) == key and not isnan(point.mean)]
        for point in held[:MOST]:
            system = System.of(point, labels, chunker=several)
            systems.setdefault(system, []).append(Row(point, losses.get((*_key(point), shown))))
        if systems:
            title = name.capitalize() + ("" if group == ALL else f", {GROUP_NAMES[group].lower()}")
            cut = f" (the first {MOST} of {len(held):,} rows)" if len(held) > MOST else ""
            sections.append(Section(title + cut, shown, systems))
    return sections


def _key(of: Point | Loss) -> tuple[str, ...]:
    return of.stage, of.condition, of.chunker, of.retriever, of.generator


_ROW, _HEAD, _TITLE, _FOOT = 0.17, 0.2, 0.36, 0.44  # units: a row, a system's name, above and under a section
_MARGIN, _BETWEEN, _LEGEND_GAP = 0.08, 0.2, 0.06  # units: at the sides, between two axes, above the legend
_NARROWEST = 0.8  # units: of axes
_WORDY = 1.9  # units: axes with room for a long label
_STRETCH = 2.5  # rows of a slide are at most this many times as high as on paper


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where sections are, in units from the top left: on paper one under the other, on a slide side by side.

    Args:
        page: width of the page.
        label: width of the names of conditions.
        width: of axes.
        stretch: height of rows, in their usual height.
        beside: sections are side by side.
    """

    page: float
    label: float
    width: float
    stretch: float
    beside: bool

    @classmethod
    def of(cls, sections: Sequence[Section], page: float, label: float, *, beside: bool) -> "_Layout":
        each = page / len(sections) if beside else page
        return cls(page, label, (each - 2 * _MARGIN - label - _BETWEEN) / 2, 1.0, beside)

    def height(self, section: Section) -> float:
        return self.stretch * (len(section.systems) * _HEAD + len(section.rows) * _ROW)

    def total(self, sections: Sequence[Section]) -> float:
        heights = [self.height(section) + _TITLE + _FOOT for section in sections]
        return max(heights) if self.beside else sum(heights)

    def corners(self, sections: Sequence[Section]) -> list[tuple[float, float]]:
        if self.beside:
            return [(place * self.page / len(sections), 0.0) for place in range(len(sections))]
        return [(0.0, self.total(sections[:place])) for place in range(len(sections))]


def comparison(run: Run, wanted: Wanted) -> "Picture":
    """Draw the conditions of a run side by side.

    Raises: as `draw`; NothingToDraw where the run has no score.
    """
    groups = [group for group in COLUMNS if group in (wanted.columns or (ALL,))]
    sections = [section for group in groups for section in read_sections(run, group, wanted.metric)]
    if not sections:
        raise NothingToDraw(f"{run.folder}: nothing to draw: no score of any condition")
    margin = run.manifest["spec"].get("margin")
    return drawn_as(wanted, _figure, sections, 100 * margin if margin else 0.0)


def _figure(sections: Sequence[Section], margin: float, page: "Page") -> "Picture | None":
    figure = page.picture(page.width, page.height or page.width)
    legend = place_blocks(figure, [_legend(sections, margin, page.scale)], page.scale) + _LEGEND_GAP
    layout = _layout(figure, sections, legend, page)
    if layout is None:
        return None
    total = page.height or legend + layout.total(sections)
    figure.set_size_inches(page.width * page.scale, total * page.scale)
    searches = dict.fromkeys(system.search for section in sections for system in section.systems if system.search)
    hues = {search: HUES[place % len(HUES)] for place, search in enumerate(searches)}
    for section, (left, top) in zip(sections, layout.corners(sections), strict=True):
        height = layout.height(section)
        bottom = total - top - _TITLE - height
        first = left + _MARGIN + layout.label
        width = layout.width if section.is_paired else 2 * layout.width + _BETWEEN
        axes = _add_axes(figure, (first, bottom, width, height), page, total)
        _draw_scores(axes, section, layout, hues, page.scale)
        x, y = (left + _MARGIN) / page.width, (total - top - 0.2) / total
        figure.text(x, y, section.title, weight="bold", parse_math=False)
        _write_count(axes, counts([row.point for row in section.rows], short=True), y, page.scale)
        if section.is_paired:
            axes = _add_axes(figure, (first + width + _BETWEEN, bottom, width, height), page, total)
            _draw_losses(axes, section, layout, hues, page.scale, margin)
            _write_count(axes, spanned([row.loss.pairs for row in section.rows if row.loss], "pair"), y, page.scale)
    return figure


def _add_axes(figure: "Picture", units: tuple[float, float, float, float], page: "Page", total: float) -> "Axes":
    left, bottom, width, height = units
    axes: Axes = figure.add_axes((left / page.width, bottom / total, width / page.width, height / total))
    return axes


def _layout(figure: "Picture", sections: Sequence[Section], legend: float, page: "Page") -> _Layout | None:
    """Return the sizes; nothing where a slide is too small.

    Raises:
        SpecError: a page of paper is too narrow.
    """
    names = [row.name for section in sections for row in section.rows]
    names += [section.name(system) for section in sections for system in section.systems]
    label = _widest(figure, names, page.scale) + 0.12
    stacked = _Layout.of(sections, page.width, label, beside=False)
    if page.height is None:
        if stacked.width < _NARROWEST:
            raise SpecError(f"{page.width:g} inches are too narrow for the names of the conditions and two columns")
        return stacked
    for layout in (stacked, _Layout.of(sections, page.width, label, beside=True)):
        rows = max(map(layout.height, sections)) if layout.beside else sum(map(layout.height, sections))
        spare = page.height - legend - (layout.total(sections) - rows)
        if spare >= rows and layout.width >= _NARROWEST:
            return replace(layout, stretch=min(spare / rows, _STRETCH))
    return None


def _widest(figure: "Picture", names: Sequence[str], scale: float) -> float:
    text = figure.text(0, 0, "", size=7.5 * scale, parse_math=False)
    most = 0.0
    for name in dict.fromkeys(names):
        text.set_text(name)
        most = max(most, text.get_window_extent().width / figure.dpi / scale)
    text.remove()
    return most


def _write_count(axes: "Axes", count: str, y: float, scale: float) -> None:
    axes.figure.text(axes.get_position().x1, y, count, ha="right", size=6.5 * scale, color="0.35")


def _draw_scores(axes: "Axes", section: Section, layout: _Layout, hues: dict[str, Color], scale: float) -> None:
    ends: list[float] = []
    lines, heads = _lines(axes, section, scale)
    for y, system, row in lines:
        point = row.point
        look = {"marker": CLEAN_MARKER, "markersize": CLEAN_SIZE * scale} if row.is_clean else {"marker": "o"}
        ends += _dot(axes, y, (point.mean, point.low, point.high), hues.get(system.search, INK), point.documents, look)
    x = -(layout.label - 0.04) / layout.width / (1 if section.is_paired else 2)
    for y, system in heads:
        about: dict[str, Any] = {"color": hues.get(system.search, INK), "va": "center", "size": 7.5 * scale}
        axes.text(x, y, section.name(system), transform=axes.get_yaxis_transform(), parse_math=False, **about)
    low, high = 10 * floor(min(ends) / 10), 10 * ceil(max(ends) / 10)
    _fit(axes, [low, max(high, low + 10)])
    name = METRIC_NAMES.get(section.metric, section.metric)
    axes.set_xlabel(f"{name} (%)", parse_math=False)


def _draw_losses(
    axes: "Axes", section: Section, layout: _Layout, hues: dict[str, Color], scale: float, margin: float
) -> None:
    ends = [-margin, margin]
    if margin:
        axes.axvspan(-margin, margin, color="0.9", linewidth=0)
    axes.axvline(0, color=INK, linewidth=0.6 * scale)
    for y, system, row in _lines(axes, section, scale)[0]:
        if (loss := row.loss) is not None and loss.verdict != FAILED and not row.is_clean:
            values = (loss.lost, loss.low, loss.high)
            ends += _dot(axes, y, values, hues.get(system.search, INK), loss.documents, {"marker": "o"})
    axes.tick_params(axis="y", labelleft=False)
    _fit(axes, ends)
    wide = "\N{LEFTWARDS ARROW} gain   loss to noise (points) \N{RIGHTWARDS ARROW}"
    axes.set_xlabel(wide if layout.width >= _WORDY else "loss (points)")


def _lines(
    axes: "Axes", section: Section, scale: float
) -> tuple[list[tuple[float, System, Row]], list[tuple[float, System]]]:
    """Set a y axis in units from the top down; returns where each row is, and the name of each system."""
    lines, heads, y = [], [], 0.0
    for system, rows in section.systems.items():
        if y:
            axes.axhline(y, color="0.8", linewidth=0.5 * scale)
        heads.append((y + _HEAD / 2, system))
        y += _HEAD
        for row in rows:
            lines.append((y + _ROW / 2, system, row))
            y += _ROW
    axes.set_ylim(y, 0)
    axes.set_yticks([place for place, _, _ in lines], [row.name for _, _, row in lines], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    return lines, heads


def _dot(
    axes: "Axes", y: float, values: tuple[float, float, float], color: Color, documents: int, look: dict[str, Any]
) -> list[float]:
    """Draw a value with its interval, in percent, and return what the axes must hold."""
    value, low, high = (100 * number for number in values)
    if not isnan(low):
        axes.hlines(y, low, high, color=color)
    axes.plot(value, y, color=color, markerfacecolor="white" if documents < FEW else color, **look)
    return [end for end in (value, low, high) if not isnan(end)]


def _fit(axes: "Axes", ends: Sequence[float]) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 1.0
    axes.set_xlim(low - room, high + room)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter("{x:g}")


def _legend(sections: Sequence[Section], margin: float, scale: float) -> Block:
    from matplotlib.patches import Patch

    rows = [row for section in sections for row in section.rows]
    intervals = [not isnan(row.point.low) for row in rows]
    within = bool(margin) and any(row.loss for row in rows)
    possible = [
        (any(row.is_clean for row in rows), clean_mark(scale), "clean ground truth"),
        (any(intervals), line(color=INK, marker="o"), "mean, 95% interval over documents"),
        (any(row.point.documents < FEW for row in rows), hollow_mark(), few_documents(all(intervals))),
        (within, Patch(color="0.9", linewidth=0), f"within the margin of {margin:g} points"),
    ]
    return Block("", [(mark, label) for there, mark, label in possible if there], rows=2)
