"""Tables of scores and of the texts behind them: means, groups of questions, curves, doses and the analyses."""

from collections.abc import Mapping, Sequence
from typing import Any

from ohr.report.analyses import ANALYSES, analysed
from ohr.report.views.view import Interval, View, pipeline_names, with_intervals
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL, STAGES

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
}
"""Title of each analysis, and how to read it; the confused words have a section of their own."""

_OF_PAGES = ("formatting_lcs", "edit_distances", "noise_ratios")
"""Analyses that read every page or passage again."""


def headline_rows(run: Run) -> list[Row]:
    """Read the means of all questions in each stage's headline metric and the spec's own, the headline first."""
    rows = run.rows("summary", by="evidence_source", group=ALL)
    order = {stage: number for number, stage in enumerate(STAGES)}
    shown, repeats = run.shown_metrics, run.choices.repeats  # a condition that was run twice is shown once
    chosen = [r for r in rows if r["metric"] in shown.get(r["stage"], ()) and r["condition"] not in repeats]
    return sorted(chosen, key=lambda row: (order[row["stage"]], shown[row["stage"]].index(row["metric"])))


def means(run: Run) -> list[View]:
    """Return the mean score of every condition and pipeline."""
    points = headline_rows(run)
    pipeline = pipeline_names(points)
    rows = tuple(
        (
            row["stage"],
            row["metric"],
            pipeline(row),
            row["condition"],
            row["kb_r_noise"],
            row["kb_evidence_loss"],
            Interval.of(row),
            row["floor"],
            row["ceiling"],
            row["n"],
            row["documents"],
        )
        for row in points
    )
    headers = (
        "stage", "metric", "pipeline", "condition", "r_noise", "evidence loss", "score", "floor", "ceiling", "n",
        "documents",
    )  # fmt: skip
    how = "Mean over questions with its 95% interval over documents. lcs, the longest common subsequence: share of the "
    how += "evidence's words that are in what was retrieved, in order."
    return [View("Scores", how, headers, rows)]


def by_group(run: Run, trait: str) -> list[View]:
    """Arrange the means by evidence source or domain: a table for each stage and metric, a column for each group."""
    columns = ("stage", "condition", "chunker", "retriever", "generator", "metric", "group", "mean", "n")
    rows = [row for row in run.rows("summary", columns, by=trait) if row["n"]]
    wholes = run.rows("summary", columns, by="evidence_source", group=ALL)
    rows += [row for row in wholes if trait != "evidence_source"]
    found = []
    for stage, metrics in run.shown_metrics.items():
        for metric in metrics:
            held = [row for row in rows if (row["stage"], row["metric"]) == (stage, metric)]
            title = f"{stage.capitalize()} by {trait.replace('_', ' ')}" + (f": {metric}" if metrics[1:] else "")
            found += _of_metric(held, title, f"Mean {metric} of each group of questions; small groups vary much.")
    return found


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
    found = []
    for name, (title, how) in ANALYSIS_TITLES.items():
        if name in _OF_PAGES and not pages:
            continue
        rows = [{key: value for key, value in row.items() if key != "histogram"} for row in analysed(name, run)]
        if rows:
            found.append(View.of(title, how, [with_intervals(row) for row in rows]))
    return found


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
