"""The table that a paper prints: a row for each condition, in percent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isnan
from typing import Any, Literal

from ohr.errors import DataError
from ohr.messages.wording import counted, points
from ohr.registry import choices
from ohr.report.headlines import METRICS
from ohr.report.views.view import View
from ohr.results.derived.losses import read_losses
from ohr.results.derived.pairs import FAILED
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES, TRAITS

Values = Literal["mean", "interval", "loss"]

_PARTS = ("chunker", "retriever", "generator")
_COLUMNS = (
    "stage", "condition", "noise", "noise_type", "knob_value", *_PARTS, "metric", "by", "group", "mean", "low", "high",
    "lost", "lost_low", "lost_high", "verdict", "pairs", "pairs_failed", "n", "failed", "documents", "kb_r_noise",
)  # fmt: skip

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The scores that a table shows.

    Args:
        values: means, means with their 95% intervals, or losses against clean text with theirs.
        metric: of all stages; None for each stage's headline.
        by: trait of the questions that has a column for each of its groups; None for a column for each pipeline.
        stage: the only stage that is shown; None for all.
    """

    values: Values = "interval"
    metric: str | None = None
    by: str | None = None
    stage: str | None = None


Column = tuple[str, str]
"""A column of scores: what it is of, and what columns side by side share, "" for nothing."""


def paper_table(run: Run, wanted: Wanted) -> View:
    """Make the table of a finished run.

    Raises:
        DataError: the run lacks the metric, stage or trait, or has no losses, or a table is damaged.
    """
    rows = _rows(run, wanted)
    lone = {part: name for part in _PARTS if (name := _shared_by_all(rows, part)) is not None}
    columns, parts = _arranged(rows, lone, divided=wanted.by is not None)
    sizes = [_range(row["n"] for row in held) for held in columns.values()]
    same = len(set(sizes)) == 1
    names = [name if same else f"{name} (n = {size})".strip() for (name, _), size in zip(columns, sizes, strict=True)]
    named = _labels(rows, run.engines)
    above = [at for at in range(len(_PARTED)) if any(part[at] for part in parts)]
    lines = [
        (
            *("" if place else part[at] for at in above),
            *named[condition].values(),
            *(_cell(cells.get(column), wanted.values) for column in columns),
        )
        for part, held in parts.items()
        for place, (condition, cells) in enumerate(held.items())
    ]
    labels = (*(_PARTED[at] for at in above), *next(iter(named.values())))
    return View(
        _title(run.name, wanted),
        " ".join(_notes(rows, wanted, lone)),
        (*labels, *names),
        tuple(lines),
        shared=(*("" for _ in labels), *(shared for _, shared in columns)),
        labels=len(labels),
        starts=frozenset(accumulate([0, *(len(held) for held in parts.values())][:-1])),
    )


def _rows(run: Run, wanted: Wanted) -> list[dict[str, Any]]:
    scored = run.page_headline
    # the text itself is shown where it is asked for, by its stage or by a metric that only it has
    stages = ("page", *STAGES) if scored and (wanted.stage == "page" or wanted.metric) else STAGES
    found = [row for row in run.once(run.rows("summary", _COLUMNS)) if row["stage"] in stages]
    found = [{**row, "shown": False} for row in _of_metric(run, found, wanted)]
    if wanted.values == "loss":
        _mark_shown(run, found)
    whole = [row for row in found if row["by"] == "evidence_source" and row["group"] == ALL]
    groups = [row for row in found if row["by"] == wanted.by and row["group"] != ALL and row["n"]]
    known = sorted({*TRAITS, *(row["by"] for row in found)})
    if wanted.by and wanted.by not in known:
        raise DataError(f"--by: {choices(wanted.by, known)} (got {wanted.by!r})")
    if wanted.by and not groups:
        raise DataError(f"{run.folder}: all questions have the same {wanted.by}")
    if wanted.values == "loss":
        if wanted.by not in (None, "evidence_source"):
            raise DataError("losses are known by evidence_source only: choose --values mean or interval")
        if not any(row["pairs"] for row in whole):
            raise DataError(f"{run.folder}: has no condition without noise that a loss could be measured against")
    return sorted([*groups, *whole], key=lambda row: stages.index(row["stage"]))


def _mark_shown(run: Run, rows: Sequence[dict[str, Any]]) -> None:
    """Note the losses that are shown among all conditions of their pipeline."""
    names = ("stage", "condition", *_PARTS, "metric", "group")
    groups = {row["group"] for row in rows if row["by"] == "evidence_source"}
    losses = [loss for group in groups for loss in read_losses(run, group, every_metric=True) if loss.is_shown]
    shown = {tuple(getattr(loss, name) for name in names) for loss in losses}
    for row in rows:
        row["shown"] = tuple(row[name] or "" for name in names) in shown


def _of_metric(run: Run, rows: Sequence[dict[str, Any]], wanted: Wanted) -> list[dict[str, Any]]:
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    if wanted.stage is not None and wanted.stage not in stages:
        raise DataError(f"{run.folder}: has no stage {wanted.stage!r}. {choices(wanted.stage, stages)}")
    rows = [row for row in rows if wanted.stage in (None, row["stage"])]
    shown = run.page_headline | run.shown_metrics
    found = [r for r in rows if r["metric"] in ((wanted.metric,) if wanted.metric else shown.get(r["stage"], ()))]
    if not found:
        metric, known = wanted.metric or "score", sorted({row["metric"] for row in rows})
        raise DataError(f"{run.folder}: has no metric {metric!r}. {choices(metric, known)}")
    return found


_PARTED = ("Stage", "Pipeline")
Part = tuple[str, str]
"""Stage and pipeline of rows that belong together; "" where these are in the columns."""


def _arranged(
    rows: Sequence[Row], lone: Mapping[str, str], *, divided: bool
) -> tuple[dict[Column, list[Row]], dict[Part, dict[str, dict[Column, Row]]]]:
    """Arrange scores: pipelines in columns, or in parts where the columns are groups of questions.

    Returns:
        The columns with their rows, and the rows by part, condition and column.
    """
    columns: dict[Column, list[Row]] = {}
    parts: dict[Part, dict[str, dict[Column, Row]]] = {}
    several = set(_PARTS) & {part for row in rows for part in _PARTS if row[part]} - set(lone)
    for row in rows:
        system = " / ".join(row[part] for part in _PARTS if row[part] and part not in lone)
        stage = f"{row['stage'].capitalize()} ({METRICS.get(row['metric'], row['metric'])})"
        if divided:
            part, column = (stage, system), (row["group"].replace("_", " "), "")
        else:
            part, column = ("", ""), (system, stage) if several else (stage, "")
        columns.setdefault(column, []).append(row)
        parts.setdefault(part, {}).setdefault(row["condition"], {})[column] = row
    return columns, parts


def _shared_by_all(rows: Sequence[Row], part: str) -> str | None:
    """Return the name of a part that all rows of every stage that has it share; an agent's have no retriever."""
    by_stage: dict[str, set[str | None]] = {}
    for row in rows:
        by_stage.setdefault(row["stage"], set()).add(row[part])
    names = [held for held in by_stage.values() if held != {None}]
    first = next(iter(names[0])) if names else None
    return first if all(held == {first} for held in names) else None


def _labels(rows: Sequence[Row], engines: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Name each condition, by header; a column that would say nothing is left out."""
    first = {row["condition"]: row for row in reversed(rows)}
    named = {
        condition: {
            "Condition": f"{row['noise']} (clean)" if row["noise_type"] == "none" else row["noise"],
            "OCR": engines.get(condition, "").replace("_", " "),
            "Level": row["knob_value"] or "",
            "r_noise (%)": points(row["kb_r_noise"]),
        }
        for condition, row in first.items()
    }
    known = {header: {names[header] for names in named.values()} for header in next(iter(named.values()))}
    read = all(engine in ("ground_truth", first[name]["noise"]) for name, engine in engines.items() if name in first)
    empty = {header for header, names in known.items() if names == {""}} | ({"OCR"} if read else set())
    return {name: {h: text for h, text in names.items() if h not in empty} for name, names in named.items()}


def _cell(row: Row | None, values: Values) -> str:
    """Write a score in percent, or a loss in points; a clean row has no loss, and shows its mean."""
    if row is None:
        return ""
    failed = f" ({row['failed']:,} failed)" if row["failed"] else ""
    if values == "loss" and row["verdict"] == FAILED:
        return f"not judged ({row['pairs_failed']:,} of {row['pairs']:,} failed)"
    if values == "loss" and row["noise_type"] != "none":
        star = "*" if row["shown"] else ""
        return _with_ends(row["lost"], row["lost_low"], row["lost_high"]) + star + failed
    if values == "interval":
        return _with_ends(row["mean"], row["low"], row["high"]) + failed
    mean = points(row["mean"])
    return (f"({mean})" if mean and values == "loss" else mean) + failed


def _with_ends(mean: float, low: float, high: float) -> str:
    return points(mean) if isnan(low) else f"{points(mean)} [{points(low)}, {points(high)}]"


def _range(counts: Iterable[int]) -> str:
    found = sorted(set(counts))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def _title(name: str, wanted: Wanted) -> str:
    what = {
        "mean": "Mean scores in percent",
        "interval": "Mean scores in percent, with 95% intervals over documents",
        "loss": "Loss to noise in points of 100, question by question, with 95% intervals over documents, each alone",
    }[wanted.values]
    by = f", by {wanted.by.replace('_', ' ')}" if wanted.by else ""
    return f"{what}{by} ({name})."


def _notes(rows: Sequence[Row], wanted: Wanted, lone: Mapping[str, str]) -> Iterable[str]:
    whole = [row for row in rows if row["by"] == "evidence_source" and row["group"] == ALL]
    counts = [_range(row[name] for row in whole) for name in ("n", "documents")]
    things = [
        thing if count == "1" else f"{thing}s" for thing, count in zip(("question", "document"), counts, strict=True)
    ]
    yield f"{counts[0]} {things[0]} in {counts[1]} {things[1]}."
    if lone:
        shared = ", ".join(f"{part} {name}" for part, name in lone.items())
        yield f"{shared[0].upper()}{shared[1:]}."
    if wanted.values == "loss":
        yield "A loss is the clean score less the noisy one; clean rows show the mean score, in parentheses."
        yield "An asterisk: the difference is shown among all conditions of its pipeline (Holm's method)."
    if wanted.values != "mean" and any(isnan(row["low"]) for row in rows):
        yield "No interval: too few documents."
    if any(row["kb_r_noise"] > 0 for row in rows):
        yield "r_noise: share of the questions whose evidence the text damages."
    if failed := max((row["failed"] for row in whole), default=0):
        yield f"Up to {counted(failed, 'question')} of a mean failed and scored 0."
