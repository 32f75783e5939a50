"""The table of the page for runs with agents: calls, tokens and seconds of a question, beside the score."""

from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any

from ohr.report.figures.data import agent_labels
from ohr.report.headlines import interval
from ohr.report.html.sheets import Sheet, of_rows
from ohr.results.derived.effort import read_effort
from ohr.results.derived.repair import read_repair

_MEANS = ("calls", "searches", "images", "seconds")


def sheets(folder: Path) -> list[Sheet]:
    """Return the table; none for a run without agents."""
    labels = agent_labels(folder)
    rows = [_shown(row, labels) for row in read_effort(folder) if labels and row["stage"] == "overall"]
    how = (
        "Means for each question; an agent's name is followed by what it looks at. Shared: tokens of calls that do not "
        "depend on the question, such as summaries of pages, spread over all. Answered: the others gave up, could not "
        "be parsed, or had no call left."
    )
    found = [of_rows("Calls, tokens and seconds", how, rows)] if rows else []
    repaired = [_repaired(row, labels) for row in read_repair(folder)]
    about = (
        "The share of its clean score above the floor that an agent keeps, beside that of each single search, on the "
        "same questions: where more is kept, the agent repairs some of the noise; where less is kept, noise compounds "
        "over its turns. No verdict where a clean score is near its floor, or where the two differ. Ahead: the agent's "
        "score less the other's, under this noise. 95% intervals over documents."
    )
    return [*found, of_rows("Does an agent repair noise?", about, repaired)] if repaired else found


def _shown(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    named = (row["retriever"], labels.get(row["generator"], row["generator"]))
    return {
        "condition": row["condition"],
        "pipeline": " + ".join(filter(None, named)),
        "score": interval(row["score"], row["low"], row["high"]),
        **{name: "" if isnan(row[name]) else f"{row[name]:,.1f}" for name in _MEANS},
        "tokens": _whole(row["tokens_in"] + row["tokens_out"]),
        "shared": _whole(row["shared_tokens"]),
        "answered": "" if isnan(row["answered"]) else f"{100 * row['answered']:.0f} %",
        "answers": row["n"],
        "failed answers": row["failed"],
    }


def _repaired(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "condition": row["condition"],
        "agent": labels.get(row["agent"], row["agent"]),
        "single search": " + ".join(filter(None, (row["retriever"], row["generator"]))),
        "agent keeps": f"{row['retained_agent']:z.0%}",
        "search keeps": f"{row['retained_single']:z.0%}",
        "more kept": interval(row["more_retained"], row["more_retained_low"], row["more_retained_high"]),
        "verdict": row["verdict"] or row["note"] or "too few documents",
        "ahead": interval(row["gap"], row["gap_low"], row["gap_high"]),
        "n": row["n"],
    }


def _whole(number: float) -> str:
    return "" if isnan(number) else f"{number:,.0f}"
