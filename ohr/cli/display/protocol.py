"""The numbers of a benchmark's protocol that are no mean of a stage's headline: pages, facts and aggregates."""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from ohr.cli.display.console import say, say_table, with_interval
from ohr.results.derived.survival import STEPS, pipelines

Row = Mapping[str, Any]

LEGEND = (
    "facts: the share of the questions' facts that is left on the page as it was read, in a chunk that does not cut\n"
    "them, in the retrieved chunks of their page, and in the answer; x 100, ± 95% interval over documents"
)


def print_protocol(folder: Path) -> None:
    """Print the scores of pages, the survival of facts, and the aggregates of a run, where it has some."""
    from ohr.results.derived.aggregates import read_aggregates
    from ohr.results.derived.survival import read_survival
    from ohr.results.folder.run_folder import read_manifest
    from ohr.results.tables.groups import ALL
    from ohr.results.tables.read_table import read_rows

    names = read_manifest(folder)["protocol"].get("page") or ()
    rows = read_rows(folder / "summary.parquet", stage="page", by="evidence_source", group=ALL)
    if table := pages(rows, names):
        say()
        say_table(*table)
    if rows := read_survival(folder):
        say()
        say_table(*facts(rows))
        say(LEGEND)
    if rows := read_aggregates(folder):
        say()
        say_table(*aggregates(rows))


def pages(rows: Sequence[Row], names: Sequence[str]) -> tuple[list[str], list[list[str]]] | None:
    """Arrange the scores of pages: a line for each condition, a column for each metric; None without any."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["metric"] in names and row["n"]:
            found.setdefault(row["condition"], {})[row["metric"]] = percent(row["mean"], row["low"], row["high"])
    if not found:
        return None
    lines = [[condition, *(held.get(name, "") for name in names)] for condition, held in found.items()]
    return ["pages, x 100", *names], lines


def facts(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Arrange the survival of facts: a line for each condition and pipeline, a column for each step."""
    steps = [step for step in STEPS if any(row["step"] == step for row in rows)]
    lines = [
        [condition, " / ".join(filter(None, place)), *(_left(held.get(step)) for step in steps)]
        for place, conditions in pipelines(rows).items()
        for condition, held in conditions.items()
    ]
    return ["facts left", "pipeline", *(STEPS[step] for step in steps)], lines


def _left(row: Row | None) -> str:
    return percent(row["mean"], row["low"], row["high"]) if row else ""


def aggregates(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Arrange aggregates: a line for each stage, pipeline and number, a column for each condition.

    A number that is compared with a condition without noise has a further line: the share of it that is left, x 100.
    """
    shown = [row for row in rows if row["n"] and not isnan(row["value"])]
    conditions = list(dict.fromkeys(row["condition"] for row in shown))
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in shown:
        place = row["stage"], " / ".join(filter(None, (row["chunker"], row["retriever"], row["generator"])))
        found.setdefault((*place, row["name"]), {})[row["condition"]] = _value(row)
        left = found.setdefault((*place, f"{row['name']}, share of {row['ratio_of']}"), {})
        if not isnan(row["ratio"]):
            left[row["condition"]] = percent(row["ratio"], row["ratio_low"], row["ratio_high"])
    lines = [[*place, *(held.get(name, "") for name in conditions)] for place, held in found.items() if held]
    return ["stage", "pipeline", "number", *conditions], lines


def _value(row: Row) -> str:
    shown = (percent if row["unit"] == "share" else with_interval)(row["value"], row["low"], row["high"])
    return f"{shown} ({row['failed']} failed)" if row["failed"] else shown


def percent(mean: float, low: float, high: float) -> str:
    """Write a share x 100 with its interval."""
    return with_interval(100 * mean, 100 * low, 100 * high)
