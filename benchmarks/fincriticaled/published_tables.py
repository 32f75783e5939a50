"""The tables that were published for FinCriticalED, shipped as they were printed in `published/`."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ohr.contracts import Published
from ohr.files.printed import PrintedTables

_LABELS = ("system", "kind")
_NAMES = {"success_rate": "coverage"}
_MAIN = ("rouge1", "rougeL", "edit_distance", "ffa")
"""Metrics of the README's table; those that a run has, too, are in a system's row among the published ones."""
_DOCUMENTS = ("legal", "statements", "sec_filings", "tax_forms", "transaction_records")

_PRINTED = PrintedTables(__package__)
rows = _PRINTED.rows


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read all tables, in the order of `tables.yaml`; values are shares in [0, 1].

    FFA's groups are `all`, the types of facts as `type=Number`, and the types of documents, which are domains.
    """
    return tuple(number for table in _PRINTED.tables for number in _numbers(table))


def _numbers(table: Mapping[str, Any]) -> Iterator[Published]:
    for row in rows(table["file"]):
        for column, printed in row.items():
            if column in _LABELS or not printed:
                continue
            metric, group = _metric(column)
            warnings: Mapping[str, str] = table.get("warnings", {})
            yield Published(
                system=row["system"],
                stage="page",
                metric=metric,
                group=group,
                value=round(float(printed) / 100, 6),
                setting=table["setting"],
                table=f"{table['table']}, {table['source']}, {table['date']}",
                main=bool(table.get("main")) and metric in _MAIN,
                warning=warnings.get(row["system"], "") if metric == "ffa" else "",
            )


def _metric(column: str) -> tuple[str, str]:
    """Return the metric and the group of a column."""
    if column.endswith("missing_rate"):
        return "missing_rate", _group(column.removesuffix("missing_rate").rstrip("_"))
    if column in _MAIN or column in _NAMES:
        return _NAMES.get(column, column), "all"
    return "ffa", _group(column)


def _group(name: str) -> str:
    """Return a type of facts as a group, `type=Monetary Unit` for `monetary_unit`; types of documents are domains."""
    if name in ("", "all"):
        return "all"
    return name if name in _DOCUMENTS else f"type={name.replace('_', ' ').title()}"
