"""From a run's tables to the curves of its figures; nothing here draws."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import Literal

from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.metrics.intervals import FEW
from ohr.results.folder import read_csv

Axis = Literal["r_noise", "evidence_loss", "condition"]
"""What a figure's x axis shows: a dose; or, where none can be told, the conditions one after the other."""
Which = Literal["floor", "ceiling"]
Row = Mapping[str, str]
Spread = Mapping[tuple[str, str], Sequence[float]]
"""A dose in each replicate, by noise and level."""

FOUND = "pages found"
STAGES = {"retrieval": "lcs", FOUND: "mrr", "generation": "f1", "overall": "f1"}
"""Rows of a figure, and the published metric of each.

Where a retriever looks at page images, the pages found have a row of their own: the retrieval score is that of the text
handed on, which an OCR engine read from those pages, and says nothing about looking.
"""
GROUPS = ("text", "multimodal", "reading_order", "all")
"""Columns of a figure: evidence sources as the paper's Fig. 3 groups them."""

_COLUMNS = (
    *("stage", "noise", "noise_type", "knob_value", "chunker", "retriever", "generator", "metric", "evidence_source"),
    *("mean", "low", "high", "n", "failed", "documents", "kb_r_noise", "kb_evidence_loss", "floor", "ceiling"),
)


@dataclass(frozen=True, slots=True, order=True)
class System:
    """What a curve is of; empty where a stage has no such part."""

    chunker: str
    retriever: str
    generator: str

    @property
    def search(self) -> str:
        """How passages are found: chunker and retriever, of those that are told apart."""
        return " + ".join(part for part in (self.chunker, self.retriever) if part)


@dataclass(frozen=True, slots=True)
class Point:
    """A mean score at an amount of noise; scores in percent, nan where there is none.

    Args:
        x: amount of noise, pooled over replicates.
        least: smallest amount of a single replicate, as `most` is the largest.
        few: there are fewer than 10 documents.
    """

    x: float
    least: float
    most: float
    mean: float
    low: float
    high: float
    floor: float
    ceiling: float
    n: int
    failed: int
    documents: int
    few: bool

    @property
    def has_interval(self) -> bool:
        """Tell whether the documents were enough for an interval."""
        return not (isnan(self.low) or isnan(self.high))


@dataclass(frozen=True, slots=True)
class Curve:
    """One system under the levels of one noise; its points by rising amount of noise."""

    noise: str
    noise_type: str
    system: System
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything in one set of axes; curves of noise_type `none` are single points on the clean text."""

    stage: str
    group: str
    metric: str
    curves: tuple[Curve, ...]

    @property
    def systems(self) -> list[System]:
        """The systems of the curves, in order of first appearance."""
        return list(dict.fromkeys(curve.system for curve in self.curves))

    @property
    def points(self) -> list[Point]:
        """Every point of every curve."""
        return [point for curve in self.curves for point in curve.points]


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
    """Read a run's tables as panels, row by row; those without any point are left out.

    Raises:
        DataError: a table is missing, or is no run's table.
        NothingToDraw: no score stands beside a dose of that kind.
    """
    summary, doses = run_folder / "summary.csv", run_folder / "doses.csv"
    rows, levels = read_csv(summary), read_csv(doses)
    _check(summary, rows, _COLUMNS)
    _check(doses, levels, {"noise", "knob_value", *({axis} - {"condition"})})
    try:
        made = panels(_placed(rows), {}, axis) if axis == "condition" else panels(rows, spreads(levels, axis), axis)
    except ValueError as error:
        raise DataError(f"{summary}: cannot be read: {error}") from None
    if not made:
        named = [stage for stage in STAGES if stage != FOUND]
        raise NothingToDraw(f"{summary}: nothing to draw: no score of {', '.join(named)} with its {axis}")
    return made


def read_conditions(run_folder: Path) -> list[str]:
    """Name the conditions of a run, in the order of the axis `condition`."""
    return [" ".join(part for part in place if part) for place in _conditions(read_csv(run_folder / "summary.csv"))]


def _conditions(rows: Iterable[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["noise"], row["knob_value"]) for row in rows))


def _placed(rows: Sequence[Row]) -> list[Row]:
    places = {condition: place for place, condition in enumerate(_conditions(rows))}
    return [{**row, "kb_condition": str(places[row["noise"], row["knob_value"]])} for row in rows]


def _check(path: Path, rows: Sequence[Row], wanted: Iterable[str]) -> None:
    if not rows:
        raise DataError(f"{path}: has no rows")
    if missing := sorted(set(wanted) - set(rows[0])):
        raise DataError(f"{path}: is no table of a run: it has no column {', '.join(missing)}")


def spreads(doses: Iterable[Row], axis: Axis) -> Spread:
    """Collect the doses of the replicates of each noise and level."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in doses:
        if row[axis]:
            found[row["noise"], _level(row["knob_value"])].append(float(row[axis]))
    return found


def panels(rows: Sequence[Row], spread: Spread, axis: Axis) -> list[Panel]:
    """Arrange the rows of summary.csv in panels, stage by stage and group by group."""
    several = len({row["chunker"] for row in rows if row["chunker"]}) > 1
    made = []
    for stage, published in STAGES.items():
        held = [row for row in rows if row["stage"] == ("retrieval" if stage == FOUND else stage)]
        if stage == FOUND and not any(row["retriever"] and not row["chunker"] for row in held):
            continue  # nobody looks at pages
        metrics = [row["metric"] for row in held]
        if stage == FOUND and len(hits := {metric for metric in metrics if metric.startswith("hit@")}) == 1:
            published = hits.pop()  # all retrievers have one k
        metric = published if published in metrics or not metrics else metrics[0]
        for group in GROUPS:
            chosen = [row for row in held if row["metric"] == metric and row["evidence_source"] == group]
            if curves := _curves(chosen, spread, axis, several):
                made.append(Panel(stage, group, metric, curves))
    return made


def _curves(rows: Iterable[Row], spread: Spread, axis: Axis, several_chunkers: bool) -> tuple[Curve, ...]:
    found: dict[tuple[str, str, System], list[Point]] = defaultdict(list)
    for row in rows:
        point = _point(row, spread, axis)
        if not (isnan(point.x) or isnan(point.mean)):
            system = System(row["chunker"] if several_chunkers else "", row["retriever"], row["generator"])
            found[row["noise"], row["noise_type"], system].append(point)
    curves = [Curve(*place, tuple(sorted(points, key=lambda point: point.x))) for place, points in found.items()]
    clean = {curve.system: curve.points[0] for curve in reversed(curves) if curve.noise_type == "none"}
    return tuple(_from_clean(curve, clean) for curve in curves)


def _from_clean(curve: Curve, clean: Mapping[System, Point]) -> Curve:
    """Let formatting start at the clean text, which it edits; text that was recognised never was clean."""
    if curve.noise_type != "formatting" or curve.system not in clean:
        return curve
    points = sorted((clean[curve.system], *curve.points), key=lambda point: point.x)
    return replace(curve, points=tuple(points))


def _point(row: Row, spread: Spread, axis: Axis) -> Point:
    x, doses = _number(row[f"kb_{axis}"]), spread.get((row["noise"], _level(row["knob_value"])), ())
    doses = doses if len(doses) > 1 else ()  # a single draw has no spread, only another rounding
    documents = int(row["documents"])
    return Point(
        x=x,
        least=min((x, *doses)),
        most=max((x, *doses)),
        mean=100 * _number(row["mean"]),
        low=100 * _number(row["low"]),
        high=100 * _number(row["high"]),
        floor=100 * _number(row["floor"]),
        ceiling=100 * _number(row["ceiling"]),
        n=int(row["n"]),
        failed=int(row["failed"]),
        documents=documents,
        few=documents < FEW,
    )


def _number(cell: str) -> float:
    return float(cell) if cell else nan


def _level(cell: str) -> str:
    """Write a level in one way: one table may have 1.0 where another has 1."""
    try:
        return f"{float(cell):.6g}"
    except ValueError:
        return cell


def bounds(panel: Panel, which: Which, step: float = 2.0) -> list[Bound]:
    """Give a panel's floors or ceilings, each once: level, unless a system's are more than `step` percent apart."""
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
    curves = [
        [(point.x, point.floor if which == "floor" else point.ceiling) for point in curve.points]
        for curve in panel.curves
        if curve.system == system
    ]
    values = [value for curve in curves for _, value in curve if not isnan(value)]
    if not values:
        return []
    if max(values) - min(values) <= step:
        return [Bound(which, system, (), (sum(values) / len(values),))]
    long = [curve for curve in curves if len(curve) > 1] or curves
    return [Bound(which, system, tuple(x for x, _ in curve), tuple(y for _, y in curve)) for curve in long]


def counts(panel: Panel) -> str:
    """Say how many questions and documents are behind a panel, and how many questions failed at worst."""
    points = panel.points
    documents = _span([point.documents for point in points], "doc")
    if failed := max(point.failed for point in points):  # no room is left for a noun
        return f"n = {_span([point.n for point in points])} (≤ {failed:,} failed), {documents}"
    return f"n = {_span([point.n for point in points], 'question')}, {documents}"


def _span(values: Sequence[int], thing: str = "") -> str:
    low, high = min(values), max(values)
    most = counted(high, thing) if thing else f"{high:,}"
    return f"{low:,}–{most}" if low < high else most
