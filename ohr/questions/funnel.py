"""The funnel of a verification: how many candidates each rule got and removed."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ohr.errors import DataError

from .candidate import Candidate, Removal

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
