"""The conditions of a run as a leaderboard, among published systems where the benchmark has some."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ohr.contracts import Published
from ohr.messages.wording import counted
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES, pipeline_names

from .standings import Leaderboard, Row, column, leaderboards, protocol_boards, ranked

_COLUMNS = (
    "stage", "condition", "noise_type", "chunker", "retriever", "generator", "metric", "by", "group", "mean", "n",
)  # fmt: skip
_DIVIDED = ("evidence_source", "domain")


def run_leaderboards(run: Run, published: Sequence[Published]) -> list[Leaderboard]:
    """Rank the conditions of a run for every stage and pipeline.

    Args:
        run: to read.
        published: what others published for its benchmark; their rows are in the tables of their stage.
    """
    headline = run.headlines
    rows = run.once(run.rows("summary", _COLUMNS))
    pipeline = pipeline_names(rows)
    wanted = [row for row in rows if row["by"] in _DIVIDED and row["metric"] == headline.get(row["stage"])]
    wanted += _lone_domain(run, wanted)
    found: list[Leaderboard] = []
    for stage in ("page", *STAGES):
        found += protocol_boards(published, stage, protocol_rows(run, stage))
    for stage in STAGES:
        pipelines: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in wanted:
            if row["stage"] == stage:
                pipelines[pipeline(row)].append(row)
        for setting, held in pipelines.items():
            found += _tables(stage, headline[stage], setting, held, published)
    return found


def protocol_rows(run: Run, stage: str) -> list[Row]:
    """Return a row for each condition and pipeline of a stage, with its means and aggregates by column."""
    scores: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    rows = run.once(run.rows("summary", _COLUMNS, stage=stage))
    pipeline = pipeline_names(rows)
    for row in rows:
        place = row["condition"], pipeline(row)
        counts[place] = max(counts[place], row["n"])
        group = ALL if row["group"] == ALL else f"{row['by']}={row['group']}"
        scores[place][column(row["metric"], group)] = row["mean"]
    for row in run.once(run.rows_if_any("aggregates", stage=stage)):
        scores[row["condition"], pipeline(row)][column(row["name"], ALL)] = row["value"]
    return [
        Row(
            condition, f"{setting or 'the text of the pages'}; {counted(counts[condition, setting], 'question')}", found
        )
        for (condition, setting), found in scores.items()
    ]


def _lone_domain(run: Run, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows by domain where all questions have one, which has no rows of its own."""
    domains = {row["domain"] for row in run.rows("questions", ["domain"])}
    if len(domains) != 1:
        return []
    (domain,) = domains
    return [{**row, "by": "domain", "group": domain} for row in rows if row["group"] == ALL]


def _tables(
    stage: str, metric: str, setting: str, rows: Sequence[Mapping[str, Any]], published: Sequence[Published]
) -> list[Leaderboard]:
    """Rank the conditions of one pipeline; a table of its own where nothing is published for the stage."""
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        scores[row["condition"]][row["group"]] = row["mean"]
    truths = {row["condition"] for row in rows if row["noise_type"] == "none"}
    own = [Row(condition, setting, found, is_truth=condition in truths) for condition, found in scores.items()]
    groups = {by: _groups(rows, by) for by in _DIVIDED}
    if placed := leaderboards(published, stage, own, groups):
        return placed
    sources = [group for group in groups["evidence_source"] if group not in ("multimodal", ALL)]
    return [
        Leaderboard(stage, metric, "evidence_source", (*(sources if sources[1:] else ()), ALL), ranked(own, ALL), "")
    ]


def _groups(rows: Sequence[Mapping[str, Any]], by: str) -> list[str]:
    """List the groups of a trait that have questions."""
    return list(dict.fromkeys(row["group"] for row in rows if row["by"] == by and row["n"]))
