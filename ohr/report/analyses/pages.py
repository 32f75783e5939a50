"""Analyses of pages: how edit distances are spread, and how often blocks have errors."""

from typing import Any

from ohr.metrics.blocks import COUNTS
from ohr.metrics.realism import QUANTILES
from ohr.noise_files.page_statistics import page_statistics
from ohr.noise_files.stats import of_run
from ohr.results.run import Run


def edit_distances(run: Run) -> list[dict[str, Any]]:
    """Return the distribution of pages' edit distances for each knowledge base (OHRBench, Fig. S2).

    Raises: as `page_statistics`.
    """
    page_statistics(run)  # refuses a run without clean pages
    return [
        {
            "kb": stats.kb,
            "pages": stats.pages,
            "mean": stats.distances.mean,
            **{f"q{round(100 * at)}": value for at, value in zip(QUANTILES, stats.distances.quantiles, strict=True)},
            "histogram": stats.distances.histogram,
        }
        for stats in of_run(run)
    ]


def noise_ratios(run: Run) -> list[dict[str, Any]]:
    """Return the shares of matching blocks with errors, and redundant commands per page (OHRBench, Table S3).

    Raises:
        DataError: the table of pages is missing or damaged; or as `page_statistics`.
    """
    level, counted = ["noise", "knob_value"], [*COUNTS, "redundant"]
    table = run.table("pages", level).unify_dictionaries()
    measured = page_statistics(run)
    for name in counted:
        table = table.append_column(name, measured[name])
    sums = [(name, "sum") for name in counted]
    totals = table.group_by(level, use_threads=False).aggregate([*sums, ([], "count_all")])
    return [_ratios(row) for row in totals.to_pylist()]


def _ratios(total: dict[str, Any]) -> dict[str, Any]:
    def share(parts: tuple[str, ...], whole: str) -> float:
        count = sum(value for name, value in total.items() if name.startswith(whole))
        return sum(total[f"{part}_sum"] for part in parts) / count if count else float("nan")

    return {
        "noise": total["noise"],
        "level": total["knob_value"],
        "pages": total["count_all"],
        "matched": share(("matched_text", "matched_formula", "matched_table"), "blocks"),
        "text_errors": share(("text_errors_text",), "matched_text"),
        "formula_text_errors": share(("text_errors_formula",), "matched_formula"),
        "formula_structure_errors": share(("structure_errors_formula",), "matched_formula"),
        "table_text_errors": share(("text_errors_table",), "matched_table"),
        "table_structure_errors": share(("structure_errors_table",), "matched_table"),
        "redundant_commands": total["redundant_sum"] / total["count_all"],
    }
