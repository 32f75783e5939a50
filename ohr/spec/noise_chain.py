"""The parts of a knowledge base's noise: the noises of its chain, and the rules of a text noise that has several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ohr.contracts import Treatment
from ohr.spec.model import KnowledgeBase

Parts = frozenset[str]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a knowledge base's noise: a noise at its place among the treatments, or one `rule` of it."""

    name: str
    place: int
    rule: str | None = None


def parts(base: KnowledgeBase) -> list[Part]:
    """List the parts of a base's noise, in the order in which they act."""
    listed: list[Part] = []
    kinds = [noise.kind for noise in base.noises]
    treatments: Sequence[Any] = base.treatments
    for place, noise in enumerate(treatments):
        if noise.purpose != "noise":
            continue
        number = [each.family for each in base.treatments[: place + 1]].count(noise.family)
        name = f"{noise.kind} {number}" if kinds.count(noise.kind) > 1 else noise.kind
        rules = noise.parts() if noise.keeps_edits else ()
        if len(rules) < 2:
            listed.append(Part(name, place))
        alone = len(kinds) == 1
        listed += [Part(rule if alone else f"{name}: {rule}", place, rule) for rule in rules if len(rules) > 1]
    return listed


def with_only(base: KnowledgeBase, kept: Parts, *, equal_dose: bool) -> KnowledgeBase:
    """Return a base with some parts of its noise only.

    Args:
        equal_dose: text noise makes as many edits as with all its parts.
    """
    treatments: list[Any] = list(base.treatments)
    for place, of_noise in groupby(parts(base), lambda part: part.place):
        noise, rules = treatments[place], [part.rule for part in of_noise if part.name in kept]
        if not rules:
            treatments[place] = noise.model_copy(update={noise.knob: 0.0})
        elif rules != [None]:  # a noise without rules stays whole
            treatments[place] = noise.only(rules)
    doses = _of_text(base) if equal_dose and kept else ()
    return replace(base, treatments=tuple(treatments), dosed_as=doses, target=None)


def _of_text(base: KnowledgeBase) -> tuple[Treatment, ...]:
    return tuple(noise for noise in base.noises if noise.keeps_edits)


def fault_of(base: KnowledgeBase, methods: Sequence[str]) -> str | None:
    """Explain why the noise of a base cannot be attributed to its parts; None when it can."""
    of_noise = parts(base)
    if len(of_noise) < 2:
        return "has one part only: attribution needs a chain of noises, or a noise with several rules"
    fixed = [noise.kind for noise in base.noises if not noise.knob]
    if fixed:
        return f"has {fixed[0]}, which has no strength that could be 0"
    if "shapley" in methods and (len(_of_text(base)) != 1 or any(part.rule is None for part in of_noise)):
        return "is not one text noise with several rules, which shapley is for"
    return None
