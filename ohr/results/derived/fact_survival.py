"""Survival of facts: the share of the questions' facts that is left after each step of a pipeline."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ohr.metrics.scores import FACTS
from ohr.results.run import Run
from ohr.results.tables.groups import ALL

Row = Mapping[str, Any]
Pipeline = tuple[str, str, str]
"""Chunker, retriever and generator; "" where there is none."""

STEPS: Mapping[str, str] = {
    "page": "on the page",
    "chunks": "in one chunk",
    "hits": "retrieved",
    "answer": "in the answer",
}
"""Steps in their order, with the words for them: a fact is on its page as the knowledge base has it, in a chunk that
does not cut it, in the chunks of its page that were retrieved, and in the answer."""

_FOUND = {
    ("page", FACTS): "page",
    ("retrieval", f"{FACTS}_chunked"): "chunks",
    ("retrieval", FACTS): "hits",
    ("overall", FACTS): "answer",
}
"""The step that a stage's metric measures."""


def read_survival(run: Run) -> list[dict[str, Any]]:
    """Read the share of facts that is left after each step, for every condition and pipeline; none without facts.

    Returns:
        rows of condition, noise, knob_value, noise_type, chunker, retriever, generator, step, mean, low, high, n,
        documents; a step before a part of the pipeline has "" for that part.

    Raises:
        DataError: the table is missing or damaged.
    """
    rows = run.once(run.rows("summary", by="evidence_source", group=ALL))
    names = ("condition", "noise", "knob_value", "noise_type", "mean", "low", "high", "n", "documents")
    return [
        {
            **{part: row[part] or "" for part in ("chunker", "retriever", "generator")},
            **{name: row[name] for name in names},
            "step": step,
        }
        for row in rows
        if row["n"] and (step := _FOUND.get((row["stage"], row["metric"])))
    ]


def pipelines(rows: Sequence[Row]) -> dict[Pipeline, dict[str, dict[str, Row]]]:
    """Arrange rows: for each whole pipeline and each condition, the row of each step that leads to it."""
    places = {(row["chunker"], row["retriever"], row["generator"]) for row in rows}
    whole = [p for p in sorted(places) if not any(other != p and _leads(p, other) for other in places)]
    found: dict[Pipeline, dict[str, dict[str, Row]]] = {place: defaultdict(dict) for place in whole}
    for row in rows:
        for place, conditions in found.items():
            if _leads((row["chunker"], row["retriever"], row["generator"]), place):
                conditions[row["condition"]][row["step"]] = row
    return found


def _leads(part: Pipeline, whole: Pipeline) -> bool:
    """Report whether a step belongs to a pipeline: its parts are the pipeline's, or not there yet."""
    return all(mine in ("", theirs) for mine, theirs in zip(part, whole, strict=True))
