"""`ohr show`: a run's means, by any trait of its questions."""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.analysis import show_analysis
from ohr.cli.display.console import say, say_json, say_table, say_views
from ohr.cli.options import RUNS, AsJson, RunsFolder

if TYPE_CHECKING:
    from ohr.results.run import Run

USUAL = "evidence_source"
"""The attribute that questions are grouped by where none is named."""

RunPlace = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder, or its name for the newest.")]
ByTrait = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What the questions are grouped by: evidence_source, domain, answer_form, task_type, pages, or a group "
        "of the benchmark's own.",
    ),
]
Metric = Annotated[str | None, typer.Option(help="Any metric of the run; by default each stage's headline.")]
Analysis = Annotated[
    str | None, typer.Option(metavar="NAME", help="Show an analysis instead: error_classes, ...; or every.")
]
Listed = Annotated[bool, typer.Option("--questions", help="Show the questions that lost most, with evidence, instead.")]
OneQuestion = Annotated[
    str | None,
    typer.Option("--question", metavar="ID", help="Show one question instead: its answers, and the steps of agents."),
]
Worst = Annotated[int, typer.Option(min=0, metavar="N", help="Questions that lost most.")]
Best = Annotated[int, typer.Option(min=0, metavar="N", help="Questions that gained most.")]
Condition = Annotated[str | None, typer.Option(metavar="NAME", help="Whose losses; by default those of the worst.")]
Search = Annotated[str, typer.Option(metavar="WORDS", help="Only questions that contain this.")]


People = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With --analysis agreement: people's labels, question_id and label, as CSV."),
]


def show(
    run: RunPlace,
    by: ByTrait = USUAL,
    metric: Metric = None,
    analysis: Analysis = None,
    questions: Listed = False,
    question: OneQuestion = None,
    worst: Worst = 10,
    best: Best = 0,
    condition: Condition = None,
    search: Search = "",
    people: People = None,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show a run's means, its questions, or an analysis of it.

    The means are over all questions (micro), over domains (macro), and by one trait of the questions. Where the spec
    asked for attribution, the cost of each part of a noise follows; where it asked to decompose, the loss by stage.
    """
    from ohr.cli.display.losses import print_losses
    from ohr.cli.display.questions import Wanted, show_questions
    from ohr.cli.display.transcript import show_question
    from ohr.cli.runs import open_run
    from ohr.report.views.sections import for_screen

    opened = open_run(run, runs)
    if question is not None:
        show_question(opened, question, condition, as_json)
        return
    if questions:
        _refuse_others(by, metric, analysis, worst + best)
        show_questions(opened, Wanted(condition, worst, best, search), as_json)
        return
    if analysis is not None:
        show_analysis(opened, analysis, as_json, people)
        return
    if people is not None:
        raise typer.BadParameter("--people needs --analysis agreement")
    rows = _means(opened, by, metric)
    if as_json:
        say_json(rows)
        return
    if metric is None and by == USUAL:
        print_losses(opened)
    say(f"scored by the protocol {opened.manifest['protocol']['name']}")
    for stage in dict.fromkeys(row["stage"] for row in rows):
        _table([row for row in rows if row["stage"] == stage], by)
    say_views(for_screen(opened))


def _refuse_others(by: str, metric: str | None, analysis: str | None, count: int) -> None:
    """Refuse options that --questions would ignore, and a list of none."""
    if analysis is not None or metric is not None or by != USUAL:
        raise typer.BadParameter("--questions lists questions: leave out --by, --metric and --analysis")
    if not count:
        raise typer.BadParameter("--worst and --best are both 0: no question would be listed")


def _means(run: "Run", by: str, metric: str | None) -> list[dict[str, Any]]:
    """Read the rows of the summary that are shown."""
    from ohr.errors import DataError
    from ohr.registry import choices
    from ohr.results.tables.groups import ALL, TRAITS

    shown = {**{stage: (name,) for stage, name in run.page_headline.items()}, **run.shown_metrics}
    known = sorted({row["by"] for row in run.rows("summary", ["by"])})
    if by not in known and by not in TRAITS:
        raise DataError(f"--by: {choices(by, known)} (got {by!r})")
    rows = run.rows("summary", by=USUAL, group=ALL) if by != USUAL else []
    rows += run.rows("summary", by=by)
    wanted = [row for row in rows if row["metric"] in ((metric,) if metric else shown.get(row["stage"], ()))]
    if not wanted:
        there = ", ".join(sorted({row["metric"] for row in rows}))
        raise DataError(f"{run.folder}: has no {metric or 'score of an answer or of retrieval'}; it has {there}")
    return wanted


def _table(rows: Sequence[Mapping[str, Any]], by: str) -> None:
    """Print one stage: a line for each level and pipeline, a column for each group."""
    places: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        parts = ("noise", "knob_value", "chunker", "retriever", "generator", "metric")
        places.setdefault(tuple(row[part] or "" for part in parts), {})[row["group"]] = row
    groups = list(dict.fromkeys(group for found in places.values() for group in found if group != "all"))
    lines = []
    for place, found in places.items():
        whole = found["all"]
        cells = [_number(found[group]["mean"]) if group in found else "" for group in groups]
        counts = (str(whole["n"]), str(whole["failed"]))
        names = (place[0], place[1], "/".join(filter(None, place[2:5])), place[5])
        lines.append([*names, *counts, _number(whole["mean"]), _number(whole["macro_mean"]), *cells])
    say(f"{rows[0]['stage']}, by {by}" if groups else f"{rows[0]['stage']}; all questions have the same {by}")
    say_table(["noise", "level", "pipeline", "metric", "n", "failed questions", "micro", "macro", *groups], lines)


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:z.4f}"
