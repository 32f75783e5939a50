"""Rules about comparisons, such as `low > 0.02`: whether a comparison meets one."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import TYPE_CHECKING, Self

from ohr.errors import SpecError

if TYPE_CHECKING:
    from ohr.results.derived.comparison import Compared, Pair

FIGURES = ("lost", "low", "high", "p", "p_holm", "questions_lost", "questions_gained")
"""Numbers of a comparison that a rule may be about."""

_RULE = re.compile(rf"\s*({'|'.join(FIGURES)})\s*(>=|<=|>|<)\s*(-?\d*\.?\d+)\s*")
_SIGNS = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class Rule:
    """A bound of one of FIGURES, as it was written."""

    text: str
    name: str
    sign: str
    number: float

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a rule; raises SpecError where it is none."""
        match = _RULE.fullmatch(text)
        if match is None:
            raise SpecError(f"write it as NAME > NUMBER, with one of {', '.join(FIGURES)} (got {text!r})")
        name, sign, number = match.groups()
        return cls(text.strip(), name, sign, float(number))

    def is_met(self, pair: "Pair") -> bool | None:
        """Report whether a comparison meets the rule; None where it failed, or lacks the number."""
        from ohr.results.derived.pairs import FAILED

        value = figures(pair)[self.name]
        if isnan(value) and pair.verdict == "identical":  # nothing changed, so there is neither interval nor test
            value = 1.0 if self.name.startswith("p") else 0.0
        if isnan(value) or pair.verdict == FAILED:
            return None
        return bool(_SIGNS[self.sign](value, self.number))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A rule about one comparison; `met` is None where it cannot be judged."""

    rule: Rule
    pair: "Pair"
    met: bool | None


def outcomes(found: "Compared", rules: Sequence[Rule]) -> list[Outcome]:
    """Judge each comparison by each rule.

    Raises:
        SpecError: a rule is about points, where scores are shares: it would never be met, or always.
    """
    for rule in rules:
        most = _most(found, rule.name)
        if abs(rule.number) > most:
            raise SpecError(
                f"{rule.text}: scores are from 0 to 1, so write {rule.number:g} points as {rule.number / 100:g}"
            )
    return [Outcome(rule, pair, rule.is_met(pair)) for rule in rules for pair in found.pairs]


def _most(compared: "Compared", name: str) -> float:
    """Return the largest number that a figure can have: 1 for scores that are all shares, and for p."""
    if name.startswith("questions"):
        return inf
    scores = [abs(mean) for pair in compared.pairs for mean in (pair.first_mean, pair.second_mean)]
    return inf if name in ("lost", "low", "high") and any(score > 1 for score in scores) else 1.0


def figures(pair: "Pair") -> dict[str, float]:
    """Return the numbers of a comparison by their names in FIGURES."""
    difference = pair.found.difference
    counts = {"questions_lost": pair.found.lost, "questions_gained": pair.found.gained}
    ends = {"lost": difference.mean, "low": difference.low, "high": difference.high}
    return {**ends, "p": pair.found.p, "p_holm": pair.p_holm, **counts}
