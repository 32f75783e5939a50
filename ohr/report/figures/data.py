"""From a run's tables to the curves of its figures; nothing here draws."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import Literal

from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.results.folder import headlines, read_manifest
from ohr.results.groups import ALL, STAGES
from ohr.results.points import Point, read_points
from ohr.results.reading import read_rows
from ohr.statistics.estimate import FEW

Axis = Literal["r_noise", "evidence_loss", "condition"]
"""The x axis of a figure: a dose; or, where there is none, the conditions one after the other."""
Which = Literal["floor", "ceiling"]
Doses = Mapping[str, Sequence[float]]
"""Condition to where it is on the x axis: the dose of each replicate."""

FOUND = "pages found"
ROWS = (STAGES[0], FOUND, *STAGES[1:])
"""Rows of a figure.

Where a retriever looks at page images, the pages found have a row of their own: the retrieval score is that of the text
handed on, which an OCR engine read from those pages, and says nothing about looking.
"""
COLUMNS = ("text", "multimodal", "reading_order", ALL)
"""Columns of a figure: evidence sources as the paper's Fig. 3 groups them."""


@dataclass(frozen=True, slots=True, order=True)
class System:
    """The parts of the pipeline that a curve shows; empty where a stage has no such part."""

    chunker: str
    retriever: str
    generator: str

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
        """The ends of the mean's interval."""
        return 100 * self.point.low, 100 * self.point.high

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
    """One system under the levels of one noise; its marks by rising amount of noise."""

    noise: str
    noise_type: str
    system: System
    marks: tuple[Mark, ...]


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
    """A run has no score with the asked-for dose."""


def read_panels(run_folder: Path, axis: Axis) -> list[Panel]:
    """Read a run's tables as panels, row by row; those without any mark are left out.

    Raises:
        DataError: a table is missing, or is no run's table.
        NothingToDraw: no score has a dose of that kind.
    """
    points = [point for group in COLUMNS for point in read_points(run_folder, group=group)]
    if axis == "condition":
        doses: Doses = {condition: [float(place)] for place, condition in enumerate(_conditions(run_folder))}
    else:
        drawn: dict[str, list[float]] = defaultdict(list)
        for row in read_rows(run_folder / "doses.parquet", ["condition", axis]):
            drawn[row["condition"]].append(row[axis])
        doses = drawn
    made = panels(points, doses, axis, headlines(read_manifest(run_folder)))
    if not made:
        path = run_folder / "summary.parquet"
        raise NothingToDraw(f"{path}: nothing to draw: no score of {', '.join(STAGES)} with its {axis}")
    return made


def read_conditions(run_folder: Path) -> list[str]:
    """Name the conditions of a run, in the order of the axis `condition`."""
    return list(_conditions(run_folder).values())


def _conditions(run_folder: Path) -> dict[str, str]:
    rows = read_rows(run_folder / "doses.parquet", ["condition", "noise", "knob_value"])
    return {row["condition"]: " ".join(filter(None, (row["noise"], row["knob_value"]))) for row in rows}


def panels(points: Sequence[Point], doses: Doses, axis: Axis, headline: Mapping[str, str]) -> list[Panel]:
    """Arrange points in panels, stage by stage and group by group.

    Args:
        points: of a summary.
        doses: of its conditions.
        axis: which dose they are.
        headline: stage to the metric that its row shows; where the run does not have it, its first metric.
    """
    several = len({point.chunker for point in points if point.chunker}) > 1
    made = []
    for stage in ROWS:
        held = [point for point in points if point.stage == ("retrieval" if stage == FOUND else stage)]
        if stage == FOUND and not any(point.retriever and not point.chunker for point in held):
            continue  # nobody looks at pages
        metrics = list(dict.fromkeys(point.metric for point in held))
        hits = [metric for metric in metrics if metric.startswith("hit@")]
        # where all retrievers have one k, `hit@k` is what the pages found come to
        wanted = (hits[0] if len(hits) == 1 else "mrr") if stage == FOUND else headline[stage]
        metric = wanted if wanted in metrics or not metrics else metrics[0]
        for group in COLUMNS:
            chosen = [point for point in held if point.metric == metric and point.group == group]
            if curves := _curves(chosen, doses, axis, several):
                made.append(Panel(stage, group, metric, curves))
    return made


def _curves(points: Iterable[Point], doses: Doses, axis: Axis, several_chunkers: bool) -> tuple[Curve, ...]:
    found: dict[tuple[str, str, System], list[Mark]] = defaultdict(list)
    for point in points:
        mark = _mark(point, doses.get(point.condition, ()), axis)
        if not (isnan(mark.x) or isnan(mark.mean)):
            system = System(point.chunker if several_chunkers else "", point.retriever, point.generator)
            found[point.noise, point.noise_type, system].append(mark)
    curves = [Curve(*place, tuple(sorted(marks, key=lambda mark: mark.x))) for place, marks in found.items()]
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


def counts(panel: Panel) -> str:
    """Count questions and documents are behind a panel, and how many questions failed at worst."""
    points = [mark.point for mark in panel.marks]
    documents = _span([point.documents for point in points], "doc")
    if failed := max(point.failed for point in points):  # no room is left for a noun
        return f"n = {_span([point.n for point in points])} (≤ {failed:,} failed), {documents}"
    return f"n = {_span([point.n for point in points], 'question')}, {documents}"


def _span(values: Sequence[int], thing: str = "") -> str:
    low, high = min(values), max(values)
    most = counted(high, thing) if thing else f"{high:,}"
    return f"{low:,}–{most}" if low < high else most
