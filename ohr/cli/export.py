"""`ohr export`: a run as files and tables of other programs."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import report, say
from ohr.cli.options import RUNS, AnswerLayout, Force, RunsFolder
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.report.exports.paper import Wanted
    from ohr.results.run import Run

Note = Callable[[str], None]


class Values(StrEnum):
    """Scores in the cells of a table for a paper."""

    MEAN = "mean"
    INTERVAL = "interval"
    LOSS = "loss"


class Stage(StrEnum):
    """Stage of evaluation."""

    PAGE = "page"
    RETRIEVAL = "retrieval"
    GENERATION = "generation"
    OVERALL = "overall"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder, or its name for the newest whole run.")],
    latex: Annotated[
        Path | None,
        typer.Option(
            "--latex", metavar="FILE", help="Write the table for a paper in LaTeX, with booktabs; - prints it."
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the same table in Markdown; - prints it.")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the whole summary as CSV, with all digits; - prints it."),
    ] = None,
    mlflow: Annotated[
        str | None, typer.Option(metavar="URI", help="Log the run to an MLflow server or store, once.")
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option("--texts", metavar="DIR", help="Write each page of each knowledge base as a text file."),
    ] = None,
    trec: Annotated[
        Path | None,
        typer.Option("--trec", metavar="DIR", help="Write rankings as TREC run files, with judgments and topics."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="DIR", help="Write the answers as files of another program, named by --as."),
    ] = None,
    layout: Annotated[AnswerLayout, typer.Option("--as", help="Whose layout --answers writes.")] = AnswerLayout.RAGAS,
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write this table of the report instead: cost, curves, decomposition, ..."),
    ] = None,
    values: Annotated[
        Values, typer.Option(help="In tables: means, means with 95% intervals, or losses against clean text.")
    ] = Values.INTERVAL,
    metric: Annotated[
        str | None, typer.Option(help="In tables: any metric of the run; by default each stage's headline.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="In tables: a column for each group of questions, as in `ohr show`."),
    ] = None,
    stage: Annotated[Stage | None, typer.Option(help="In tables: one stage only.")] = None,
    force: Force = False,
    runs: RunsFolder = RUNS,
) -> None:
    """Write a run as files of other programs, or log it to MLflow.

    A row of the table is a condition, a column a pipeline; with --by, a column is a group of questions. The CSV has
    every row of the summary; --metric, --by and --stage restrict it too. With --table, a table of the report is written
    as it is there: hypotheses, cost, repairs, curves, protocol, effort, money, robustness, decomposition, groups,
    attribution, doses, failures or provenance.
    """
    from ohr.cli.runs import open_run
    from ohr.report.exports.paper import Wanted
    from ohr.results.folder.replace import refuse

    files = {"latex": latex, "markdown": markdown, "csv": csv}
    wanted = {name: path for name, path in files.items() if path is not None}
    folders = [folder for folder in (texts, trec, answers) if folder is not None]
    if not wanted and mlflow is None and not folders:
        raise typer.BadParameter(
            "name what to write: --latex, --markdown or --csv FILE, --mlflow URI, --texts, --trec or --answers DIR"
        )
    _refuse_same([*wanted.values(), *folders])
    opened = open_run(run, runs)
    _refuse_run(opened, [*wanted.values(), *folders])
    note = report if _PRINTED in wanted.values() else say
    for name, path in wanted.items():
        if path != _PRINTED:
            refuse(path, f"--{name}", force=force)
    chosen = _chosen(table, Wanted(values.value, metric, by, stage and stage.value))
    tables = {name: _written(name, opened, table, chosen) for name in wanted}
    for name, path in wanted.items():
        _put(tables[name], path, f"--{name}", force, note)
    _folders(opened, texts, trec, answers, layout, force, note)
    if mlflow is not None:
        _mlflow(opened, mlflow, note)


_PRINTED = Path("-")


def _refuse_same(targets: Sequence[Path]) -> None:
    """Refuse targets of which two are one, and an option that the parser took for the file of the one before."""
    if swallowed := next((path for path in targets if str(path).startswith("--")), None):
        raise typer.BadParameter(f"the option before {swallowed} needs a file, or - to print the table")
    if targets.count(_PRINTED) > 1:
        raise typer.BadParameter("only one table can be printed: name a file for the others")
    named = [path.resolve() for path in targets if path != _PRINTED]
    if len(set(named)) < len(named):
        raise typer.BadParameter("two options name one file: give each its own")


def _refuse_run(run: "Run", targets: Sequence[Path]) -> None:
    """Refuse a target that is the run's own folder, or one that holds it: --force would move the run away."""
    folder = run.folder.resolve()
    for target in targets:
        if target != _PRINTED and target.resolve() in (folder, *folder.parents):
            raise typer.BadParameter(f"{target} holds the run itself: name another place")


def _chosen(table: str | None, wanted: "Wanted") -> "Wanted":
    """Refuse choices that a table of the report does not have."""
    from ohr.report.exports.paper import Wanted

    if table is not None and wanted != Wanted():
        raise typer.BadParameter("--table writes what the report has: leave out --values, --metric, --by and --stage")
    return wanted


def _written(form: str, run: "Run", table: str | None, wanted: "Wanted") -> str:
    """Return one table of numbers as text, or the tables of a section of the report."""
    from ohr.report.exports.paper import paper_table
    from ohr.report.exports.written_tables import latex, markdown, summary_csv, views_csv
    from ohr.report.views.sections import section

    if form == "csv" and table is None:
        return summary_csv(run, metric=wanted.metric, by=wanted.by, stage=wanted.stage)
    views = section(run, table) if table else [paper_table(run, wanted)]
    if form == "csv":
        return views_csv(views)
    if form == "markdown":
        return "\n".join(map(markdown, views))
    return "\n".join(latex(view, run, f"{run.name} {view.title}" if table else run.name) for view in views)


def _put(text: str, path: Path, option: str, force: bool, note: Note) -> None:
    from ohr.results.folder.replace import written

    if path == _PRINTED:
        typer.echo(text.encode("utf-8", "replace"), nl=False)
        return
    with written(path, option, force=force) as new:
        new.write_bytes(text.encode("utf-8", "replace"))
    note(str(path))


def _folders(
    run: "Run",
    texts: Path | None,
    trec: Path | None,
    answers: Path | None,
    layout: AnswerLayout,
    force: bool,
    note: Note,
) -> None:
    """Write what needs a folder of files."""
    from ohr.report.exports.answer_export import export_answers, read_back
    from ohr.report.exports.trec_export import export_trec
    from ohr.results.page_texts import export_texts

    if texts is not None:
        note(f"{counted(export_texts(run, texts, force=force), 'page')} in {texts}")
    if trec is not None:
        ranks = export_trec(run, trec, force=force)
        note(f"{counted(ranks.runs, 'run file')} and judgments of {counted(ranks.topics, 'topic')} in {trec}")
        if ranks.failed:
            note(f"{counted(ranks.failed, 'ranking')} of failed questions left out: they score 0 in the run, too")
        if ranks.scale > 1:
            note(f"grades are multiplied by {ranks.scale:,}, since such files have whole numbers: nDCG is the same")
        if ranks.several:
            note(f"{counted(ranks.several, 'hit')} on several pages, each a line of its own: ranks after it are larger")
    if answers is not None:
        done = export_answers(run, answers, layout.value, force=force)
        failed = f" ({done.failed:,} of them failed)" if done.failed else ""
        note(
            f"{counted(done.answers, 'answer')}{failed} in {counted(done.files, 'file')} of {layout.value} in {answers}"
        )
        note(f"score them again: ohr score answers FILE {read_back(run)}")


def _mlflow(run: "Run", uri: str, note: Note) -> None:
    from ohr.report.exports.tracking import export_mlflow

    done = export_mlflow(run, uri)
    place = f"MLflow experiment {done.experiment}, run {done.run_id}"
    if done.children:
        note(f"{place}, with {counted(done.children, 'nested run')}")
    else:
        note(f"{place}: is there already; only its tags were updated")
