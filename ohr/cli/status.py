"""`ohr status`: the progress of a run, from another terminal."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import say, say_json, say_table
from ohr.cli.display.progress import pace
from ohr.cli.options import RUNS, AsJson, RunsFolder
from ohr.cli.runs import locate
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.runner.events import Phase


def status(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a name: its newest run.")],
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show a run's progress by phase, with rate and time left."""
    from ohr.results.run import Run
    from ohr.runner.events import phases, read_events

    folder = locate(run, runs, finished=False)
    shown_run = Run(folder)
    found, state = phases(folder), shown_run.status
    failures = [event for event in read_events(folder) if event.get("event") == "failure"]
    if as_json:
        runs_on = state == "running"
        shown = [
            {"phase": p.name, "done": p.done, "total": p.total, "rate": p.rate, "left": p.left if runs_on else None}
            for p in found
        ]
        left = _time_left(found) if runs_on else ""
        say_json({"run": folder, "status": state, "phases": shown, "time_left": left, "failures": failures})
        return
    say(": ".join(filter(None, (str(folder), state, shown_run.manifest.get("reason")))))
    if found:
        rows = [
            (p.name, f"{p.done:,}", f"{p.total:,}", pace(p.rate), _left(p.left) if state == "running" else "")
            for p in found
        ]
        say_table(("phase", "done", "total", "rate", "left"), rows)
        if state == "running":
            say(f"time left: {_time_left(found)}")
    if failures:
        last = failures[-1]
        say(f"{counted(len(failures), 'item')} failed, the last: {last['stage']} on {last['item']}: {last['reason']}")


def _time_left(phases: "Sequence[Phase]") -> str:
    """Return the time until the last phase ends: those that have begun work at the same time."""
    open_ones = [phase for phase in phases if phase.done < phase.total]
    longest = max((phase.left for phase in open_ones if phase.left is not None), default=None)
    waiting = [phase.name for phase in open_ones if phase.left is None]
    if not waiting or longest is None:
        return _left(longest if open_ones else 0.0)
    return f"at least {_left(longest)}; not begun: {', '.join(waiting)}"


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return "done" if not seconds else str(timedelta(seconds=round(seconds)))
