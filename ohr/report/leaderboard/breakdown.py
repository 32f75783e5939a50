"""Means of one cell's scores by everything that a question is told apart by, each with its interval."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from ohr.contracts import SOURCES
from ohr.messages.wording import counted
from ohr.metrics.intervals import Estimate, clustered_mean
from ohr.results.summary import strata_of

Row = Mapping[str, Any]
Breakdown = Mapping[str, Mapping[str, Estimate]]
"""Dimension (`evidence_source`, `domain`, ...) to group to estimate."""

ALL = "all"
DIMENSIONS: Mapping[str, Callable[[Row], str]] = {
    "evidence_source": lambda row: str(row["evidence_source"]),
    "domain": lambda row: str(row["domain"]),
    "answer_form": lambda row: str(row["answer_form"]),
    "task_type": lambda row: str(row["task_type"]),
    "pages": lambda row: "multi-page" if row["multi_page"] else "single-page",
}


def breakdown(rows: Sequence[Row]) -> Breakdown:
    """Average rows of one cell and one metric; each dimension also has `all`, the mean over all questions."""
    whole = _estimate(rows)
    return {name: {**_grouped(rows, group), ALL: whole} for name, group in DIMENSIONS.items()}


def macro_over_domains(found: Breakdown) -> float:
    """Average the domains' means, each with the same weight; `all` weighs each question the same."""
    means = [estimate.mean for name, estimate in found["domain"].items() if name != ALL]
    return float(np.mean(means)) if means else nan


def asked(found: Breakdown) -> str:
    """Say what the means rest on, as `676 questions of manual`: a published row has other questions."""
    domains = ", ".join(name for name in found["domain"] if name != ALL)
    return f"{counted(found['domain'][ALL].n, 'question')} of {domains}"


def _grouped(rows: Iterable[Row], group: Callable[[Row], str]) -> dict[str, Estimate]:
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        parts[group(row)].append(row)
    return {name: _estimate(parts[name]) for name in sorted(parts, key=_place)}


def _place(name: str) -> tuple[int, str]:
    """Sort evidence sources as the papers do, everything else by name."""
    return (SOURCES.index(name), "") if name in SOURCES else (len(SOURCES), name)


def _estimate(rows: Sequence[Row]) -> Estimate:
    documents, domains = [row["document"] for row in rows], [row["domain"] for row in rows]
    failed = sum(row["status"] == "failed" for row in rows)
    return clustered_mean([row["value"] for row in rows], documents, failed, strata=strata_of(documents, domains))
