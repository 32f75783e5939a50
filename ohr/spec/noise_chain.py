"""The parts of a knowledge base's noise: the noises of its chain, and the rules of a text noise that has several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ohr.contracts import TextNoise
from ohr.spec.model import KnowledgeBase

Parts = frozenset[str]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a knowledge base's noise: a noise of a chain, or one `rule` of it."""

    name: str
    family: str
    place: int
    rule: str | None = None


def parts(base: KnowledgeBase) -> list[Part]:
    """List the parts of a base's noise, in the order in which they act."""
    found = []
    for family in ("image_noise", "text_noise"):
        chain: Sequence[Any] = getattr(base, family)
        for place, noise in enumerate(chain):
            twice = [other.kind for other in chain].count(noise.kind) > 1
            name = f"{noise.kind} {place + 1}" if twice else noise.kind
            rules = noise.parts() if isinstance(noise, TextNoise) else ()
            if len(rules) < 2:
                found.append(Part(name, family, place))
            alone = len(base.image_noise) + len(base.text_noise) == 1
            found += [Part(r if alone else f"{name}: {r}", family, place, r) for r in rules if len(rules) > 1]
    return found


def with_only(base: KnowledgeBase, kept: Parts, *, equal_dose: bool) -> KnowledgeBase:
    """Return a base with some parts of its noise only.

    Args:
        equal_dose: text noise makes as many edits as with all its parts.
    """
    chains: dict[str, list[Any]] = {"image_noise": list(base.image_noise), "text_noise": list(base.text_noise)}
    for (family, place), of_noise in groupby(parts(base), lambda part: (part.family, part.place)):
        noise, rules = chains[family][place], [part.rule for part in of_noise if part.name in kept]
        if not rules:
            chains[family][place] = noise.model_copy(update={noise.knob: 0.0})
        elif rules != [None]:  # a noise without rules stays whole
            chains[family][place] = noise.only(rules)
    doses = base.text_noise if equal_dose and kept else ()
    image, text = tuple(chains["image_noise"]), tuple(chains["text_noise"])
    return replace(base, image_noise=image, text_noise=text, dosed_as=doses, target=None)


def fault_of(base: KnowledgeBase, methods: Sequence[str]) -> str | None:
    """Explain why the noise of a base cannot be attributed to its parts; None when it can."""
    found = parts(base)
    if len(found) < 2:
        return "has one part only: attribution needs a chain of noises, or a noise with several rules"
    if "shapley" in methods and (len(base.text_noise) != 1 or any(part.rule is None for part in found)):
        return "is not one text noise with several rules, which shapley is for"
    return None
