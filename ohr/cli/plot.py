"""`ohr plot`: a run's figures, drawn again."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.options import RUNS, RunsFolder
from ohr.cli.show import say


def plot(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run's folder, or a run's name for its newest.", show_default=False)
    ],
    runs: RunsFolder = RUNS,
) -> None:
    """Draw a run's figures again, and print their paths."""
    from ohr.cli.runs import locate
    from ohr.figures.curves import draw

    for path in draw(locate(run, runs)):
        say(str(path))
