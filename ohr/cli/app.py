"""The `ohr` command: which commands there are, and with which status they end."""

import signal
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ohr.cli import cache, data, noise, plugins, score
from ohr.cli.check import check
from ohr.cli.demo import demo
from ohr.cli.display.console import say, tell
from ohr.cli.new import new
from ohr.cli.plan import plan
from ohr.cli.plot import plot
from ohr.cli.run import run
from ohr.cli.runs import runs
from ohr.cli.schema import schema
from ohr.cli.show import show
from ohr.errors import OhrError, SpecError
from ohr.messages.variables import hidden

FAILED_ITEMS, MISTAKE, INTERRUPTED = 1, 2, 130
"""Exit statuses; 0 is a command that did all it was asked."""


class Commands(TyperGroup):
    """Ends a command that cannot go on with a sentence and a status, not with a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except OhrError as error:
            # a spec's own faults name its file, which may be below the folder that a variable names
            tell(str(error) if isinstance(error, SpecError) else hidden(str(error)))
            raise typer.Exit(_status(error)) from None
        except BrokenPipeError:
            raise  # `ohr plugins | head`: typer ends quietly
        except OSError as error:
            tell(hidden(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
            raise typer.Exit(MISTAKE) from None
        except KeyboardInterrupt:
            tell("interrupted; run the same command again to resume")
            raise typer.Exit(INTERRUPTED) from None


def _status(error: OhrError) -> int:
    from ohr.engine.work import TooManyFailures

    return FAILED_ITEMS if isinstance(error, TooManyFailures) else MISTAKE


# plain help and plain tracebacks: rich takes 0.15 s to load, and its tracebacks show the values of secrets
app = typer.Typer(cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True)
for command in (demo, run, check, plan, plot, runs, show, schema, new):
    app.command()(command)
app.add_typer(plugins.app, name="plugins")
app.add_typer(noise.app, name="noise")
app.add_typer(score.app, name="score")
app.add_typer(data.app, name="data")
app.add_typer(cache.app, name="cache")


def _version(asked: bool) -> None:
    if asked:
        import ohr

        say(ohr.__version__)
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Measure how OCR noise travels through retrieval-augmented generation."""


def main() -> None:
    """Run the command that was typed; the process ends with its status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what a batch system sends is a Ctrl-C
    app()
