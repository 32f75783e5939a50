"""The `ohr` command: which commands there are, and with which status they end."""

import gc
import logging
import os
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ohr.cli.display.console import report, say
from ohr.cli.later import Later
from ohr.errors import OhrError, SpecError, Terminated
from ohr.messages.variables import Formatter, hidden

FAILED_ITEMS, MISTAKE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
"""Exit statuses; 0 means that the command did everything."""


COMMANDS = {
    "demo": "Run the packaged quickstart study, offline.",
    "init": "Write a spec, and questions to fill in, for your own documents.",
    "run": "Run a study; results in the store are reused.",
    "check": "Validate a spec, and check that this machine has what it needs.",
    "plan": "Show a run's work that is left, and the loss that it can detect.",
    "hand-over": "Write documents and questions for a system that answers offline.",
    "plot": "Draw a run's figures, and print their paths.",
    "runs": "List runs, the newest last.",
    "status": "Show a run's progress by phase, with rate and time left.",
    "show": "Show what a run found, its means, or its questions.",
    "compare": "Compare two runs, conditions or TREC files, by question.",
    "report": "Write the findings of runs as one HTML page.",
    "view": "Show runs in a browser, also those in progress.",
    "serve": "Answer your own chat or app from a finished run.",
    "export": "Write a run as files of other programs, or log it to MLflow.",
    "schema": "Print the JSON Schema of a spec, installed plugins included.",
    "new": "Write a plugin of your own, ready to be changed.",
    "plugins": "List plugins, or show the parameters of one.",
    "noise": "Make noise, and measure it.",
    "score": "Score OCR results, answers or runs made elsewhere.",
    "data": "List, fetch or check benchmarks; build and review questions.",
    "cache": "Show or shrink the store.",
}
"""Every command with the first sentence of its own help, so that `ohr --help` imports none."""


class Commands(TyperGroup):
    """Imports the command that was typed, and ends one that cannot continue with a sentence, not with a traceback."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands.update({name: Later(name, first) for name, first in COMMANDS.items()})

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
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others give no memory back: 70 MB of a run
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else it looks through every installed package
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
