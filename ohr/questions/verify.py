"""Verifies candidates: rules one after the other, with what each removed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.messages.wording import named

from .candidate import Candidate, Removal
from .funnel import EXAMPLES, Example, Funnel, FunnelRow
from .rules import RULES, Rule, located
from .texts import Texts

__all__ = ["Funnel", "FunnelRow", "verify"]


def verify(
    candidates: Sequence[Candidate], truth: Mapping[str, Sequence[Page]], rules: Iterable[Rule] = RULES
) -> Funnel:
    """Run rules over candidates; a candidate that one removes does not reach the next.

    Args:
        candidates: with ids that are unique among them; survivors have their evidence in the words of its page.
        truth: ground-truth pages by document.
        rules: in their order, those that need no model first: `(*RULES, *model_rules(...))`.

    Raises:
        DataError: several candidates have the same id.
    """
    ids = Counter(candidate.id for candidate in candidates)
    if twice := [name for name, count in ids.items() if count > 1]:
        raise DataError(f"candidates must have different ids; used more than once: {named(twice)}")
    texts = Texts(truth)
    left = [located(candidate, texts) for candidate in candidates]
    rows: list[FunnelRow] = []
    removals: list[Removal] = []
    for rule in rules:
        removed = list(rule.check(left, texts)) if rule.runs else []
        names = {removal.candidate for removal in removed}
        rows.append(_row(rule, left, removed))
        left = [candidate for candidate in left if candidate.id not in names]
        removals += removed
    return Funnel(tuple(rows), tuple(left), tuple(removals))


def _row(rule: Rule, entered: Sequence[Candidate], removed: Sequence[Removal]) -> FunnelRow:
    first = {removal.candidate: removal for removal in removed[:EXAMPLES]}
    examples = tuple(
        Example(each.id, each.question, first[each.id].reason, first[each.id].undecided)
        for each in entered
        if each.id in first
    )
    undecided = sum(removal.undecided for removal in removed)
    return FunnelRow(rule.name, len(entered), len(removed), undecided, rule.runs, examples)
