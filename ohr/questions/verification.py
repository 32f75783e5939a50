"""Verifies candidates: rules one after the other, with how many each got and removed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.messages.wording import named
from ohr.questions.candidate import Candidate, Removal
from ohr.questions.candidate_rules import RULES, Rule, located
from ohr.questions.truth_texts import Texts

EXAMPLES = 3
"""Removals of a rule that a funnel shows."""


@dataclass(frozen=True, slots=True)
class Example:
    """A candidate that a rule removed, and why."""

    candidate: str
    question: str
    reason: str
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """Counts of one rule.

    Args:
        entered: candidates that it got; those that are left went to the next rule.
        undecided: of the removed ones, those about which no model gave a reply that could be used.
        runs: False for a rule that was off, or needs a model and had none.
        examples: the first removals.
    """

    rule: str
    entered: int
    removed: int
    undecided: int = 0
    runs: bool = True
    examples: tuple[Example, ...] = ()

    @property
    def left(self) -> int:
        """How many candidates the rule let pass."""
        return self.entered - self.removed


@dataclass(frozen=True, slots=True)
class Funnel:
    """Result of all rules.

    Args:
        rows: one for each rule, in their order.
        survivors: candidates that no rule removed, in their order, with the places of their evidence.
        removals: all of them, rule by rule; each candidate is removed once at most.
    """

    rows: tuple[FunnelRow, ...]
    survivors: tuple[Candidate, ...]
    removals: tuple[Removal, ...]


def write_funnel(path: Path, rows: Sequence[FunnelRow]) -> None:
    """Write the rows of a funnel as JSON.

    Raises:
        DataError: the file cannot be written.
    """
    text = json.dumps({"rules": [asdict(row) for row in rows]}, ensure_ascii=False, indent=1)
    try:
        path.write_bytes(f"{text}\n".encode("utf-8", "replace"))
    except OSError as error:
        raise DataError(f"{path}: the funnel cannot be written: {error.strerror}") from None


def rule_name(rule: str) -> str:
    """Write a rule's name in words."""
    return rule.replace("_", " ")


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
