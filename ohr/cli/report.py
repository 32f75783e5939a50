"""`ohr report`: the findings of runs as one page that opens offline."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.options import RUNS, Force, RunsFolder


def report(
    chosen: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders, or names for the newest.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The page; by default report.html in the folder of the first run."),
    ] = None,
    images: Annotated[int, typer.Option(min=0, metavar="N", help="Page images in the page, at most.")] = 24,
    trust_plugins: Annotated[
        bool, typer.Option("--trust-plugins", help="Run the runs' plugin files, which page images may need.")
    ] = False,
    pages: Annotated[
        bool, typer.Option("--pages", help="Measure pages: edit distances, faulty blocks, confused words and more.")
    ] = False,
    no_texts: Annotated[
        bool,
        typer.Option("--no-texts", help="Leave out questions, answers, pages and images: numbers and names alone."),
    ] = False,
    force: Force = False,
    runs: RunsFolder = RUNS,
) -> None:
    """Write the findings of runs as one HTML page.

    It holds everything that it shows, and opens without a network. The details of a large run are in a folder beside
    it, which moves with the page.
    """
    from ohr.cli.runs import open_run
    from ohr.report.html.report_file import write_report
    from ohr.results.folder.run_folder import REPORT

    opened = [open_run(run, runs) for run in chosen]
    page, workers = out or opened[0].folder / REPORT, os.cpu_count() or 1
    written = write_report(
        opened,
        page,
        images=images,
        trust_plugins=trust_plugins,
        pages=pages,
        texts=not no_texts,
        workers=workers,
        force=force,
    )
    for path in written:
        say(str(path))
