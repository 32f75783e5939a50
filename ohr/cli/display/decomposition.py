"""The loss to noise split by stage, read from a run's folder: the table of its decomposition."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.cli.display.console import say, say_table, with_interval
from ohr.results.derived.decomposition import Row, read_headlines, varying

COLUMNS = {
    "total": "total\nloss",
    "index_alone": "noisy index\nalone",
    "reading_alone": "noisy reading\nalone",
    "gain_of_repairing_index": "gain: clean\nindex",
    "gain_of_repairing_reading": "gain: clean\nreading",
    "overlap": "overlap",
}
"""Quantities of the table, and their headers."""

LEGEND = (
    "alone: the loss if only the index, or only the text that is read, were noisy; gain: what a clean index, or clean\n"
    "reading, brings back; overlap: the loss that comes back only with both; ± 95% interval over documents"
)


def print_decomposition(folder: Path) -> None:
    """Print the losses of a run by stage, over all questions, where its spec asked for them."""
    if rows := read_headlines(folder):
        say()
        say_table(*as_table(rows))
        say(LEGEND)


def as_table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Arrange losses: a line for each condition and pipeline, a column for each quantity."""
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    shown = varying(rows, "chunker", "retriever", "generator")
    for row in rows:
        parts = "/".join(filter(None, (row[name] for name in shown)))
        found.setdefault((row["stage"], row["metric"], row["condition"], parts), {})[row["quantity"]] = row
    lines = [[*place, *(_shown(quantities[name]) for name in COLUMNS)] for place, quantities in found.items()]
    return ["stage", "metric", "condition", "pipeline", *COLUMNS.values()], lines


def _shown(row: Mapping[str, Any]) -> str:
    return with_interval(row["value"], row["low"], row["high"])
