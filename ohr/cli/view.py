"""`ohr view`: runs in a browser, with every question and page, also while they are in progress."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ohr.cli.display.console import report, say
from ohr.cli.options import RUNS, RunsFolder

PORT = 8571


def view(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")] = PORT,
    browse: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = False,
    trust_plugins: Annotated[
        bool, typer.Option("--trust-plugins", help="Run the runs' plugin files, which page images may need.")
    ] = False,
    runs: RunsFolder = RUNS,
) -> None:
    """Show runs in a browser, also those in progress.

    The pages are for this machine only. Questions and page images are read when they are looked at.
    """
    from ohr import extras
    from ohr.errors import DataError
    from ohr.report.html.site import Site, make_server
    from ohr.serving.http import serve_until_interrupted

    extras.require("jinja2", "report")
    if not runs.is_dir():
        raise DataError(f"{runs}: there is no such folder: name the folder of runs with --runs")
    server = make_server(Site(runs, _progress, trust_plugins=trust_plugins), port)
    address = f"http://127.0.0.1:{server.server_port}/"
    say(address)
    report("Press Ctrl-C to end.")
    if browse:
        import webbrowser

        webbrowser.open(address)
    serve_until_interrupted(server)


def _progress(folder: Path) -> list[dict[str, Any]]:
    from ohr.runner.events import phases

    return [
        {"name": one.name, "done": one.done, "total": one.total, "rate": one.rate, "left": one.left}
        for one in phases(folder)
    ]
