"""The cost of each part of a noise, read from a run's folder: the table of its attribution."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.cli.display.console import say, say_table, with_interval
from ohr.results.tables.groups import ALL, STAGES

Row = Mapping[str, Any]

_METHODS = {"leave_one_out": "left out", "shapley": "share of"}
_PIPELINE = ("stage", "metric", "chunker", "retriever", "generator")

LEGEND = (
    "cost: what a part adds to r_noise, and takes from a score; ± 95% interval over documents\n"
    "left out: what is gained without it; share of: its Shapley share, where every set of parts aims at as many edits"
)


def print_costs(folder: Path) -> None:
    """Print the cost of each part of a noise, where the run has estimated it."""
    if rows := read_costs(folder):
        say()
        say_table(*as_table(rows))
        say(LEGEND)


def read_costs(folder: Path) -> list[Row]:
    """Read a run's costs over all questions: of the damage, and of each stage's headline score; none without any."""
    from ohr.results.folder.run_folder import headlines, read_finished
    from ohr.results.tables.read_table import read_rows

    path = folder / "attribution.parquet"
    if not path.is_file():
        return []
    headline = {"page": "damaged", **headlines(read_finished(folder))}
    return [row for row in read_rows(path, evidence_source=ALL) if row["metric"] == headline.get(row["stage"])]


def as_table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Arrange costs: a line for each method and part, a column for the damage and for each pipeline."""
    stages = ("page", *STAGES)
    pipelines = sorted(dict.fromkeys(map(_pipeline, rows)), key=lambda pipeline: stages.index(pipeline[0]))
    cells = {(_part(row), _pipeline(row)): _cost(row) for row in rows}
    lines = [
        [level, _METHODS.get(method, method), part, *(cells.get(((level, method, part), p), "") for p in pipelines)]
        for level, method, part in dict.fromkeys(map(_part, rows))
    ]
    return ["noise", "", "part", *map(_header, pipelines)], lines


def _part(row: Row) -> tuple[str, str, str]:
    return row["condition"], row["method"], row["part"]


def _pipeline(row: Row) -> tuple[str, ...]:
    return tuple(row[name] or "" for name in _PIPELINE)


def _header(pipeline: tuple[str, ...]) -> str:
    stage, metric, _, *parts = pipeline
    return "r_noise" if stage == "page" else f"{stage}\n{' '.join((metric, '/'.join(filter(None, parts)))).strip()}"


def _cost(row: Row) -> str:
    return with_interval(row["cost"], row["low"], row["high"])
