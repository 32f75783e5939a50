"""`ohr export`: parts of a run as files for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.options import RUNS, RunsFolder
from ohr.messages.wording import counted


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder, or its name for the newest.")],
    texts: Annotated[
        Path | None,
        typer.Option("--texts", metavar="DIR", help="Write each page of each knowledge base as a text file."),
    ] = None,
    runs: RunsFolder = RUNS,
) -> None:
    """Write parts of a run as files."""
    from ohr.cli.runs import locate
    from ohr.results.folder import read_finished
    from ohr.results.texts import export_texts

    folder = locate(run, runs)
    read_finished(folder)
    if texts is None:
        raise typer.BadParameter("name what to write: --texts DIR")
    pages = export_texts(folder, texts)
    say(f"{counted(pages, 'page')} in {texts}")
