"""Tables of runs with agents: what a question takes beside its score, and whether noise is repaired."""

from math import isnan
from typing import Any

from ohr.report.views.view import Interval, View
from ohr.results.run import Row, Run

_MEANS = ("calls", "searches", "images", "seconds")
_SPLIT = {"of which search": "seconds_retrieval", "of which model": "seconds_generation"}
"""Columns of the seconds that systems state; runs from before them have none."""


def effort(run: Run) -> list[View]:
    """Return what a question takes; none for a run without agents."""
    labels = run.agent_labels
    overall = run.once(run.rows_if_any("effort", stage="overall")) if labels else []
    rows = [_effort(row, labels) for row in overall]
    how = (
        "Means for each question; an agent's name is followed by what it looks at. Shared: tokens of calls that do not "
        "depend on the question, such as summaries of pages, spread over all. Answered: the others gave up, could not "
        "be parsed, or had no call left. Of which search and model: parts that a system states."
    )
    return [View.of("Calls, tokens and seconds", how, rows)] if rows else []


def repair(run: Run) -> list[View]:
    """Return each agent beside each single search under each noise, in a run that has both."""
    rows = [_repair(row, run.agent_labels) for row in run.once(run.rows_if_any("repair"))]
    how = (
        "The share of its clean score above the floor that an agent keeps, beside that of each single search, on the "
        "same questions: where more is kept, the agent repairs some of the noise; where less is kept, noise compounds "
        "over its turns. No verdict where a clean score is near its floor, or where the two differ. Ahead: the agent's "
        "score less the other's, under this noise. 95% intervals over documents."
    )
    return [View.of("Does an agent repair noise?", how, rows)] if rows else []


def _effort(row: Row, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "condition": row["condition"],
        "pipeline": " + ".join(filter(None, (row["retriever"], labels.get(row["generator"], row["generator"])))),
        "score": Interval.of(row, "score"),
        **{name: "" if isnan(row[name]) else f"{row[name]:,.1f}" for name in _MEANS},
        **{column: _seconds(row.get(name)) for column, name in _SPLIT.items()},
        "tokens": _whole(row["tokens_in"] + row["tokens_out"]),
        "shared": _whole(row["shared_tokens"]),
        "answered": "" if isnan(row["answered"]) else f"{100 * row['answered']:.0f} %",
        "answers": row["n"],
        "failed answers": row["failed"],
    }


def _repair(row: Row, labels: dict[str, str]) -> dict[str, Any]:
    more = ("more_retained", "more_retained_low", "more_retained_high")
    return {
        "condition": row["condition"],
        "agent": labels.get(row["agent"], row["agent"]),
        "single search": " + ".join(filter(None, (row["retriever"], row["generator"]))),
        "agent keeps": f"{row['retained_agent']:z.0%}",
        "search keeps": f"{row['retained_single']:z.0%}",
        "more kept": Interval.of(row, *more, is_difference=True),
        "verdict": row["verdict"] or row["note"] or "too few documents",
        "ahead": Interval.of(row, "gap", "gap_low", "gap_high", is_difference=True),
        "n": row["n"],
    }


def _whole(number: float) -> str:
    return "" if isnan(number) else f"{number:,.0f}"


def _seconds(number: float | None) -> str:
    return "" if number is None or isnan(number) else f"{number:,.2f}"
