"""`ohr view`: the runs of a folder in the browser, live."""

from contextlib import suppress
from typing import Annotated

import typer

from ohr.cli.display.console import report, say
from ohr.cli.options import RUNS, RunsFolder


def view(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")] = 8642,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
    trust_plugins: Annotated[
        bool, typer.Option("--trust-plugins", help="Run the runs' plugin files, which page images may need.")
    ] = False,
    runs: RunsFolder = RUNS,
) -> None:
    """Show all runs in the browser, also while they run.

    Only this machine can reach the pages. Questions, pages and images are read when they are looked at.
    """
    from ohr import extras
    from ohr.errors import DataError
    from ohr.report.html.serve import Site, make_server

    extras.require("jinja2", "report")
    if not runs.is_dir():
        raise DataError(f"{runs}: no such folder of runs: `ohr run` makes it, or --runs names it")
    try:
        server = make_server(Site(runs, trust_plugins=trust_plugins), port)
    except OSError as error:
        raise DataError(f"port {port}: {error.strerror}: choose another with --port") from None
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    say(address)
    report("Ctrl-C ends it")
    if open_browser:
        _open(address)
    with server, suppress(KeyboardInterrupt):
        server.serve_forever(poll_interval=0.2)


def _open(address: str) -> None:
    import webbrowser

    with suppress(webbrowser.Error):
        webbrowser.open(address)
