"""The `ohr` command: which commands there are, and with which status they end."""

import gc
import logging
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ohr.cli import cache, data, noise, plugins, score
from ohr.cli.check import check
from ohr.cli.compare import compare
from ohr.cli.demo import demo
from ohr.cli.display.console import report, say
from ohr.cli.export import export
from ohr.cli.hand_over import hand_over
from ohr.cli.init import init
from ohr.cli.new import new
from ohr.cli.plan import plan
from ohr.cli.plot import plot
from ohr.cli.report import report as report_command
from ohr.cli.run import run
from ohr.cli.runs import runs
from ohr.cli.schema import schema
from ohr.cli.serve import serve
from ohr.cli.show import show
from ohr.cli.status import status
from ohr.cli.view import view
from ohr.errors import OhrError, SpecError, Terminated
from ohr.messages.variables import Formatter, hidden

FAILED_ITEMS, MISTAKE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
"""Exit statuses; 0 means that the command did everything."""


class Commands(TyperGroup):
    """Ends a command that cannot continue with a sentence and an exit status, not with a traceback."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the words of the command, for which typer imports much."""
        try:
            return super().make_context(*args, **options)
        except KeyboardInterrupt as interruption:
            raise typer.Exit(_interrupted(interruption)) from None

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except OhrError as error:
            if interruption := _cause(error) or next(iter(_sent), None):
                raise typer.Exit(_interrupted(interruption)) from None
            if ctx.obj:
                raise
            # a spec's own faults name its file, which may be below the folder that a variable names
            report(str(error) if isinstance(error, SpecError) else hidden(str(error)))
            raise typer.Exit(_status(error)) from None
        except typer.BadParameter as error:  # in the words of the rest of ohr
            plain = error.message.removeprefix("Value error, ").removesuffix(".")
            error.message = plain.replace("Input should be", "must be")
            raise
        except BrokenPipeError:
            raise  # `ohr plugins | head`: typer ends quietly
        except OSError as error:
            report(hidden(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
            raise typer.Exit(MISTAKE) from None
        except KeyboardInterrupt as interruption:
            raise typer.Exit(_interrupted(interruption)) from None


def _cause(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interruption that an error comes from: Python turns one in the body of a class into a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error


def _interrupted(interruption: KeyboardInterrupt) -> int:
    """Report that a command was interrupted, and how to continue; return its status."""
    for line in (*interruption.args, "interrupted; run the same command again to resume"):
        report(str(line))
    return TERMINATED if isinstance(interruption, Terminated) else INTERRUPTED


def _status(error: OhrError) -> int:
    from ohr.engine.ledger import TooManyFailures

    return FAILED_ITEMS if isinstance(error, TooManyFailures) else MISTAKE


# plain help and plain tracebacks: rich takes 0.15 s to load, and its tracebacks show the values of secrets
app = typer.Typer(cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True)
for command in (
    demo,
    init,
    run,
    check,
    plan,
    hand_over,
    plot,
    runs,
    status,
    show,
    compare,
    report_command,
    view,
    serve,
    export,
    schema,
    new,
):
    app.command()(command)
app.add_typer(plugins.app, name="plugins")
app.add_typer(noise.app, name="noise")
app.add_typer(score.app, name="score")
app.add_typer(data.app, name="data")
app.add_typer(cache.app, name="cache")


def _version(asked: bool) -> None:
    if asked:
        import ohr
        from ohr.commit import own_commit, with_commit

        say(with_commit(ohr.__version__, own_commit()))
        raise typer.Exit


@app.callback()
def about(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 # its callback prints it
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version with its commit and stop."),
    ] = False,
    log_level: Annotated[
        str, typer.Option(metavar="LEVEL", help="Least serious messages to print: debug, info, warning or error.")
    ] = "warning",
    debug: Annotated[bool, typer.Option("--debug", help="Print everything, and tracebacks of errors.")] = False,
) -> None:
    """Measure how OCR noise travels through retrieval-augmented generation."""
    _log_to_stderr("debug" if debug else log_level)
    context.obj = debug


def _log_to_stderr(level: str) -> None:
    """Print log records with their time on stderr."""
    names = logging.getLevelNamesMapping()
    if level.upper() not in names:
        report(f"--log-level {level}: choose one of debug, info, warning, error")
        raise typer.Exit(MISTAKE)
    handler = logging.StreamHandler()
    handler.setFormatter(Formatter())
    handler.setLevel(names[level.upper()])
    root = logging.getLogger("ohr")
    root.handlers = [handler]
    root.setLevel(min(names[level.upper()], logging.INFO))  # a run's own log has what is done
    root.propagate = False


def main() -> None:
    """Run the command that was typed; the process ends with its status."""
    gc.set_threshold(100_000, 20, 20)  # by default collections take a tenth of a run, and find next to nothing
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except KeyboardInterrupt as interruption:  # while a command was still being imported
        sys.exit(_interrupted(interruption))


_sent: list[Terminated] = []
"""The SIGTERM that came: Python drops what is raised while it collects garbage."""


def _terminate(*_: object) -> None:
    _sent.append(Terminated())
    raise _sent[-1]
