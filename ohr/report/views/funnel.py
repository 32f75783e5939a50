"""The funnel of a set of questions as tables: what each rule removed, and examples."""

from collections.abc import Sequence

from ohr.questions.verification import FunnelRow, rule_name
from ohr.report.views.view import Cell, View

_LONGEST = 80
"""Characters of a question or a reason in a table."""


def funnel(rows: Sequence[FunnelRow]) -> list[View]:
    """Arrange a funnel: the counts of the rules that removed candidates, then examples of each of these.

    The other rules are named below the counts: those that removed nothing, and those that were not run.
    """
    lines: list[tuple[Cell, ...]] = [
        (rule_name(row.rule), row.entered, row.removed, row.undecided, row.left) for row in rows if row.removed
    ]
    if rows:
        removed, undecided = sum(row.removed for row in rows), sum(row.undecided for row in rows)
        lines.append(("all rules", rows[0].entered, removed, undecided, rows[-1].left))
    how = (
        "Rules are run from the top; a question that one removes does not reach the next. "
        "Undecided, of those removed: no model gave a reply that could be used."
    )
    for title, names in (
        ("Removed nothing", [rule_name(row.rule) for row in rows if row.runs and not row.removed]),
        ("Not run", [rule_name(row.rule) for row in rows if not row.runs]),
    ):
        how += f" {title}: {', '.join(names)}." if names else ""
    headers = ("removed by", "entered", "removed", "undecided", "left")
    counts = View("Verification of the questions", how, headers, tuple(lines), labels=1)
    examples = [
        (rule_name(row.rule), _beginning(example.question), _beginning(example.reason))
        for row in rows
        for example in row.examples
    ]
    starts = frozenset(place for place, line in enumerate(examples) if not place or line[0] != examples[place - 1][0])
    shown = "The first questions that each rule removed."
    removals = View("Removed questions", shown, ("removed by", "question", "reason"), tuple(examples), starts=starts)
    return [counts, removals] if examples else [counts]


def _beginning(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3].rstrip()}..."
