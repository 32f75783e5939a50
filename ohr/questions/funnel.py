"""The funnel of a verification: how many candidates each rule got and removed, in memory and as a file."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ohr.errors import DataError
from ohr.files.json_input import parse_json
from ohr.messages.wording import counted

from .candidate import Candidate, Removal

EXAMPLES = 3
"""Removals of a rule that a funnel shows."""

Count = Annotated[int, Field(ge=0, strict=True)]


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
    entered: Count
    removed: Count
    undecided: Count = 0
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


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: Annotated[tuple[FunnelRow, ...], Field(min_length=1)]


def rule_name(rule: str) -> str:
    """Write a rule's name in words."""
    return rule.replace("_", " ")


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


def read_funnel(path: Path) -> tuple[FunnelRow, ...]:
    """Read the rows of a funnel.

    Raises:
        DataError: there is no such file, it holds something else, or its counts contradict each other.
    """
    try:
        rows = _File.model_validate(parse_json(path.read_bytes())).rules
    except OSError as error:
        raise DataError(f"{path}: the funnel cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise DataError(f"{path}: no funnel: {place}: {first['msg']}".replace(": :", ":")) from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}") from None
    for row in rows:
        if not row.undecided <= row.removed <= row.entered:
            raise DataError(
                f"{path}: {row.rule}: removed {row.removed:,} ({row.undecided:,} undecided) of {row.entered:,}"
            )
    for row, following in pairwise(rows):
        if row.left != following.entered:
            left = counted(row.left, "candidate")
            raise DataError(f"{path}: {row.rule} left {left}, and {following.rule} got {following.entered:,}")
    return rows
