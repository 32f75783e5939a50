"""`ohr export`: a run as files and tables of other programs."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import report, say
from ohr.cli.options import RUNS, Force, RunsFolder
from ohr.messages.wording import counted


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
    """Write a run as tables, texts or runs of MLflow.

    A row of the table is a condition, a column a pipeline; with --by, a column is a group of questions. The CSV has
    every row of the summary; --metric, --by and --stage restrict it too.
    """
    from ohr.cli.runs import locate
    from ohr.results.folder.replace import refuse
    from ohr.results.folder.run_folder import read_finished
    from ohr.results.tables.page_texts import export_texts

    files = {"latex": latex, "markdown": markdown, "csv": csv}
    wanted = {name: path for name, path in files.items() if path is not None}
    if not wanted and mlflow is None and texts is None:
        raise typer.BadParameter("name what to write: --latex, --markdown or --csv FILE, --mlflow URI, or --texts DIR")
    swallowed = next((path for path in (*files.values(), texts) if str(path or "").startswith("--")), None)
    if swallowed is not None:  # the parser takes the option that follows for the file
        raise typer.BadParameter(f"the option before {swallowed} needs a file, or - to print the table")
    if sum(path == _PRINTED for path in wanted.values()) > 1:
        raise typer.BadParameter("only one table can be printed: name a file for the others")
    named = [path.resolve() for path in (*wanted.values(), texts) if path not in (None, _PRINTED)]
    if len(set(named)) < len(named):
        raise typer.BadParameter("two options name one file: give each its own")
    folder = locate(run, runs)
    manifest = read_finished(folder)
    note = report if _PRINTED in wanted.values() else say
    for name, path in wanted.items():
        if path != _PRINTED:
            refuse(path, f"--{name}", force=force)
    tables = {name: _written(name, folder, manifest["name"], values, metric, by, stage) for name in wanted}
    for name, path in wanted.items():
        _put(tables[name], path, f"--{name}", force, note)
    if texts is not None:
        note(f"{counted(export_texts(folder, texts, force=force), 'page')} in {texts}")
    if mlflow is not None:
        _mlflow(folder, mlflow, note)


_PRINTED = Path("-")


def _written(
    form: str, folder: Path, name: str, values: Values, metric: str | None, by: str | None, stage: Stage | None
) -> str:
    """Return one table as text."""
    from ohr.report.exports.latex import latex
    from ohr.report.exports.markdown import markdown
    from ohr.report.exports.paper import Wanted, paper_table
    from ohr.report.exports.summary_csv import summary_csv

    only = stage and stage.value
    if form == "csv":
        return summary_csv(folder, metric=metric, by=by, stage=only)
    table = paper_table(folder, Wanted(values.value, metric, by, only))
    return latex(table, name) if form == "latex" else markdown(table)


def _put(text: str, path: Path, option: str, force: bool, note: Callable[[str], None]) -> None:
    from ohr.results.folder.replace import written

    if path == _PRINTED:
        typer.echo(text.encode("utf-8", "replace"), nl=False)
        return
    with written(path, option, force=force) as new:
        new.write_bytes(text.encode("utf-8", "replace"))
    note(str(path))


def _mlflow(folder: Path, uri: str, note: Callable[[str], None]) -> None:
    from ohr.report.exports.tracking import export_mlflow

    done = export_mlflow(folder, uri)
    place = f"MLflow experiment {done.experiment}, run {done.run_id}"
    if done.children:
        note(f"{place}, with {counted(done.children, 'nested run')}")
    else:
        note(f"{place}: is there already; only its tags were updated")
