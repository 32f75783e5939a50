"""`ohr plot`: a run's figures, drawn again."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.options import RUNS, RunsFolder


def plot(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run's folder, or a run's name for its newest.", show_default=False)
    ],
    runs: RunsFolder = RUNS,
) -> None:
    """Draw a run's figures again, and print their paths."""
    from ohr.cli.runs import locate
    from ohr.report.figures.curves import draw
    from ohr.results.folder import read_finished

    folder = locate(run, runs)
    read_finished(folder)
    for path in draw(folder):
        say(str(path))
