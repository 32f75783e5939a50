"""A plan, printed: the losses that a design can detect, the documents of others, and the money."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf
from pathlib import Path
from typing import TYPE_CHECKING

from ohr.cli.display.console import say, say_table
from ohr.messages.wording import counted, ranged

if TYPE_CHECKING:
    from ohr.results.run import Run
    from ohr.runner.plan_costs import Due, PlannedCost
    from ohr.runner.power import Design, Enough, Needed
    from ohr.statistics.planning import Range


@dataclass(frozen=True, slots=True)
class Planned:
    """The losses that a design finds, and the documents that others need; ranges, since a pilot may be lucky.

    Args:
        finds: by pilot, the smallest true loss that four of five studies find.
        fewest: documents that must change, at least, for any loss to be shown, at the stage with most comparisons.
        enough: documents and questions that find losses of 10, 5 and 2 points where a stage's are hardest to find.
        one_draw: the pilot cannot say what more draws, or more questions of a document, would help.
        detect: the loss to be found, with `needed` documents; `equivalent` and `needed_to_show` likewise.
    """

    size: "Design"
    pilot: Path | None
    finds: "dict[str, Range]"
    fewest: int
    enough: "list[Enough]"
    one_draw: bool
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
        size.fewest(),
        [each for one in stages for each in enough(one, size)],
        decides.has_one_draw,
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
    say(f"this design ({about}) {_finds(planned)}")
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
            if planned.one_draw:
                say("the pilot has one draw of each noise: it cannot say what more draws or questions would help")


def _finds(planned: Planned) -> str:
    """Return which losses a design finds, or how many documents it takes to find any."""
    size, name = planned.size, max(planned.finds, key=lambda name: planned.finds[name].high)
    hardest = planned.finds[name]
    if size.documents < planned.fewest:
        few = f"{planned.fewest} documents are the fewest that can show anything, if all of them lose"
        return f"can show no loss, however large: {few}"
    if isinf(hardest.low):
        return "has too few documents to find any loss in four of five studies"
    loss = f"{_points(hardest)} in four of five studies"
    if planned.pilot is None:
        assumed = "the spread of scores is assumed: `ohr plan --from RUN` takes that of a finished run"
        return f"finds a loss of {loss}; {assumed}"
    return f"finds losses of {loss}, where they are hardest to find: {name}"


def _points(loss: "Range") -> str:
    if isinf(loss.high):
        return f"{100 * loss.low:.0f} points or more"
    low, high = f"{100 * loss.low:.0f}", f"{100 * loss.high:.0f}"
    return f"about {high} points" if low == high else f"{low} to {high} points"


def enough_sentence(losses: "Sequence[Enough]", size: "Design") -> str:
    """Return in a sentence how many documents and questions find some losses."""
    first, *others = (f"{100 * each.loss:g} points {_enough(each)}" for each in losses)
    return f"with {size.per_document:.1f} questions each, a loss of {'; one of '.join([first, *others])}"


def _enough(losses: "Enough") -> str:
    if isinf(losses.documents.low):
        return "needs more draws: no number of documents suffices"
    return f"needs {ranged(losses.documents, 'document')} ({ranged(losses.questions, 'question')})"


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


def _documents(needed: "Range") -> str:
    return "no number suffices: more draws" if needed.low == inf else ranged(needed, "")


def print_costs(costs: "Sequence[PlannedCost]", currency: str) -> None:
    """Print what is left to pay for, beside the whole study."""
    from ohr.report.views.effort_and_money import USES
    from ohr.report.views.view import Amount

    def line(cost: "PlannedCost", due: "Due") -> list[str]:
        money = cost.note if due.at_most is None else str(Amount(due.at_most))
        expected = "" if due.expected is None else str(Amount(due.expected))
        return [f"{due.count:,}", f"{due.tokens_in:,}", money, expected]

    rows = [(USES[cost.use], cost.name, *line(cost, cost.left), *line(cost, cost.all)) for cost in costs]
    if len(costs) > 1:
        sides = [[getattr(cost, side) for cost in costs] for side in ("left", "all")]
        totals = [total for dues in sides for total in _money_totals(dues)]
        rows.append(("total", "", "", "", *totals[:2], "", "", *totals[2:]))
    unit = f" ({currency})" if currency else ""
    of_left = ("left", "tokens in", f"at most{unit}", "expected")
    of_all = ("whole study", "tokens in", f"at most{unit}", "expected")
    say_table(("for", "who", *of_left, *of_all), rows)
    say(
        "At most: the estimated prompts, and every reply as long as `max_tokens`; agents ask as often as they may. "
        "Expected: replies as long as those of earlier runs; in the total, what has none counts with its bound. "
        "Floors and ceilings: answers without a document, from another page, and from the evidence alone."
    )
    unknown = [f"{cost.name} ({cost.note})" for cost in costs if cost.left.at_most is None and cost.left.count]
    if unknown:
        say(f"Not in the money: {', '.join(dict.fromkeys(unknown))}")


def _money_totals(dues: "Sequence[Due]") -> tuple[str, str]:
    """Write the money at most and expected: nothing where it is known of nobody, incomplete where of some."""
    from ohr.report.views.view import Amount

    bounds = [due.at_most for due in dues]
    # what has no expected value counts with its bound, or the sum would look too small
    means = [due.expected if due.expected is not None else due.at_most for due in dues]

    def total(amounts: "Sequence[float | None]") -> str:
        unknown = any(amount is None and due.count for amount, due in zip(amounts, dues, strict=True))
        return f"{'incomplete: ' if unknown else ''}{Amount(sum(filter(None, amounts)))}"

    has_bound = any(bound is not None for bound in bounds)
    has_mean = any(due.expected is not None for due in dues)
    return total(bounds) if has_bound else "", total(means) if has_mean else ""
