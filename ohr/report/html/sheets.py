"""Tables of the page: what is in them, and one line on how to read each."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ohr.report.analyses import ANALYSES, analysed
from ohr.report.headlines import with_intervals
from ohr.report.leaderboard.standings import Leaderboard
from ohr.results.tables.groups import ALL
from ohr.results.tables.read_table import read_rows

_NUMBER = re.compile(r"^(?:[-−+<>]?\s?[\d.,]+\s?%?(?:\s.*)?|)$")

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


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Args:
        title: its caption.
        how: one line on how to read it.
        headers: names of its columns.
        rows: cells as they are shown.
        marked: numbers of the rows that are ours, among rows of others.
    """

    title: str
    how: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[int] = frozenset()

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Report for each column whether it holds numbers, which are aligned on the right."""
        columns = zip(*self.rows, strict=True) if self.rows else ([""] for _ in self.headers)
        return tuple(all(map(_NUMBER.match, column)) and any(column) for column in columns)


def of_rows(title: str, how: str, rows: Sequence[Mapping[str, Any]], names: Mapping[str, str] | None = None) -> Sheet:
    """Make a table of rows; `names` chooses the columns and their headers; columns without any value are left out."""
    names = names or {name: name.replace("_", " ") for name in (rows[0] if rows else ())}
    used = [name for name in names if any(cell(row.get(name)) for row in rows)]
    return Sheet(
        title, how, tuple(names[name] for name in used), tuple(tuple(cell(row.get(n)) for n in used) for row in rows)
    )


def cell(value: Any) -> str:
    """Write a value: numbers with three digits, nothing where it is undefined."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:z.3f}"
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:,}" if isinstance(value, int) else str(value)


def by_group(folder: Path, trait: str, shown: Mapping[str, Sequence[str]]) -> list[Sheet]:
    """Arrange the means by evidence source or domain: a table for each stage and metric, a column for each group."""
    columns = ("stage", "condition", "retriever", "generator", "metric", "group", "mean", "n")
    rows = [row for row in read_rows(folder / "summary.parquet", columns, by=trait) if row["n"]]
    wholes = read_rows(folder / "summary.parquet", columns, by="evidence_source", group=ALL)
    rows += [row for row in wholes if trait != "evidence_source"]
    found = []
    for stage, metrics in shown.items():
        for metric in metrics:
            held = [row for row in rows if (row["stage"], row["metric"]) == (stage, metric)]
            title = f"{stage.capitalize()} by {trait.replace('_', ' ')}" + (f": {metric}" if metrics[1:] else "")
            found += _of_metric(held, title, f"Mean {metric} of each group of questions; small groups vary much.")
    return found


def _of_metric(held: Sequence[Mapping[str, Any]], title: str, how: str) -> list[Sheet]:
    """Arrange the means of one metric; none where there is only one group, whose means are those of all questions."""
    groups = [group for group in dict.fromkeys(row["group"] for row in held) if group not in (ALL, "multimodal")]
    if len(groups) < 2:
        return []
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in held:
        lines.setdefault((row["condition"], pipeline(row)), {})[row["group"]] = cell(row["mean"])
    counts = {row["group"]: row["n"] for row in held}
    headers = ("condition", "pipeline", *(f"{group} (n {counts[group]:,})" for group in groups), ALL)
    cells = tuple((*place, *(line.get(group, "") for group in (*groups, ALL))) for place, line in lines.items())
    return [Sheet(title, how, headers, cells)]


def analyses(folder: Path, *, pages: bool) -> list[tuple[str, Sheet]]:
    """Do the analyses of a run, with `pages` also those that read every page again; those without rows are left out."""
    found = []
    for name, (title, how) in ANALYSIS_TITLES.items():
        if name in _OF_PAGES and not pages:
            continue
        rows = [{key: value for key, value in row.items() if key != "histogram"} for row in analysed(name, folder)]
        if rows:
            found.append((name, of_rows(title, how, [with_intervals(row) for row in rows])))
    return found


def confused(folder: Path) -> list[Sheet]:
    """List the most confused words of each condition."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in ANALYSES["confusions"](folder):
        rows.setdefault(row["condition"], []).append(row)
    how = "A word of the clean text, what it was read as, how often, and how often the word occurs."
    names = {"truth": "word", "read": "read as", "count": "times", "of": "of", "example": "first seen"}
    return [of_rows(condition, how, found, names) for condition, found in rows.items()]


def leaderboard(boards: Iterable[Leaderboard]) -> list[Sheet]:
    """Arrange leaderboards, best system first."""
    found = []
    for board in boards:
        distances = any(not isnan(row.edit_distance) for row in board.rows)
        rows = tuple(
            (
                str(rank) if row.ranked else "",
                row.system,
                row.setting,
                *((cell(row.edit_distance),) if distances else ()),
                *(cell(row.scores.get(group)) for group in board.groups),
                "" if isnan(row.of_truth) else f"{100 * row.of_truth:.0f}%",
            )
            for rank, row in enumerate(board.rows, 1)
        )
        headers = (
            "#",
            "system" if board.table else "condition",
            "setting",
            *(("edit distance",) if distances else ()),
            *board.groups,
            "of clean",
        )
        own = frozenset(place for place, row in enumerate(board.rows) if row.own)
        by = "the benchmark's own numbers" if board.by == "number" else f"mean {board.metric} by {board.by}"
        how = f"{by[0].upper()}{by[1:].replace('_', ' ')}, best first"
        how += f"; published rows from {board.table}; yours are marked." if board.table else "."
        how += "".join(f" Not to be compared: {warning}." for warning in board.warnings)
        setting = next((row.setting for row in board.rows if row.own), "")
        title = f"{board.stage.capitalize()}: {setting}" if setting else board.stage.capitalize()
        found.append(Sheet(title, how, headers, rows, own if len(own) < len(rows) else frozenset()))
    return found


def pipeline(row: Mapping[str, Any]) -> str:
    """Name the retriever and the generator of a row."""
    return " + ".join(filter(None, (row["retriever"], row["generator"])))
