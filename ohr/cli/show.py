"""`ohr show`: a run's means, by any trait of its questions."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import say, say_json, say_table, say_views
from ohr.cli.options import RUNS, AsJson, Details, RunsFolder

if TYPE_CHECKING:
    from ohr.results.run import Row, Run

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
    details: Details = False,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show what a run found, its means, or its questions.

    The means are over all questions (micro), over domains (macro), and by one trait of the questions. Where the spec
    asked for attribution, the cost of each part of a noise follows; where it asked to decompose, the loss by stage.
    """
    from ohr.cli.display.screen import print_summary
    from ohr.cli.runs import open_run

    if not questions and question is None and (condition is not None or search):
        raise typer.BadParameter("--condition and --search choose among questions: add --questions")
    opened = open_run(run, runs)
    others = (question, questions or None, analysis, metric, people)
    if not (details or as_json) and by == USUAL and all(each is None for each in others):
        print_summary(opened)  # most ask for this, and wait for no other import
        return
    from ohr.cli.display.screen import print_tables
    from ohr.cli.display.shown import Wanted, show_analysis, show_question, show_questions
    from ohr.report.views.score_tables import rows_by
    from ohr.report.views.sections import for_screen

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
    if details and (metric is not None or by != USUAL):
        raise typer.BadParameter("--details prints all tables: leave out --by and --metric")
    if people is not None:
        raise typer.BadParameter("--people needs --analysis agreement")
    rows = rows_by(opened, by, metric)
    if as_json:
        say_json(rows)
    elif details:
        print_tables(opened)
        _print_means(opened, rows, by)
    else:
        _print_means(opened, rows, by)
        say_views(for_screen(opened))


def _print_means(run: "Run", rows: "Sequence[Row]", by: str) -> None:
    from ohr.report.views.score_tables import means_by

    say(f"scored by the protocol {run.manifest['protocol']['name']}")
    for stage in dict.fromkeys(row["stage"] for row in rows):
        view = means_by([row for row in rows if row["stage"] == stage], by)
        say(view.title)
        say_table(view.headers, view.short)


def _refuse_others(by: str, metric: str | None, analysis: str | None, count: int) -> None:
    """Refuse options that --questions would ignore, and a list of none."""
    if analysis is not None or metric is not None or by != USUAL:
        raise typer.BadParameter("--questions lists questions: leave out --by, --metric and --analysis")
    if not count:
        raise typer.BadParameter("--worst and --best are both 0: no question would be listed")
