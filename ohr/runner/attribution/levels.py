"""Attribution: what each part of a noise costs, found by leaving it out, or as its Shapley share at an equal dose.

Levels with some of the parts are knowledge bases like any other: they are made, searched and answered as the rest of
the run is.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial

from ohr import seeds
from ohr.spec.file_keys import Attribution
from ohr.spec.model import KnowledgeBase, Spec
from ohr.spec.noise_chain import Parts, parts, with_only

EXACT = 7
"""So many rules have at most 128 coalitions; of more a sample of orders is taken, and its error is reported."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A knowledge base with some parts of another one's noise.

    Args:
        of: the level that it is a part of, without the replicate's number.
        kept: names of the parts that it has.
        method: what it is made for.
    """

    of: str
    kept: Parts
    method: str


def with_trials(spec: Spec) -> tuple[Spec, dict[str, Trial]]:
    """Add the knowledge bases that a spec's attribution needs; gives them by name."""
    wanted = spec.attribution
    if wanted is None:
        return spec, {}
    bases = list(spec.knowledge_bases)
    trials: dict[str, Trial] = {}
    for base in spec.knowledge_bases:
        level = base.condition
        if level in wanted.of:
            for method, kept in _needed(spec, wanted, base):
                made = with_only(base, kept, equal_dose=method == "shapley")
                name = f"{level} {method} {'+'.join(sorted(kept)) or 'nothing'}"
                made = replace(made, condition=name, noise=name, retrievers=base.retrievers)
                if made.name not in trials:
                    trials[made.name] = Trial(level, kept, method)
                    bases.append(made)
    return replace(spec, knowledge_bases=tuple(bases)), trials


def _needed(spec: Spec, wanted: Attribution, base: KnowledgeBase) -> Iterator[tuple[str, Parts]]:
    names = tuple(part.name for part in parts(base))
    if "leave_one_out" in wanted.methods:
        for name in names:
            yield "leave_one_out", frozenset(names) - {name}
    if "shapley" in wanted.methods:
        for coalition in coalitions(names, wanted.permutations, spec.seed):
            if coalition != frozenset(names):
                yield "shapley", coalition


def coalitions(names: Sequence[str], permutations: int, seed: int) -> list[Parts]:
    """List the sets of parts whose worth is needed: all of them, or those along some orders."""
    if len(names) <= EXACT:
        return [frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size)]
    along = {frozenset(order[:size]) for order in orders(names, permutations, seed) for size in range(len(order) + 1)}
    return sorted(along, key=lambda chosen: (len(chosen), sorted(chosen)))


def orders(names: Sequence[str], permutations: int, seed: int) -> list[tuple[str, ...]]:
    """Draw orders of the parts in pairs, each with its reverse, which halves the error and more."""
    rng, drawn = seeds.generator(seed, "shapley", *names), []
    for _ in range((permutations + 1) // 2):
        order = tuple(names[place] for place in rng.permutation(len(names)))
        drawn += [order, order[::-1]]
    return drawn[:permutations]


def weights(names: Sequence[str], permutations: int, seed: int) -> dict[str, dict[Parts, float]]:
    """Return each part's share as a weighted sum of the worth of coalitions."""
    found: dict[str, dict[Parts, float]] = {name: defaultdict(float) for name in names}
    if len(names) <= EXACT:
        n = len(names)
        for name in names:
            others = [other for other in names if other != name]
            for size in range(n):
                share = factorial(size) * factorial(n - size - 1) / factorial(n)
                for chosen in combinations(others, size):
                    found[name][frozenset(chosen) | {name}] += share
                    found[name][frozenset(chosen)] -= share
        return found
    return _along(names, orders(names, permutations, seed))


def weights_by_pair(names: Sequence[str], permutations: int, seed: int) -> list[dict[str, dict[Parts, float]]]:
    """Return `weights` by each pair of an order and its reverse, from which their error is estimated.

    Edge cases: none where the shares are exact.
    """
    if len(names) <= EXACT:
        return []
    drawn = orders(names, permutations, seed)
    return [_along(names, drawn[place : place + 2]) for place in range(0, len(drawn) - 1, 2)]


def _along(names: Sequence[str], drawn: Sequence[tuple[str, ...]]) -> dict[str, dict[Parts, float]]:
    """Return each part's mean contribution along some orders, as a weighted sum of the worth of coalitions."""
    found: dict[str, dict[Parts, float]] = {name: defaultdict(float) for name in names}
    for order in drawn:
        for size, name in enumerate(order):
            found[name][frozenset(order[: size + 1])] += 1 / len(drawn)
            found[name][frozenset(order[:size])] -= 1 / len(drawn)
    return found
