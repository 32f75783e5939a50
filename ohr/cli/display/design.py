"""Detectable losses of a design, and the documents of others, as `ohr plan` prints them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf
from pathlib import Path
from typing import TYPE_CHECKING

from ohr.cli.display.console import say, say_table
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.results.run import Run
    from ohr.runner.power import Design, Enough, Needed


@dataclass(frozen=True, slots=True)
class Planned:
    """The losses that a design finds, and the documents that others need.

    Args:
        finds: by pilot, the smallest true loss that four of five studies find.
        enough: documents and questions that find losses of 10, 5 and 2 points where a stage's are hardest to find.
        detect: the loss to be found, with `needed` documents; `equivalent` and `needed_to_show` likewise.
    """

    size: "Design"
    pilot: Path | None
    finds: dict[str, float]
    enough: "list[Enough]"
    detect: float | None
    needed: "list[Needed]"
    equivalent: float | None
    needed_to_show: "list[Needed]"


def read_design(size: "Design", pilot: "Run | None", detect: float | None, equivalent: float | None) -> Planned:
    """Plan a study of a size, from a pilot's errors or from assumed ones."""
    from ohr.runner.power import enough, finds, hardest, needed, pilots

    found = pilots(pilot, size)
    *_, decides = stages = hardest(found, size)
    return Planned(
        size,
        pilot.folder if pilot else None,
        {one.name: finds(one, size) for one in found},
        [each for one in stages for each in enough(one, size)],
        detect,
        needed([decides], size, detect, "difference") if detect else [],
        equivalent,
        needed([decides], size, equivalent, "equivalence") if equivalent else [],
    )


def print_design(planned: Planned) -> None:
    """Print what a design finds, and what other losses need: three of them, where none is asked for."""
    size = planned.size
    together = f", {size.among()} comparisons judged together" if size.among() > 1 else ""
    about = (
        f"{counted(size.documents, 'document')}, {size.per_document:.1f} questions each, {counted(size.draws, 'draw')}"
        f"{together}"
    )
    if size.compares_nothing:
        say(f"this design ({about}) finds no loss: it compares nothing with clean text")
        return
    worst = max(planned.finds.values())
    if isinf(worst):
        say(f"this design ({about}) has too few documents to find any loss")
    elif planned.pilot is None:
        say(
            f"this design ({about}) finds a loss of about {100 * worst:.0f} points in four of five studies; "
            "the spread of scores is assumed: `ohr plan --from RUN` takes that of a finished run"
        )
    else:
        least = min(planned.finds.values())
        name = max(planned.finds, key=lambda one: planned.finds[one])
        say(
            f"this design ({about}) finds losses of {100 * least:.1f} to {100 * worst:.1f} points in four of five "
            f"studies; the largest: {name}"
        )
    if planned.detect is None and planned.equivalent is None:
        for stage in dict.fromkeys(each.stage for each in planned.enough):
            sentence = enough_sentence([each for each in planned.enough if each.stage == stage], size)
            say(f"{stage}: {sentence}" if stage else sentence)
    for aim, goal, rows in (
        ("find a loss", planned.detect, planned.needed),
        ("show that a loss is smaller than", planned.equivalent, planned.needed_to_show),
    ):
        if rows and goal is not None:
            connector = " of" if aim == "find a loss" else ""
            say(f"documents needed to {aim}{connector} {100 * goal:g} points in four of five studies:")
            _table(rows)


def enough_sentence(losses: "Sequence[Enough]", size: "Design") -> str:
    """Return in a sentence how many documents and questions find some losses."""
    first, *others = (f"{100 * each.loss:g} points {_enough(each)}" for each in losses)
    return f"with {size.per_document:.1f} questions each, a loss of {'; one of '.join([first, *others])}"


def _enough(losses: "Enough") -> str:
    if isinf(losses.documents):
        return "needs more draws: no number of documents suffices"
    return f"needs {counted(int(losses.documents), 'document')} ({counted(int(losses.questions), 'question')})"


def _table(rows: "list[Needed]") -> None:
    sizes = sorted({row.per_document for row in rows})
    cells = {(row.draws, row.per_document): row.documents for row in rows}
    say_table(
        ["draws", *(f"{size:.1f} questions each" for size in sizes)],
        [
            [str(draws), *(_documents(cells[draws, size]) for size in sizes)]
            for draws in sorted({row.draws for row in rows})
        ],
    )


def _documents(count: float) -> str:
    return "no number suffices: more draws" if count == inf else f"{count:,.0f}"
