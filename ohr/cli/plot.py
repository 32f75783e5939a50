"""`ohr plot`: a run's figures, drawn again, or as a paper or a talk needs them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.options import RUNS, Force, RunsFolder


class Style(StrEnum):
    """Where a figure will be seen."""

    PAPER = "paper"
    SLIDES = "slides"


class X(StrEnum):
    """X axis of curves."""

    R_NOISE = "r_noise"
    EVIDENCE_LOSS = "evidence_loss"
    CONDITION = "condition"


RunPlace = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run's folder, or a run's name for its newest.", show_default=False)
]
Formats = Annotated[
    list[str] | None,
    typer.Option("--format", metavar="svg|pdf|png", help="Repeat it, or separate by commas; svg and png."),
]
Styles = Annotated[Style, typer.Option(help="For a page of two columns, or 16:9 with larger type and lines.")]
Width = Annotated[float | None, typer.Option(metavar="INCHES", help="By default 7, or 13.3 for slides.")]
Metric = Annotated[
    str | None, typer.Option(metavar="NAME", help="Any metric of the run; by default each stage's headline.")
]
Axis = Annotated[X | None, typer.Option("--x", help="Draw only the curves against this axis.", show_default=False)]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Of text, multimodal, reading_order, all; separated by commas."),
]
Joint = Annotated[
    bool | None,
    typer.Option("--joint/--no-joint", help="Bands that hold at all levels together; by default where curves are few."),
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder for the files; by default the run's figures.")
]


def plot(
    run: RunPlace,
    formats: Formats = None,
    style: Styles = Style.PAPER,
    width: Width = None,
    metric: Metric = None,
    x: Axis = None,
    columns: Columns = None,
    joint: Joint = None,
    out: Out = None,
    force: Force = False,
    runs: RunsFolder = RUNS,
) -> None:
    """Draw a run's figures, and print their paths.

    Where a noise has several levels, these are curves; otherwise the conditions side by side. Fonts are embedded.
    """
    from ohr.cli.runs import open_run
    from ohr.report.figures.choices import USUAL, Wanted
    from ohr.report.figures.drawing import draw

    opened = open_run(run, runs)
    wanted = Wanted(x.value if x else None, metric, _split(columns), style.value, width, joint)
    for path in draw(opened, wanted, _split(formats) or USUAL, out, force=force):
        say(str(path))


def _split(words: list[str] | None) -> tuple[str, ...]:
    """Split what is separated by commas."""
    return tuple(part.strip() for word in words or () for part in word.split(",") if part.strip())
