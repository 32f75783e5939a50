"""A run's headline: performance against noise, read from its folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

from ohr.cli.display.console import with_interval
from ohr.messages.wording import counted

STAGES = ("retrieval", "generation", "overall")


@dataclass(frozen=True, slots=True)
class Point:
    """One level of noise through one pipeline.

    Args:
        level: the value of the knob, "" where there is no noise.
        metric: the benchmark's headline metric of the stage, or one that the spec names.
        low: of the 95% interval over documents; nan where there are too few documents.
    """

    noise: str
    level: str
    r_noise: float
    evidence_loss: float
    stage: str
    metric: str
    chunker: str
    retriever: str
    generator: str
    mean: float
    low: float
    high: float
    n: int
    documents: int
    failed: int
    note: str


def read_curve(folder: Path) -> list[Point]:
    """Read the points of a run's curves, over all questions."""
    from ohr.results.folder import read_csv, read_manifest

    manifest = read_manifest(folder)
    protocol, further = manifest["protocol"], {entry["name"] for entry in manifest["spec"].get("metrics", ())}
    headline = dict(zip(STAGES, (protocol["retrieval"], protocol["answer"][0], protocol["answer"][0]), strict=True))
    rows = [row for row in read_csv(folder / "summary.csv") if row["evidence_source"] == "all"]
    return [_point(row) for row in rows if row["metric"] in {headline.get(row["stage"]), *further}]


def _point(row: Mapping[str, str]) -> Point:
    text = {name: row[name] for name in ("noise", "stage", "metric", "chunker", "retriever", "generator", "note")}
    numbers = {name: float(row[name] or nan) for name in ("r_noise", "evidence_loss", "mean", "low", "high")}
    counts = {name: int(row[name]) for name in ("n", "documents", "failed")}
    return Point(level=row["knob_value"], **text, **numbers, **counts)  # type: ignore[arg-type] # names match types


def as_table(points: Sequence[Point]) -> tuple[list[str], list[list[str]]]:
    """Lay points out: a line for each level, a column for each pipeline."""
    pipelines = sorted(dict.fromkeys(map(_pipeline, points)), key=lambda pipeline: STAGES.index(pipeline[0]))
    several = [len({pipeline[part] for pipeline in pipelines if pipeline[part]}) > 1 for part in range(5)]
    headers = ["noise", "level", "r_noise", "evidence\nloss"]
    headers += [_header(pipeline, chunker=several[2], generator=several[4]) for pipeline in pipelines]
    failing = any(point.failed for point in points)
    rows = []
    for noise, level in dict.fromkeys((point.noise, point.level) for point in points):
        here = {_pipeline(point): point for point in points if (point.noise, point.level) == (noise, level)}
        first = next(iter(here.values()))
        cells = [_mean(here[pipeline]) if pipeline in here else "" for pipeline in pipelines]
        failed = [str(max(point.failed for point in here.values()))] if failing else []
        rows.append([noise, level, _number(first.r_noise), _number(first.evidence_loss), *cells, *failed])
    return headers + (["failed"] if failing else []), rows


def legend(points: Sequence[Point]) -> str:
    """Say what the numbers of the table rest on."""
    if not points:
        return ""
    first = points[0]
    interval = "± 95% interval over documents" if not isnan(first.low) else "no intervals: fewer than 5 documents"
    note = f" ({first.note})" if first.note == "few documents" else ""
    counts: dict[int, list[str]] = {}  # questions without evidence count for answers, but not for retrieval
    for point in points:
        stages = counts.setdefault(point.n, [])
        stages += [point.stage] * (point.stage not in stages)
    documents = counted(first.documents, "document")
    if len(counts) == 1:
        return f"n = {counted(first.n, 'question')} in {documents}; {interval}{note}"
    (n, stages), *others = counts.items()
    told = [f"{counted(n, 'question')} in {' and '.join(stages)}"]
    told += [f"{other} in {' and '.join(stages)}" for other, stages in others]
    return f"n = {', '.join(told)}; {documents}; {interval}{note}"


def _pipeline(point: Point) -> tuple[str, str, str, str, str]:
    return point.stage, point.metric, point.chunker, point.retriever, point.generator


def _header(pipeline: tuple[str, str, str, str, str], *, chunker: bool, generator: bool) -> str:
    stage, metric, *parts = pipeline
    shown = [part for part, wanted in zip(parts, (chunker, True, generator), strict=True) if wanted and part]
    return "\n".join((stage, " ".join((metric, "/".join(shown))).strip()))


def _mean(point: Point) -> str:
    return with_interval(point.mean, point.low, point.high)


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.2f}"
