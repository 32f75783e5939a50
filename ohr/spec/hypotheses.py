"""Checks that hypotheses name conditions and parts that a spec has."""

from collections.abc import Mapping, Sequence
from typing import Any

from ohr.messages.wording import quoted
from ohr.registry import choices
from ohr.results.groups import GROUPS
from ohr.spec.build import Builder
from ohr.spec.file import Hypothesis, SpecFile
from ohr.spec.model import Named
from ohr.spec.source import Where

_USED: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("chunker", "retriever"),
    "generation": ("generator",),
    "overall": ("chunker", "retriever", "generator"),
}
"""The parts of a pipeline by stage."""


def check_hypotheses(
    builder: Builder, file: SpecFile, conditions: Sequence[str], named: Mapping[str, Sequence[Named[Any]]]
) -> None:
    """Note what a hypothesis names that the spec does not have, and parts that it must name.

    Args:
        conditions: of the spec.
        named: its plugins, by key: `chunkers`, `retrievers`, `generators`.
    """
    seen: set[str] = set()
    for place, wanted in enumerate(file.hypotheses):
        where: Where = ("hypotheses", place)
        if wanted.name in seen:
            builder.fault((*where, "name"), f"{quoted(wanted.name)} is listed twice")
        seen.add(wanted.name)
        for number, condition in enumerate(wanted.compare):
            _known(builder, (*where, "compare", number), condition, conditions)
        _known(builder, (*where, "group"), wanted.group, tuple(GROUPS))
        if wanted.stage not in file.evaluate:
            builder.fault((*where, "stage"), f"`evaluate` does not have {wanted.stage}")
        _check_parts(builder, where, wanted, named)


def _check_parts(builder: Builder, where: Where, wanted: Hypothesis, named: Mapping[str, Sequence[Named[Any]]]) -> None:
    for part in ("chunker", "retriever", "generator"):
        given, there = getattr(wanted, part), [item.name for item in named[f"{part}s"]]
        if given is not None and part not in _USED[wanted.stage]:
            builder.fault((*where, part), f"the stage {wanted.stage} has no {part}")
        elif given is not None:
            _known(builder, (*where, part), given, there)
        elif part in _USED[wanted.stage] and len(there) > 1:
            builder.fault(where, f"name one {part} of {', '.join(there)}")


def _known(builder: Builder, where: Where, name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        builder.fault(where, f"{choices(name, allowed)} (got {quoted(name)})")
