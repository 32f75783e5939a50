"""The funnel of a set of questions as tables: what each rule removed, and examples."""

from collections.abc import Sequence

from ohr.messages.wording import shortened
from ohr.questions.funnel import FunnelRow
from ohr.report.views.view import Cell, View

_LONGEST = 120
"""Characters of a question or a reason in a table."""


def rule_name(row: FunnelRow) -> str:
    """Write a rule's name in words."""
    return row.rule.replace("_", " ")


def funnel(rows: Sequence[FunnelRow]) -> list[View]:
    """Arrange a funnel: the counts of all rules, then examples of each, if any removed a candidate."""
    lines: list[tuple[Cell, ...]] = [
        (rule_name(row) + " (not run)" * (not row.runs), row.entered, row.removed, row.undecided, row.left)
        for row in rows
    ]
    if rows:
        removed, undecided = sum(row.removed for row in rows), sum(row.undecided for row in rows)
        lines.append(("all rules", rows[0].entered, removed, undecided, rows[-1].left))
    how = (
        "Rules are run from the top; a question that one removes does not reach the next. "
        "Undecided, of those removed: no model gave a reply that could be used."
    )
    headers = ("removed by", "entered", "removed", "undecided", "left")
    counts = View("Verification of the questions", how, headers, tuple(lines), labels=1)
    examples = [
        (rule_name(row), shortened(example.question, _LONGEST), shortened(example.reason, _LONGEST))
        for row in rows
        for example in row.examples
    ]
    starts = frozenset(place for place, line in enumerate(examples) if not place or line[0] != examples[place - 1][0])
    shown = "The first questions that each rule removed."
    removals = View("Removed questions", shown, ("removed by", "question", "reason"), tuple(examples), starts=starts)
    return [counts, removals] if examples else [counts]
