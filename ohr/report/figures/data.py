"""From a run's tables to the curves of its figures; nothing here draws."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from types import MappingProxyType

from ohr.errors import DataError
from ohr.report.figures.panels import COLUMNS, FOUND, ROWS, Axis, Curve, Mark, NothingToDraw, Panel, System
from ohr.results.derived.losses import Point, read_points
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES

Doses = Mapping[str, Sequence[float]]
"""Condition to where it is on the x axis: the dose of each replicate."""
Criticals = Mapping[tuple[str, ...], float]
"""Critical values of curves, by the columns that name a curve."""

_CURVE = ("stage", "noise", "chunker", "retriever", "generator", "metric", "group")


def read_panels(run: Run, axis: Axis, metric: str | None = None, columns: Sequence[str] = COLUMNS) -> list[Panel]:
    """Read a run's tables as panels, row by row; those without any mark are left out.

    Args:
        run: to read.
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
        doses: Doses = {condition: [float(place)] for place, condition in enumerate(_conditions(run))}
    else:
        drawn: dict[str, list[float]] = defaultdict(list)
        for row in run.rows("doses", ["condition", axis]):
            drawn[row["condition"]].append(row[axis])
        doses = drawn
    rows = metric_rows(points, run.headlines, metric)
    made = panels(points, doses, axis, rows, _read_criticals(run), run.agent_labels)
    if not made:
        path = run.path("summary")
        raise NothingToDraw(f"{path}: nothing to draw: no score of {', '.join(STAGES)} with its {axis}")
    return made


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
        points: of a summary.
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
        wanted = hits[0] if len(hits) == 1 and "recall@shown" not in known[STAGES[0]] else "mrr"
        rows[FOUND] = wanted if wanted in known[STAGES[0]] else known[STAGES[0]][0]
    return {row: rows[row] for row in ROWS if row in rows}


def stage_of(row: str) -> str:
    """Name the stage that a row of a figure shows."""
    return STAGES[0] if row == FOUND else row


def _read_criticals(run: Run) -> Criticals:
    """Read the critical value of each curve; none in a run without curves."""
    found = run.rows_if_any("curves", [*_CURVE, "value"], quantity="critical")
    return {tuple(row[name] or "" for name in _CURVE): row["value"] for row in found}


def read_conditions(run: Run) -> list[str]:
    """Name the conditions of a run, in the order of the axis `condition`."""
    return list(_conditions(run).values())


def _conditions(run: Run) -> dict[str, str]:
    rows = run.rows("doses", ["condition", "noise", "knob_value"])
    return {row["condition"]: " ".join(filter(None, (row["noise"], row["knob_value"]))) for row in rows}


def panels(
    points: Sequence[Point],
    doses: Doses,
    axis: Axis,
    rows: Mapping[str, str],
    criticals: Criticals = MappingProxyType({}),
    labels: Mapping[str, str] = MappingProxyType({}),
) -> list[Panel]:
    """Arrange points in panels, row by row and group by group.

    Args:
        points: of a summary.
        doses: of its conditions.
        axis: which dose they are.
        rows: row to the metric that it shows.
        criticals: critical values of the curves.
        labels: of agents, by name.
    """
    several = len({point.chunker for point in points if point.chunker}) > 1
    made = []
    for row, metric in rows.items():
        for group in COLUMNS:
            key = (stage_of(row), metric, group)
            chosen = [point for point in points if (point.stage, point.metric, point.group) == key]
            if curves := _curves(chosen, doses, axis, several, criticals, labels):
                made.append(Panel(row, group, metric, curves))
    return made


def _curves(
    points: Iterable[Point],
    doses: Doses,
    axis: Axis,
    several_chunkers: bool,
    criticals: Criticals,
    labels: Mapping[str, str],
) -> tuple[Curve, ...]:
    found: dict[tuple[str, str, System], list[Mark]] = defaultdict(list)
    wide: dict[tuple[str, str, System], float] = {}
    for point in points:
        mark = _mark(point, doses.get(point.condition, ()), axis)
        if not (isnan(mark.x) or isnan(mark.mean)):
            system = System.of(point, labels, chunker=several_chunkers)
            found[point.noise, point.noise_type, system].append(mark)
            named = tuple(getattr(point, name) for name in _CURVE)
            wide[point.noise, point.noise_type, system] = criticals.get(named, nan)
    curves = [Curve(*of, tuple(sorted(marks, key=lambda mark: mark.x)), wide[of]) for of, marks in found.items()]
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
