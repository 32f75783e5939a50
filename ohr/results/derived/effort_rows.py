"""The table `effort`: the calls, tokens and seconds of a question, beside its score."""

from collections import defaultdict
from collections.abc import Iterator
from math import nan
from typing import TYPE_CHECKING, Any

from ohr.contracts.system import SPLIT
from ohr.results.derived.pairs import ScoredRun
from ohr.results.run import Run
from ohr.results.tables.groups import ALL
from ohr.results.tables.read_table import plain
from ohr.results.tables.schema import CELL, CELL_NAME

if TYPE_CHECKING:
    import pyarrow

SUMS = ("calls", "searches", "turns", "images", "pages_shown", "tokens_in", "tokens_out", "seconds", *SPLIT)
"""Columns of `answers` whose means over the questions that were answered are an effort."""


def effort_rows(scored: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `effort`: one for each cell with answers, from these and the summary."""
    run, headline = scored.run, scored.choices.headline
    if not run.has("answers"):
        return
    answers = plain(run.table("answers", [*CELL_NAME, *SUMS, "error", "end"]))
    if not len(answers):
        return
    scores = {
        tuple(row[name] for name in CELL_NAME): row
        for row in run.rows("summary", by="evidence_source", group=ALL)
        if row["metric"] == headline.get(row["stage"])
    }
    shared = _shared(run)
    for place, found in _means(answers).items():
        if (score := scores.get(place)) is None:
            continue
        of_all = shared.get(place[1:3] + place[4:], (0.0, 0.0))
        row = {name: score[name] for name in CELL} | found
        row |= {"shared_tokens": of_all[0] / row["n"], "shared_seconds": of_all[1] / row["n"]}
        row |= {"metric": score["metric"], "score": score["mean"], "low": score["low"], "high": score["high"]}
        yield row


def _means(answers: "pyarrow.Table") -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the mean efforts of each cell, over all its draws; a question that failed has none.

    Nor have replies tokens that state none: 0 would count as nothing spent.
    """
    import pyarrow.compute as pc

    failed = pc.is_valid(answers["error"])
    silent = pc.or_(failed, pc.and_(*(pc.equal(answers[name], 0) for name in ("tokens_in", "tokens_out"))))
    whole = answers.select(CELL_NAME).append_column("failed", failed)
    for name in SUMS:
        left_out = silent if name.startswith("tokens") else failed
        whole = whole.append_column(name, pc.if_else(left_out, None, answers[name]))
    answered = pc.fill_null(pc.equal(answers["end"], "answered"), True)
    whole = whole.append_column("answered", pc.if_else(failed, None, answered))
    names = (*SUMS, "answered")
    grouped = whole.group_by(list(CELL_NAME), use_threads=False).aggregate(
        [([], "count_all"), ("failed", "sum"), *((name, "mean") for name in names)]
    )
    return {
        tuple(row[name] for name in CELL_NAME): {
            "n": row["count_all"],
            "failed": row["failed_sum"],
            **{name: nan if (mean := row[f"{name}_mean"]) is None else float(mean) for name in names},
        }
        for row in grouped.to_pylist()
    }


def _shared(run: Run) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Sum the tokens and seconds of the different shared calls of each agent, such as summaries of pages."""
    sums: dict[tuple[Any, ...], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for step in run.different_steps(["tokens_in", "tokens_out", "seconds"], shared=True):
        place = step["condition"], step["chunker"], step["agent"]
        tokens, seconds = sums[place]
        sums[place] = tokens + step["tokens_in"] + step["tokens_out"], seconds + step["seconds"]
    return sums
