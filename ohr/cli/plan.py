"""`ohr plan`: the steps of a run, and those that are done."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import say, say_first, say_json, say_table
from ohr.cli.options import RUNS, STORE, AsJson, RunsFolder, StoreFolder, StudyOptions, Workers, command_of
from ohr.messages.wording import counted, sized

if TYPE_CHECKING:
    from ohr.cli.display.plans import Planned
    from ohr.runner.plan import Plan
    from ohr.spec.model import Spec


@dataclass(frozen=True, kw_only=True)
class PlanOptions(StudyOptions):
    """Options of `ohr plan`."""

    workers: Workers = None
    detect: Annotated[
        float | None, typer.Option(min=0.0001, max=1, help="Also print the documents that a loss this large needs.")
    ] = None
    equivalent: Annotated[
        float | None, typer.Option(min=0.0001, max=1, help="Also print those that show a loss to be smaller than this.")
    ] = None
    pilot: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="A finished run whose errors are used; else they are assumed."),
    ] = None
    store: StoreFolder = STORE
    runs: RunsFolder = RUNS
    as_json: AsJson = False


@command_of(PlanOptions)
def plan(given: PlanOptions) -> None:
    """Show a run's work that is left, and the loss that it can detect."""
    from ohr.cli.display.plans import read_design
    from ohr.cli.runs import open_run
    from ohr.runner import plan as study

    processes = given.workers or os.cpu_count() or 1
    spec = given.read()
    made = study.plan(spec, given.store, processes, given.limit)
    pilot = open_run(given.pilot, given.runs) if given.pilot else None
    planned = read_design(made.design, pilot, given.detect, given.equivalent)
    if given.as_json:
        say_json({**asdict(made), "detects": planned})
        return
    _print(spec, made, planned, processes)


def _print(spec: "Spec", made: "Plan", planned: "Planned", processes: int) -> None:
    from ohr.cli.display.plans import print_costs, print_design

    stages = ", ".join(f"{count} {stage}" for stage, count in made.cells.items())
    say(f"{spec.name}: {sized(made.documents, made.documents_asked, made.questions)}")
    say(f"{counted(sum(made.cells.values()), 'cell')}: {stages}")
    say_table(
        ("step", "total", "in store", "left"),
        [(name, str(n.total), str(n.total - n.left), str(n.left)) for name, n in made.steps.items()],
    )
    say(_left(made, processes))
    if spec.prices:
        print_costs(made.costs, spec.currency)
    print_design(planned)
    say_first("warnings:", made.warnings)


def _left(made: "Plan", workers: int) -> str:
    if not any(count.left for count in made.steps.values()):
        return "left to do: nothing"
    waits = ("pages to read", "prompts to answer", "agent questions", "system questions")
    if not any(made.steps[name].left for name in waits if name in made.steps):
        searches, all_left = made.steps["searches"].left, sum(count.left for count in made.steps.values())
        rest = [counted(searches, "search", "searches")] if searches else []
        rest += [counted(all_left - searches, "other step")] if all_left > searches else []
        return f"left to do: {' and '.join(rest)}, not timed; no page to read and no prompt to answer"
    minutes = "time unknown: no page or answer was timed here yet"
    if made.waits:
        minutes += f"; at least {made.waits:.1f} minutes by limits per minute"
    if made.minutes is not None:
        minutes = f"about {made.minutes:.1f} minutes with {counted(workers, 'worker')}"
    if made.agent_calls:
        calls = counted(made.agent_calls, "call")
        minutes = f"at most {calls} of agents with {made.agent_tokens:,} prompt tokens; {minutes}"
    asked = f"about {made.tokens:,} prompt tokens; " if made.tokens else ""
    return f"left to do: {asked}{minutes}"
