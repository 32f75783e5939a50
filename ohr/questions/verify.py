"""Verifies candidates: rules one after the other, with what each removed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.messages.wording import named

from .candidate import Candidate, Removal
from .rules import RULES, Rule, located
from .texts import Texts

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """Counts of one rule.

    Args:
        entered: candidates that it got; those that are left went to the next rule.
        examples: the first removals.
    """

    rule: str
    entered: int
    removed: int
    examples: tuple[Removal, ...]

    @property
    def left(self) -> int:
        """How many candidates the rule let pass."""
        return self.entered - self.removed


@dataclass(frozen=True, slots=True)
class Funnel:
    """Result of all rules.

    Args:
        rows: one for each rule, in the order in which they were run.
        survivors: candidates that no rule removed, in their order, with the places of their evidence.
        removals: all of them, rule by rule; each candidate is removed once at most.
    """

    rows: tuple[FunnelRow, ...]
    survivors: tuple[Candidate, ...]
    removals: tuple[Removal, ...]


def verify(
    candidates: Sequence[Candidate], truth: Mapping[str, Sequence[Page]], rules: Iterable[Rule] = RULES
) -> Funnel:
    """Run rules over candidates; a candidate that one removes does not reach the next.

    Args:
        candidates: with ids that are unique among them.
        truth: ground-truth pages by document.

    Raises:
        DataError: several candidates have the same id.
    """
    ids = Counter(candidate.id for candidate in candidates)
    if twice := [name for name, count in ids.items() if count > 1]:
        raise DataError(f"candidates must have different ids; used more than once: {named(twice)}")
    texts, left = Texts(truth), list(candidates)
    rows: list[FunnelRow] = []
    removals: list[Removal] = []
    for rule in rules:
        removed = list(rule.check(left, texts))
        names = {removal.candidate for removal in removed}
        rows.append(FunnelRow(rule.name, len(left), len(names), tuple(removed[:_EXAMPLES])))
        left = [candidate for candidate in left if candidate.id not in names]
        removals += removed
    survivors = tuple(replace(candidate, evidence=located(candidate, texts)) for candidate in left)
    return Funnel(tuple(rows), survivors, tuple(removals))
