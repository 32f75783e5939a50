"""Robustness of each pipeline in one number, read from the table of curves."""

from math import isnan
from typing import Any

from ohr.results.run import Run
from ohr.results.tables.groups import ALL


def robustness(run: Run) -> list[dict[str, Any]]:
    """Return the summaries of every curve over all questions; of undefined ones only areas, whose note says why.

    Raises:
        DataError: the table of curves is missing or damaged.
    """
    rows = run.rows("curves", group=ALL)
    chunker = ("chunker",) if len({row["chunker"] for row in rows} - {None}) > 1 else ()
    names = ("stage", "noise", *chunker, "retriever", "generator", "axis", "quantity", "other", "value", "low", "high")
    return [
        {
            **{name: row[name] for name in names},
            "without one document": ""
            if isnan(row["range_low"])
            else f"{row['range_low']:.2f} to {row['range_high']:.2f}",
            "over": "" if isnan(row["from"]) else f"{row['from']:.2f} to {row['to']:.2f}",
            "note": row["note"],
        }
        for row in rows
        if row["axis"] and (row["quantity"] == "area" or not isnan(row["value"]))
    ]
