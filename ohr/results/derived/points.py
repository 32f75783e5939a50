"""The points of a run's curves, read from its summary: what its table and its figures show."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import nan

from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES


@dataclass(frozen=True, slots=True)
class Point:
    """One level of noise through one pipeline, for one group of evidence sources.

    Args:
        noise: name of the entry in the spec; its levels make a curve.
        level: the value of the knob, "" where there is no noise.
        r_noise: of all questions, as is `evidence_loss`, whatever the group.
        chunker: "" where the stage has none, as are the other parts.
        low: of the 95% interval over documents; nan where there are too few documents.
        n: questions in the mean.
        condition: the level of the noise, whatever the replicate.
        group: of evidence sources.
        floor: nan where there is none, as is `ceiling`.
        df: degrees of freedom of the interval.
        interval: how it was made, as in `ohr.statistics.estimate.Estimate`.
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
    condition: str = ""
    noise_type: str = "none"
    group: str = ALL
    floor: float = nan
    ceiling: float = nan
    df: float = nan
    interval: str = ""


_NAMES = {"level": "knob_value", "r_noise": "kb_r_noise", "evidence_loss": "kb_evidence_loss"}
"""Fields of a point whose column in the summary has another name."""


def read_points(run: Run, **equal: str) -> list[Point]:
    """Read the points of the stages that a spec evaluates, in the order of the summary.

    Args:
        run: to read.
        equal: column of the summary to the value that it must have, such as `group="all"`.

    Raises:
        DataError: the summary is missing or damaged.
    """
    columns = {field.name: _NAMES.get(field.name, field.name) for field in fields(Point)}
    rows = run.once(run.rows("summary", list(columns.values()), by="evidence_source", **equal))
    made = ({name: "" if row[column] is None else row[column] for name, column in columns.items()} for row in rows)
    return [Point(**values) for values in made if values["stage"] in STAGES]  # type: ignore[arg-type] # the schema's types


def has_sweep(conditions: Iterable[tuple[str, str]]) -> bool:
    """Report whether any noise has several levels: its conditions are a curve, not a list of engines.

    Args:
        conditions: noise and condition of each point, without conditions that were only repeated.
    """
    levels: dict[str, set[str]] = defaultdict(set)
    for noise, condition in conditions:
        levels[noise].add(condition)
    return any(len(held) > 1 for held in levels.values())
