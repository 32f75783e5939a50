"""Panels, curves and marks of a figure, read from the tables of a run; nothing here draws."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.report.headlines import METRICS
from ohr.results.derived.losses import Point, read_points
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES
from ohr.statistics.estimate import FEW, rescaled

Axis = Literal["r_noise", "evidence_loss", "condition"]
"""The x axis of a figure: a dose; or, where there is none, the conditions one after the other."""
Which = Literal["floor", "ceiling"]

FOUND = "pages found"
ROWS = (STAGES[0], FOUND, *STAGES[1:])
"""Rows of a figure.

Where a retriever looks at page images, the pages found have a row of their own: the retrieval score is that of the text
handed on, which an OCR engine read from those pages, and says nothing about looking.
"""
COLUMNS = ("text", "multimodal", "reading_order", ALL)
"""Columns of a figure: evidence sources as the paper's Fig. 3 groups them."""
GROUP_NAMES = {"text": "Text", "multimodal": "Multimodal", "reading_order": "Reading order", "all": "All"}
METRIC_NAMES = {metric: name[0].upper() + name[1:] for metric, name in METRICS.items()}


@dataclass(frozen=True, slots=True, order=True)
class System:
    """The parts of the pipeline that a curve shows; empty where a stage has no such part.

    Args:
        is_agent: the retriever is an agent, which also answers: it looks the same in every stage.
    """

    chunker: str
    retriever: str
    generator: str
    is_agent: bool = False

    @classmethod
    def of(cls, point: Point, labels: Mapping[str, str], *, chunker: bool) -> "System":
        """Return the system of a point.

        Args:
            labels: of agents, by name.
            chunker: there are several, so that it is named.
        """
        named = point.chunker if chunker else ""
        if agent := labels.get(point.generator) or labels.get(point.retriever):
            return cls(named, agent, "", is_agent=True)
        return cls(named, point.retriever, point.generator)

    @property
    def search(self) -> str:
        """How passages are found: chunker and retriever, where there are several chunkers."""
        return " + ".join(part for part in (self.chunker, self.retriever) if part)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point in a panel; scores in percent, nan where there is none.

    Args:
        point: what it shows.
        x: amount of noise, pooled over replicates.
        least: smallest amount of a single replicate, as `most` is the largest.
    """

    point: Point
    x: float
    least: float
    most: float

    @property
    def mean(self) -> float:
        """The mean score."""
        return 100 * self.point.mean

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the mean's interval; scores are within 0 and 100, and so is their interval."""
        return self._within(self.point.low, self.point.high)

    def joint(self, critical: float) -> tuple[float, float]:
        """Return the interval with a curve's critical value; nan where there is none."""
        point = self.point
        return self._within(*rescaled(point.mean, (point.low, point.high), point.df, point.interval, critical))

    def _within(self, low: float, high: float) -> tuple[float, float]:
        return max(100 * low, min(0.0, self.mean)), min(100 * high, max(100.0, self.mean))

    @property
    def has_interval(self) -> bool:
        """Report whether the documents were enough for an interval."""
        return not any(map(isnan, self.interval))

    @property
    def few(self) -> bool:
        """Report whether the documents are few."""
        return self.point.documents < FEW

    def bound(self, which: Which) -> float:
        """Return the floor or the ceiling."""
        return 100 * (self.point.floor if which == "floor" else self.point.ceiling)


@dataclass(frozen=True, slots=True)
class Curve:
    """One system under the levels of one noise; its marks by rising amount of noise.

    Args:
        critical: how many standard errors wide the band is that holds at all levels together; nan where unknown.
    """

    noise: str
    noise_type: str
    system: System
    marks: tuple[Mark, ...]
    critical: float = nan

    @property
    def joint(self) -> list[tuple[float, float]]:
        """The ends of the band that holds at all marks together."""
        return [mark.joint(self.critical) for mark in self.marks]

    @property
    def has_joint(self) -> bool:
        """Report whether there is such a band anywhere."""
        return not all(isnan(low) for low, _ in self.joint)


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything in one set of axes; curves of noise_type `none` are single marks on the clean text."""

    stage: str
    group: str
    metric: str
    curves: tuple[Curve, ...]

    @property
    def systems(self) -> list[System]:
        """The systems of the curves, in order of first appearance."""
        return list(dict.fromkeys(curve.system for curve in self.curves))

    @property
    def marks(self) -> list[Mark]:
        """Every mark of every curve."""
        return [mark for curve in self.curves for mark in curve.marks]


@dataclass(frozen=True, slots=True)
class Bound:
    """A floor or a ceiling in a panel.

    Args:
        x: amounts of noise; empty where it is the same at all of them, and `y` is one number.
        system: whose it is; None if it is that of every system in the panel, without a retriever if it is that of all
            systems with one generator.
    """

    which: Which
    system: System | None
    x: tuple[float, ...]
    y: tuple[float, ...]


class NothingToDraw(DataError):
    """A run has nothing that the asked-for figure could show."""


def bounds(panel: Panel, which: Which, step: float = 2.0) -> list[Bound]:
    """Return a panel's floors or ceilings, each once: level, unless a system's are more than `step` percent apart."""
    found: dict[tuple[object, ...], dict[System, Bound]] = defaultdict(dict)
    for system in panel.systems:
        for bound in _bounds(panel, system, which, step):
            found[bound.x, tuple(round(value, 1) for value in bound.y)][system] = bound
    everyone = set[System]().union(*found.values())
    return [replace(next(iter(same.values())), system=_owner(list(same), everyone)) for same in found.values()]


def _owner(systems: Sequence[System], everyone: Set[System]) -> System | None:
    """Name what systems with the same bound have in common: all of one system, only its generator, or nothing."""
    generators = {system.generator for system in systems}
    if set(systems) == everyone:
        return None
    if len(systems) == 1 or len(generators) > 1:
        return systems[0]
    return System("", "", generators.pop())


def _bounds(panel: Panel, system: System, which: Which, step: float) -> list[Bound]:
    curves = [[(mark.x, mark.bound(which)) for mark in curve.marks] for curve in panel.curves if curve.system == system]
    values = [value for curve in curves for _, value in curve if not isnan(value)]
    if not values:
        return []
    if max(values) - min(values) <= step:
        return [Bound(which, system, (), (sum(values) / len(values),))]
    long = [curve for curve in curves if len(curve) > 1] or curves
    return [Bound(which, system, tuple(x for x, _ in curve), tuple(y for _, y in curve)) for curve in long]


def counts(points: Sequence[Point], *, short: bool = False) -> str:
    """Count the questions and documents behind a panel, and how many questions failed at worst."""
    documents = spanned([point.documents for point in points], "doc")
    if short:
        return f"n = {spanned([point.n for point in points])}, {documents}"
    if failed := max(point.failed for point in points):  # no room is left for a noun
        return f"n = {spanned([point.n for point in points])} (≤ {failed:,} failed), {documents}"
    return f"n = {spanned([point.n for point in points], 'question')}, {documents}"


def spanned(values: Sequence[int], thing: str = "") -> str:
    """Write the least and the largest of counts, or one where they are equal."""
    low, high = min(values), max(values)
    most = counted(high, thing) if thing else f"{high:,}"
    return f"{low:,}–{most}" if low < high else most


_CURVE = ("stage", "noise", "chunker", "retriever", "generator", "metric", "group")


def read_panels(run: Run, axis: Axis, metric: str | None = None, columns: Sequence[str] = COLUMNS) -> list[Panel]:
    """Read a run's tables as panels, row by row; those without any mark are left out.

    Args:
        axis: the x axis.
        metric: that all rows show; by default each stage's headline. A stage that does not have it has no row.
        columns: groups of evidence sources. Where all are wanted and the questions have one source, `all` is enough.

    Raises:
        DataError: a table is missing, or is no run's table; or no stage has the metric.
        NothingToDraw: no score has a dose of that kind.
    """
    by_group = {group: read_points(run, group=group) for group in COLUMNS if group in columns}
    sizes = [max((point.n for point in points), default=0) for points in by_group.values()]
    is_one = set(columns) == set(COLUMNS) and sizes.count(0) == len(sizes) - 2 and sizes.count(sizes[-1]) == 2
    points = by_group[ALL] if is_one else [point for points in by_group.values() for point in points]
    if axis == "condition":
        doses: Mapping[str, Sequence[float]] = {
            condition: [float(place)] for place, condition in enumerate(read_conditions(run))
        }
    else:
        drawn: dict[str, list[float]] = defaultdict(list)
        for row in run.rows("doses", ["condition", axis]):
            drawn[row["condition"]].append(row[axis])
        doses = drawn
    rows = metric_rows(points, run.headlines, metric)
    criticals = run.rows_if_any("curves", [*_CURVE, "value"], quantity="critical")
    wide = {tuple(row[name] or "" for name in _CURVE): row["value"] for row in criticals}
    drawn_panels = panels(points, doses, axis, rows, wide, run.agent_labels)
    if not drawn_panels:
        path = run.path("summary")
        raise NothingToDraw(f"{path}: nothing to draw: no score of {', '.join(STAGES)} with its {axis}")
    return drawn_panels


def dose_axes(run: Run) -> tuple[Axis, ...]:
    """List the doses that curves are drawn against where nobody chose one: r_noise, and evidence loss.

    Where r_noise is the same at all levels of each noise, and evidence loss is not, it is evidence loss alone: evidence
    that is a whole page is damaged at any level.
    """
    axes: tuple[Axis, ...] = ("r_noise", "evidence_loss")
    levels: dict[tuple[Axis, str], dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
    for row in run.rows("doses", ["noise", "condition", *axes]):
        for axis in axes:
            if not isnan(row[axis]):
                levels[axis, row["noise"]][row["condition"]].add(row[axis])
    varied = {axis for (axis, _), doses in levels.items() if len(doses) > 1 and len(set().union(*doses.values())) > 1}
    return ("evidence_loss",) if varied == {"evidence_loss"} else axes


def metric_rows(points: Sequence[Point], headline: Mapping[str, str], metric: str | None = None) -> dict[str, str]:
    """Return the rows of a figure, each with the metric that it shows.

    Args:
        headline: stage to the metric that its row shows; where the run does not have it, its first metric.
        metric: that all rows show instead.

    Raises:
        DataError: no stage has the metric.
    """
    known: dict[str, list[str]] = {stage: [] for stage in STAGES}
    for point in points:
        if point.metric not in known[point.stage]:
            known[point.stage].append(point.metric)
    if metric is not None and points:
        if rows := {stage: metric for stage in STAGES if metric in known[stage]}:
            return rows
        names = ", ".join(dict.fromkeys(name for names in known.values() for name in names))
        raise DataError(f"this run has no metric {metric!r}; choose one of: {names}")
    rows = {stage: headline[stage] if headline[stage] in held else held[0] for stage, held in known.items() if held}
    if any(point.stage == STAGES[0] and point.retriever and not point.chunker for point in points):  # looks at pages
        hits = [name for name in known[STAGES[0]] if name.startswith("hit@")]
        # where all retrievers have one k, `hit@k` is what the pages found come to
        pages_metric = hits[0] if len(hits) == 1 and "recall@shown" not in known[STAGES[0]] else "mrr"
        rows[FOUND] = pages_metric if pages_metric in known[STAGES[0]] else known[STAGES[0]][0]
    return {row: rows[row] for row in ROWS if row in rows}


def stage_of(row: str) -> str:
    """Name the stage that a row of a figure shows."""
    return STAGES[0] if row == FOUND else row


def read_conditions(run: Run) -> dict[str, str]:
    """Name the conditions of a run, in the order of the axis `condition`."""
    rows = run.rows("doses", ["condition", "noise", "knob_value"])
    return {row["condition"]: " ".join(filter(None, (row["noise"], row["knob_value"]))) for row in rows}


def panels(
    points: Sequence[Point],
    doses: Mapping[str, Sequence[float]],
    axis: Axis,
    rows: Mapping[str, str],
    criticals: Mapping[tuple[str, ...], float],
    labels: Mapping[str, str],
) -> list[Panel]:
    """Arrange points in panels, row by row and group by group.

    Args:
        doses: of each condition those of its replicates, which are where it is on the x axis.
        axis: which dose they are.
        rows: row to the metric that it shows.
        criticals: critical values of the curves, by the columns that name a curve.
        labels: of agents, by name.
    """
    several = len({point.chunker for point in points if point.chunker}) > 1
    placed: dict[tuple[str, str, str], list[tuple[System, Mark]]] = defaultdict(list)
    for point in points:
        mark = _mark(point, doses.get(point.condition, ()), axis)
        if not (isnan(mark.x) or isnan(mark.mean)):
            system = System.of(point, labels, chunker=several)
            placed[point.stage, point.metric, point.group].append((system, mark))
    return [
        Panel(row, group, metric, _curves(marks, criticals))
        for row, metric in rows.items()
        for group in COLUMNS
        if (marks := placed.get((stage_of(row), metric, group)))
    ]


def _curves(placed: Sequence[tuple[System, Mark]], criticals: Mapping[tuple[str, ...], float]) -> tuple[Curve, ...]:
    by_curve: dict[tuple[str, str, System], list[Mark]] = defaultdict(list)
    wide: dict[tuple[str, str, System], float] = {}
    for system, mark in placed:
        of = mark.point.noise, mark.point.noise_type, system
        by_curve[of].append(mark)
        wide[of] = criticals.get(tuple(getattr(mark.point, name) for name in _CURVE), nan)
    curves = [Curve(*of, tuple(sorted(marks, key=lambda mark: mark.x)), wide[of]) for of, marks in by_curve.items()]
    clean = {curve.system: curve.marks[0] for curve in reversed(curves) if curve.noise_type == "none"}
    return tuple(_from_clean(curve, clean) for curve in curves)


def _from_clean(curve: Curve, clean: Mapping[System, Mark]) -> Curve:
    """Let formatting start at the clean text, which it edits; text that was recognised never was clean."""
    if curve.noise_type != "formatting" or curve.system not in clean:
        return curve
    return replace(curve, marks=tuple(sorted((clean[curve.system], *curve.marks), key=lambda mark: mark.x)))


def _mark(point: Point, doses: Sequence[float], axis: Axis) -> Mark:
    pooled = next(iter(doses), nan) if axis == "condition" else getattr(point, axis)
    drawn = doses if len(doses) > 1 else ()  # a single draw has no spread
    return Mark(point, pooled, min((pooled, *drawn)), max((pooled, *drawn)))
