"""Structured analyses of a run: those of the paper, and the confused words. Each takes its folder and returns rows."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ohr.noise_files.page_statistics import NothingToCompare
from ohr.report.analyses.confusions import confusions
from ohr.report.analyses.pages import edit_distances, noise_ratios
from ohr.report.analyses.questions import error_classes, formatting_lcs, r_noise, table_formats
from ohr.report.analyses.robustness import robustness
from ohr.results.derived.fact_survival import STEPS, pipelines, read_survival
from ohr.results.derived.rater_agreement import agreement
from ohr.results.run import Run

Rows = list[dict[str, Any]]


def survival(run: Run) -> Rows:
    """Return the share of facts that is left, a row for each condition and whole pipeline, a column for each step."""
    return [
        {"condition": condition, "pipeline": " / ".join(filter(None, place))}
        | {words: held[step]["mean"] if step in held else None for step, words in STEPS.items()}
        for place, conditions in pipelines(read_survival(run)).items()
        for condition, held in conditions.items()
    ]


ANALYSES: Mapping[str, Callable[[Run], Rows]] = {
    "r_noise": r_noise,
    "formatting_lcs": formatting_lcs,
    "table_formats": table_formats,
    "error_classes": error_classes,
    "confusions": confusions,
    "edit_distances": edit_distances,
    "noise_ratios": noise_ratios,
    "robustness": robustness,
    "survival": survival,
    "agreement": agreement,
}
"""By name."""

__all__ = ["ANALYSES", "analysed", "noise_ratios", "report_data"]


def report_data(run: Run) -> dict[str, Rows]:
    """Do every analysis of a run; one that has nothing to say, or no clean pages to compare with, gives no rows."""
    return {name: analysed(name, run) for name in ANALYSES}


def analysed(name: str, run: Run) -> Rows:
    """Return the rows of an analysis, none where it has no clean pages to compare with."""
    with suppress(NothingToCompare):
        return ANALYSES[name](run)
    return []
