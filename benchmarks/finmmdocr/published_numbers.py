"""The numbers that were published for FinMMDocR, shipped as they were printed in `published/`."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ohr.contracts import Published
from ohr.files.printed import PrintedTables

from .grouping import Group, label

_LABELS = ("system", "input", "setting", "warning")
_RETRIEVAL = {
    "golden_k": "golden_k",
    "mrr@20": "mrr_at_20",
    "recall@20": "recall_at_20",
    "mrr@10": "mrr_at_10",
    "recall@10": "recall_at_10",
}
"""Columns that are metrics, by which name ohr has them; the headline, by which systems are ranked, is last. All other
columns are groups of `pot_accuracy`, such as `doc_length:<=30`."""

_PRINTED = PrintedTables(__package__)
rows = _PRINTED.rows


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read all tables, in the order of `tables.yaml`; shares are in [0, 1], golden_k is in pages.

    The setting of a number names the kind of input.
    """
    return tuple(number for table in _PRINTED.tables for number in _numbers(table))


def group_sizes() -> dict[tuple[str, str], int]:
    """Return the number of questions of each group, by dimension and name; they were recovered from percentages."""
    return {(row["dimension"], row["group"]): int(row["n"]) for row in rows(_PRINTED.about["groups"]["file"])}


def _numbers(table: Mapping[str, Any]) -> Iterator[Published]:
    for row in rows(table["file"]):
        columns = [column for column in row if column not in (*_LABELS, *_RETRIEVAL)]
        for column in (*_RETRIEVAL, *columns):
            if not row.get(column):
                continue
            dimension, _, name = column.partition(":")
            yield Published(
                system=row["system"],
                stage=table["stage"],
                metric=_RETRIEVAL.get(column, "pot_accuracy"),
                group="=".join(label(Group(dimension, name))) if name else "all",
                value=float(row[column]) if column == "golden_k" else round(float(row[column]) / 100, 4),
                setting="; ".join(part for part in (row["input"], row["setting"]) if part),
                table=f"{table['table']}, {table['source']}, {table['date']}",
                main=bool(table.get("main")),
                unit="number" if column == "golden_k" else "share",
                warning=row["warning"],
            )
