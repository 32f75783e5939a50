"""The money of a plan, printed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ohr.cli.display.console import say, say_table

if TYPE_CHECKING:
    from ohr.runner.plan_costs import Due, PlannedCost


def print_costs(costs: "Sequence[PlannedCost]", currency: str) -> None:
    """Print what is left to pay for, beside the whole study."""
    from ohr.report.views.money import USES
    from ohr.report.views.view import Amount

    def line(cost: "PlannedCost", due: "Due") -> list[str]:
        money = cost.note if due.at_most is None else str(Amount(due.at_most))
        expected = "" if due.expected is None else str(Amount(due.expected))
        return [f"{due.count:,}", f"{due.tokens_in:,}", money, expected]

    rows = [(USES[cost.use], cost.name, *line(cost, cost.left), *line(cost, cost.all)) for cost in costs]
    if len(costs) > 1:
        sides = [[getattr(cost, side) for cost in costs] for side in ("left", "all")]
        totals = [total for dues in sides for total in _totals(dues)]
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


def _totals(dues: "Sequence[Due]") -> tuple[str, str]:
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
