"""Means of a run's rows, replicates of a question first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ohr.metrics.intervals import Estimate, clustered_mean
from ohr.results.summary import strata_of

Row = Mapping[str, Any]

LEVEL = ("noise", "knob_value")
SYSTEM = ("chunker", "retriever", "generator")


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """Gather rows by the values of some columns, in order of first appearance."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[column] for column in columns)].append(row)
    return dict(found)


def estimate(rows: Sequence[Row], column: str = "value") -> Estimate:
    """Average a column over questions, with an interval over documents; replicates of a question count as one."""
    asked = list(grouped(rows, "question_id").values())
    values = [sum(row[column] for row in found) / len(found) for found in asked]
    documents, domains = [found[0]["document"] for found in asked], [found[0]["domain"] for found in asked]
    failed = sum(any(row["status"] == "failed" for row in found) for found in asked)
    return clustered_mean(values, documents, failed, strata=strata_of(documents, domains) if asked else None)


def named(columns: Sequence[str], place: Sequence[Any]) -> dict[str, Any]:
    """Write a group's place as the first cells of its row; `level` is the knob's value."""
    return {"level" if name == "knob_value" else name: value for name, value in zip(columns, place, strict=True)}
