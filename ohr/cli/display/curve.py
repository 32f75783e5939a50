"""A run's headline: performance against noise, read from its folder."""

from collections.abc import Sequence
from math import isnan

from ohr.messages.wording import counted
from ohr.report.views.view import Interval
from ohr.results.derived.points import Point
from ohr.results.run import Run
from ohr.results.tables.groups import STAGES

__all__ = ["STAGES", "Point", "as_table", "legend", "read_curve"]


def read_curve(run: Run) -> list[Point]:
    """Read the points of a run's curves over all questions: headline metrics, and those that the spec names."""
    from ohr.results.derived.points import read_points
    from ohr.results.tables.groups import ALL

    shown = run.shown_metrics
    return [point for point in read_points(run, group=ALL) if point.metric in shown[point.stage]]


def as_table(points: Sequence[Point]) -> tuple[list[str], list[list[str]]]:
    """Arrange points: a line for each level, a column for each pipeline."""
    pipelines = sorted(dict.fromkeys(map(_pipeline, points)), key=lambda pipeline: STAGES.index(pipeline[0]))
    several = [len({pipeline[part] for pipeline in pipelines if pipeline[part]}) > 1 for part in range(5)]
    # a benchmark without ground truth or evidence has no dose
    doses = [
        (name, key)
        for name, key in (("r_noise", "r_noise"), ("evidence\nloss", "evidence_loss"))
        if not all(isnan(getattr(point, key)) for point in points)
    ]
    headers = ["noise", "level", *(name for name, _ in doses)]
    headers += [_header(pipeline, chunker=several[2], generator=several[4]) for pipeline in pipelines]
    failing = any(point.failed for point in points)
    rows = []
    for noise, level in dict.fromkeys((point.noise, point.level) for point in points):
        here = {_pipeline(point): point for point in points if (point.noise, point.level) == (noise, level)}
        first = next(iter(here.values()))
        cells = [_mean(here[pipeline]) if pipeline in here else "" for pipeline in pipelines]
        failed = [str(max(point.failed for point in here.values()))] if failing else []
        rows.append([noise, level, *(_number(getattr(first, key)) for _, key in doses), *cells, *failed])
    return headers + (["failed\nquestions"] if failing else []), rows


def legend(points: Sequence[Point]) -> str:
    """Return the numbers of questions and documents behind the table, and how its intervals are made."""
    if not points:
        return ""
    first = max(points, key=lambda point: point.n)
    interval = "± 95% interval over documents" if not isnan(first.low) else "no intervals: fewer than 5 documents"
    note = f" ({first.note})" if first.note == "few documents" else ""
    counts: dict[int, list[str]] = {}  # questions without evidence count for answers, but not for retrieval
    for point in (point for point in points if point.n):
        stages = counts.setdefault(point.n, [])
        stages += [point.stage] * (point.stage not in stages)
    documents = counted(first.documents, "document")
    if len(counts) < 2:
        return f"n = {counted(first.n, 'question')} in {documents}; {interval}{note}"
    (n, stages), *others = counts.items()
    parts = [f"{counted(n, 'question')} in {' and '.join(stages)}"]
    parts += [f"{other} in {' and '.join(stages)}" for other, stages in others]
    return f"n = {', '.join(parts)}; {documents}; {interval}{note}"


def _pipeline(point: Point) -> tuple[str, str, str, str, str]:
    return point.stage, point.metric, point.chunker, point.retriever, point.generator


def _header(pipeline: tuple[str, str, str, str, str], *, chunker: bool, generator: bool) -> str:
    stage, metric, *parts = pipeline
    shown = [part for part, wanted in zip(parts, (chunker, True, generator), strict=True) if wanted and part]
    return "\n".join((stage, " ".join((metric, "/".join(shown))).strip()))


def _mean(point: Point) -> str:
    return Interval(point.mean, point.low, point.high).short()


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.2f}"
