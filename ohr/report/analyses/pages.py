"""Analyses of pages: how edit distances are spread, and how often blocks have errors."""

from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.metrics.realism import QUANTILES
from ohr.report.analyses.rows import LEVEL, grouped, named
from ohr.results.folder import read_table
from ohr.workbench.stats import of_run


def edit_distances(folder: Path) -> list[dict[str, Any]]:
    """Give the distribution of pages' edit distances for each knowledge base (OHRBench, Fig. S2)."""
    return [
        {
            "kb": stats.kb,
            "pages": stats.pages,
            "mean": stats.distances.mean,
            **{f"q{round(100 * at)}": value for at, value in zip(QUANTILES, stats.distances.quantiles, strict=True)},
            "histogram": stats.distances.histogram,
        }
        for stats in of_run(folder)
    ]


def noise_ratios(folder: Path) -> list[dict[str, Any]]:
    """Give the shares of matching blocks with errors, and redundant commands per page (OHRBench, Table S3).

    Raises:
        DataError: the run is older than these counts.
    """
    rows = read_table(folder / "pages.parquet")
    if rows and "matched_text" not in rows[0]:
        raise DataError(f"{folder}: this run has no counts of blocks; run it again")
    found = []
    for place, held in grouped(rows, *LEVEL).items():
        total = {name: sum(row[name] for row in held) for name in held[0] if name.startswith(_COUNTED)}
        found.append(
            {
                **named(LEVEL, place),
                "pages": len(held),
                "matched": _share(total, ("matched_text", "matched_formula", "matched_table"), "blocks"),
                "text_errors": _share(total, ("text_errors_text",), "matched_text"),
                "formula_text_errors": _share(total, ("text_errors_formula",), "matched_formula"),
                "formula_structure_errors": _share(total, ("structure_errors_formula",), "matched_formula"),
                "table_text_errors": _share(total, ("text_errors_table",), "matched_table"),
                "table_structure_errors": _share(total, ("structure_errors_table",), "matched_table"),
                "redundant_commands": sum(row["redundant"] for row in held) / len(held),
            }
        )
    return found


_COUNTED = ("blocks_", "matched_", "text_errors_", "structure_errors_")


def _share(total: dict[str, int], parts: tuple[str, ...], whole: str) -> float:
    count = sum(value for name, value in total.items() if name.startswith(whole))
    return sum(total[part] for part in parts) / count if count else float("nan")
