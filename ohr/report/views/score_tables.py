"""Tables of scores and of the texts behind them: means, groups of questions, curves, doses and the analyses."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.registry import choices
from ohr.report.analyses import ANALYSES, analysed
from ohr.report.views.view import Cell, Interval, View, head, with_intervals
from ohr.results.derived.losses import Point, distinctive, read_points
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL, STAGES, TRAITS, pipeline_names

ANALYSIS_TITLES: Mapping[str, tuple[str, str]] = {
    "r_noise": (
        "Damaged evidence",
        "Share of questions whose evidence is damaged (fewer than 95% of its words are on its pages in order).",
    ),
    "error_classes": (
        "OCR right or wrong, answer right or wrong",
        "The OCR is wrong where the question's evidence is damaged; an answer is right from an F1 of .5 on.",
    ),
    "formatting_lcs": (
        "Retrieval without markup",
        "The retrieval score again, with the markup of both sides removed: a gain is damage by notation only.",
    ),
    "table_formats": ("Questions about tables", "Scores of the questions whose evidence is a table."),
    "edit_distances": ("Edit distances of pages", "0 is the page as it was, 1 a page with nothing in common."),
    "noise_ratios": (
        "Blocks with errors",
        "Shares of text blocks with a wrong word, and of formulas and tables with a wrong sign, markup apart.",
    ),
    "trust": (
        "Kept, misread and invented",
        "Of the words of the ground truth those kept; of the words read those misread, and those invented: repeated "
        "from the page, from elsewhere in the document, or new. Numbers and amounts are kept as they are written.",
    ),
    "confidence": (
        "Confidence of the engine",
        "Share of the words that are right, and the engine's mean confidence in them. Discrimination: the chance that "
        "a right word has a higher confidence than a wrong one; .5 says nothing.",
    ),
    "reliability": (
        "Right words by confidence",
        "Of the words with a confidence from .. to .., the share that is right.",
    ),
    "thresholds": (
        "Words accepted from a confidence on",
        "Of the words that are accepted, the share that is wrong.",
    ),
    "limits": (
        "Thresholds for a limit of wrong words",
        "Chosen on one half of the documents, judged on the other, and the other way round; under the same noise, and "
        "on the same engine's pages without noise. Holds: the interval of the wrong share ends below the limit.",
    ),
    "repeatability": (
        "Readings of the same pages",
        "Same: share of pages of which all readings are equal. Agreement: mean likeness of two readings.",
    ),
}
"""Title of each analysis, and how to read it; the confused words have a section of their own."""

_OF_PAGES = ("formatting_lcs", "edit_distances", "noise_ratios", "trust")
"""Analyses that read every page or passage again."""


def headline_rows(run: Run) -> list[Row]:
    """Read the means of all questions in each stage's headline metric and the spec's own, the headline first."""
    rows, shown = run.once(run.rows("summary", by="evidence_source", group=ALL)), run.shown_metrics
    chosen = [row for row in rows if row["metric"] in shown.get(row["stage"], ())]
    return sorted(chosen, key=lambda row: (STAGES.index(row["stage"]), shown[row["stage"]].index(row["metric"])))


def means(run: Run) -> list[View]:
    """Return the mean score of every condition and pipeline."""
    points = headline_rows(run)
    pipeline = pipeline_names(points)
    renamed = {"r_noise": "kb_r_noise", "evidence loss": "kb_evidence_loss"}
    lines: list[dict[str, Cell]] = [
        {
            **row,
            **{name: row[old] for name, old in renamed.items()},
            "pipeline": pipeline(row),
            "score": Interval.of(row),
        }
        for row in points
    ]
    names = (
        "stage", "metric", "pipeline", "condition", "r_noise", "evidence loss", "score", "floor", "ceiling", "n",
        "documents",
    )  # fmt: skip
    how = "Mean over questions with its 95% interval over documents. lcs, the longest common subsequence: share of the "
    how += "evidence's words that are in what was retrieved, in order."
    return [View.whole("Scores", how, lines, names)] if lines else []


def curve_points(run: Run) -> list[Point]:
    """Read the points of a run's curves over all questions: headline metrics, and those that the spec names."""
    return [point for point in read_points(run, group=ALL) if point.metric in run.shown_metrics[point.stage]]


def curve(points: Sequence[Point]) -> View:
    """Return the means in two dimensions: a line for each level of noise, a column for each pipeline."""
    points = distinctive(points)
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for point in points:
        doses = {name: Interval(getattr(point, field)) for name, field in _DOSES.items()}
        about = {"noise": point.noise, "level": point.level, **doses, _FAILED: 0}
        line = lines.setdefault((point.noise, point.level), about)
        line[head(point)] = Interval(point.mean, point.low, point.high)
        line[_FAILED] = max(line[_FAILED], point.failed)
    # a benchmark without ground truth or evidence has no dose
    doses_known = [name for name, field in _DOSES.items() if not all(isnan(getattr(p, field)) for p in points)]
    heads = map(head, sorted(points, key=lambda point: STAGES.index(point.stage)))
    failed = [_FAILED] if any(point.failed for point in points) else []
    names = dict.fromkeys(("noise", "level", *doses_known, *heads, *failed))
    return View.whole("Scores", _counts(points), lines.values(), names)


_DOSES = {"r_noise": "r_noise", "evidence\nloss": "evidence_loss"}
_FAILED = "failed\nquestions"


def _counts(points: Sequence[Point]) -> str:
    """Return the numbers of questions and documents behind the means, and how their intervals are made."""
    first = max(points, key=lambda point: point.n)
    interval = "± 95% interval over documents" if not isnan(first.low) else "no intervals: fewer than 5 documents"
    note = f" ({first.note})" if first.note == "few documents" else ""
    stages: dict[int, dict[str, None]] = {}  # questions without evidence count for answers, but not for retrieval
    for point in points:
        if point.n:
            stages.setdefault(point.n, {})[point.stage] = None
    documents = counted(first.documents, "document")
    counts = [counted(n, "question") if n == next(iter(stages)) else str(n) for n in stages]
    parts = [f"{count} in {' and '.join(names)}" for count, names in zip(counts, stages.values(), strict=True)]
    questions = f"{', '.join(parts)}; " if len(stages) > 1 else f"{counted(first.n, 'question')} in "
    return f"n = {questions}{documents}; {interval}{note}"


def rows_by(run: Run, trait: str, metric: str | None = None) -> list[Row]:
    """Read the means of all questions and of each group of them.

    Args:
        trait: that the questions are grouped by.
        metric: by default each stage's headline, and the spec's own.

    Raises:
        DataError: the run has no such trait or metric.
    """
    shown = run.page_headline | run.shown_metrics
    known = sorted({row["by"] for row in run.rows("summary", ["by"])})
    if trait not in known and trait not in TRAITS:
        raise DataError(f"--by: {choices(trait, known)} (got {trait!r})")
    rows = run.rows("summary", by="evidence_source", group=ALL) if trait != "evidence_source" else []
    rows = run.once([*rows, *run.rows("summary", by=trait)])
    chosen: list[Row] = [r for r in rows if r["metric"] in ((metric,) if metric else shown.get(r["stage"], ()))]
    if not chosen:
        there = ", ".join(sorted({row["metric"] for row in rows}))
        raise DataError(f"{run.folder}: has no {metric or 'score of an answer or of retrieval'}; it has {there}")
    return chosen


def means_by(rows: Sequence[Row], trait: str) -> View:
    """Return the rows of a stage in two dimensions: over questions, over domains and for each group, in four digits."""
    lines: dict[tuple[str, ...], dict[str, Cell]] = {}
    for row in rows:
        system = "/".join(filter(None, (row["chunker"], row["retriever"], row["generator"])))
        place = (row["noise"], row["knob_value"] or "", system, row["metric"])
        mean, macro = (Interval(row[name], digits=4) for name in ("mean", "macro_mean"))
        counts = (str(row["n"]), str(row["failed"]))
        line = lines.setdefault(place, {})
        line |= (
            zip(_WHOLE, (*place, *counts, mean, macro), strict=True) if row["group"] == ALL else {row["group"]: mean}
        )
    groups = [group for group in dict.fromkeys(name for line in lines.values() for name in line) if group not in _WHOLE]
    title = f"{rows[0]['stage']}, by {trait}" if groups else f"{rows[0]['stage']}; all questions have the same {trait}"
    return View.whole(title, "", lines.values(), (*_WHOLE, *groups))


_WHOLE = ("noise", "level", "pipeline", "metric", "n", "failed questions", "micro", "macro")


def by_group(run: Run, trait: str) -> list[View]:
    """Arrange the means by evidence source or domain: a table for each stage and metric, a column for each group."""
    columns = ("stage", "condition", "chunker", "retriever", "generator", "metric", "group", "mean", "n")
    rows = [row for row in run.once(run.rows("summary", columns, by=trait)) if row["n"]]
    wholes = run.once(run.rows("summary", columns, by="evidence_source", group=ALL))
    rows += [row for row in wholes if trait != "evidence_source"]
    views = []
    for stage, metrics in run.shown_metrics.items():
        for metric in metrics:
            held = [row for row in rows if (row["stage"], row["metric"]) == (stage, metric)]
            title = f"{stage.capitalize()} by {trait.replace('_', ' ')}" + (f": {metric}" if metrics[1:] else "")
            views += _of_metric(held, title, f"Mean {metric} of each group of questions; small groups vary much.")
    return views


def _of_metric(held: Sequence[Mapping[str, Any]], title: str, how: str) -> list[View]:
    """Arrange the means of one metric; none where there is only one group, whose means are those of all questions."""
    groups = [group for group in dict.fromkeys(row["group"] for row in held) if group not in (ALL, "multimodal")]
    if len(groups) < 2:
        return []
    pipeline = pipeline_names(held)
    lines: dict[tuple[str, str], dict[str, float]] = {}
    for row in held:
        lines.setdefault((row["condition"], pipeline(row)), {})[row["group"]] = row["mean"]
    counts = {row["group"]: row["n"] for row in held}
    headers = ("condition", "pipeline", *(f"{group} (n {counts[group]:,})" for group in groups), ALL)
    cells = tuple((*place, *(line.get(group) for group in (*groups, ALL))) for place, line in lines.items())
    return [View(title, how, headers, cells)]


def robustness(run: Run) -> list[View]:
    """Return the summaries of the curves; none where no noise has several levels."""
    rows = ANALYSES["robustness"](run)
    how = (
        "Area: mean retention over the doses. Slope: score lost per unit of dose. r50: dose at which half is lost. "
        "Difference: the other noise's area less this one's. Equal score: dose at which this noise does what the other "
        "condition does. "
        "Crossing: dose at which two pipelines change places."
    )
    return [View.of("Curves in one number", how, rows)] if rows else []


def analyses(run: Run, *, pages: bool) -> list[View]:
    """Do the analyses of a run, with `pages` also those that read every page again; those without rows are left out."""
    views = []
    for name, (title, how) in ANALYSIS_TITLES.items():
        if name in _OF_PAGES and not pages:
            continue
        rows = [{key: value for key, value in row.items() if key != "histogram"} for row in analysed(name, run)]
        if rows:
            views.append(View.of(title, how, [with_intervals(row) for row in rows]))
    return views


def confused(run: Run) -> list[View]:
    """List the most confused words of each condition."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in ANALYSES["confusions"](run):
        rows.setdefault(row["condition"], []).append(row)
    how = "A word of the clean text, what it was read as, how often, and how often the word occurs."
    names = {"truth": "word", "read": "read as", "count": "times", "of": "of", "example": "first seen"}
    return [View.of(condition, how, found, names) for condition, found in rows.items()]


def doses(run: Run) -> list[View]:
    """Return the noise of each knowledge base."""
    names = {
        "condition": "condition",
        "replicate": "draw",
        "r_noise": "r_noise",
        "r_noise_clean": "of clean evidence",
        "r_content": "without markup",
        "evidence_loss": "evidence loss",
        "term_survival": "terms kept",
        "answer_survival": "answers kept",
        "edit_distance": "edit distance",
        "empty_pages": "empty pages",
        "failed_pages": "failed pages",
        "excluded": "excluded",
    }
    rows = run.rows("doses")
    if not any(row["replicate"] for row in rows):
        del names["replicate"]
    how = (
        "r_noise: share of questions whose evidence is damaged; evidence loss: mean share of the evidence's words that "
        "is lost."
    )
    return [View.of("Noise of each knowledge base", how, rows, names)] if rows else []
