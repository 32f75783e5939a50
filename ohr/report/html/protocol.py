"""The tables of the page that a benchmark's protocol adds: scores of pages, facts that are left, and aggregates."""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from ohr.report.headlines import interval
from ohr.report.html.sheets import Sheet, cell, of_rows, pipeline
from ohr.results.derived.aggregates import read_aggregates
from ohr.results.derived.survival import STEPS, pipelines, read_survival
from ohr.results.tables.groups import ALL
from ohr.results.tables.read_table import read_rows

Row = Mapping[str, Any]


def sheets(folder: Path, manifest: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables; those without rows are left out."""
    names = manifest["protocol"].get("page") or ()
    found = [
        _facts(read_survival(folder)),
        _pages(folder, names) if names else None,
        _aggregates(read_aggregates(folder)),
    ]
    return [sheet for sheet in found if sheet is not None]


def _pages(folder: Path, names: Sequence[str]) -> Sheet | None:
    rows = [row for row in read_rows(folder / "summary.parquet", stage="page") if row["metric"] in names and row["n"]]
    own = [row for row in rows if row["group"] == ALL or row["by"] != "evidence_source"]
    shown: dict[tuple[str, str], dict[str, Any]] = {}
    for row in own:
        group = ALL if row["group"] == ALL else f"{row['by']}: {row['group']}"
        line = shown.setdefault(
            (row["condition"], group), {"condition": row["condition"], "group": group, "n": row["n"]}
        )
        line[row["metric"]] = interval(row["mean"], row["low"], row["high"])
    how = "Scores of the text of the pages, without any retriever, with 95% intervals over documents."
    columns = {"condition": "condition", "group": "questions", **{name: name for name in names}, "n": "n"}
    return of_rows("Pages", how, list(shown.values()), columns) if shown else None


def _facts(rows: Sequence[Row]) -> Sheet | None:
    shown = [
        {"condition": condition, "pipeline": " + ".join(filter(None, place))}
        | {step: interval(row["mean"], row["low"], row["high"]) for step, row in held.items()}
        for place, conditions in pipelines(rows).items()
        for condition, held in conditions.items()
    ]
    how = (
        "The share of the questions' facts that is left: on the page as it was read, in a chunk that does not cut "
        "them, in the retrieved chunks of their page, in the answer."
    )
    columns = {"condition": "condition", "pipeline": "pipeline", **STEPS}
    return of_rows("Facts that are left", how, shown, columns) if shown else None


def _aggregates(rows: Sequence[Row]) -> Sheet | None:
    shown = tuple(
        (
            row["stage"],
            row["condition"],
            pipeline(row),
            row["name"],
            interval(row["value"], row["low"], row["high"]),
            interval(row["ratio"], row["ratio_low"], row["ratio_high"]),
            "" if isnan(row["ratio"]) else row["ratio_of"],
            cell(row["n"]),
            cell(row["failed"]),
            row["source"] or "",
        )
        for row in rows
        if row["n"]
    )
    headers = ("stage", "condition", "pipeline", "number", "value", "share", "share of", "n", "failed", "about")
    how = "More than a mean. Share: divided by the value on a condition without noise, over the same questions."
    return Sheet("Aggregates", how, headers, shown) if shown else None
