"""Where a page's text has the value of a fact as a whole, and how well the surroundings agree with the gold page's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ohr.text.recent import recent

from .facts import CURRENCIES, WINDOW, Fact
from .texts import seen_text

_SIGNS = "$€£¥₹₩"
_MINUS = ("-", "\N{MINUS SIGN}")
_AT_SIGN = re.compile(rf"(?<=[{_SIGNS}(]) ?| ?(?=[%)])")
_CURRENCY = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, CURRENCIES))})\Z", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_GLUED_RIGHT = re.compile(r"(?:[^\W_]|[.,](?=\d))+")
_GLUED_LEFT = re.compile(r"(?:[^\W_]|(?<=\d)[.,])+\Z")
_WORD = re.compile(r"[^\W_]+")
_JOINTS = str.maketrans("", "", ".,/'’-")
"""Signs inside words and numbers. Contexts are compared without them, so that a damaged neighbor still counts."""
_SIGNED = ("Number", "Monetary Unit")
_MAY_RUN_TOGETHER = ("Reporting Entity", "Financial Concepts")
"""Types whose values are correct without their inner spaces, too (the judge's published rule)."""


class Edges(NamedTuple):
    """The characters that touch a value.

    Args:
        left: letters and digits that the value's first word or number continues, lower case.
        right: those that continue its last one.
        negative: a minus, or parentheses on both sides, belong to the number.
        percent: a percent sign follows the number.
    """

    left: str
    right: str
    negative: bool
    percent: bool

    def fit(self, gold: "Edges") -> bool:
        """Report whether a value with these edges is the gold page's: nothing is merged with it, and its sign is kept.

        What touches the value on the gold page may touch it here, too: a page always equals itself.
        """
        whole = self.left in ("", gold.left) and self.right in ("", gold.right)
        return whole and (self.negative, self.percent) == (gold.negative, gold.percent)


class Context(NamedTuple):
    """Words beside a value, the nearest first, lower case."""

    left: Sequence[str]
    right: Sequence[str]

    def agreement(self, other: "Context") -> float:
        """Return how far two contexts agree, in [0, 1]: the mean of both sides.

        Words are compared in the order of their distance from the value, and each counts half as much as the one
        before: where two values of a row are swapped, no word is at its place. A side without words in both is left
        out.
        """
        sides = [share for mine, its in zip(self, other, strict=True) if (share := _agreement(mine, its)) is not None]
        return sum(sides) / len(sides) if sides else 1.0


@dataclass(frozen=True)
class Occurrence:
    """The characters [start, end) of a page's text that equal a value."""

    page: "PageText"
    start: int
    end: int

    def edges(self, of: str) -> Edges:
        """Return what touches it, for a fact of a type."""
        low = self.page.low
        return edges(of, low[max(0, self.start - WINDOW) : self.start], low[self.start : self.end], self._right)

    @cached_property
    def context(self) -> Context:
        """The words on both sides within WINDOW characters."""
        return context(self.page.low[max(0, self.start - WINDOW) : self.start], self._right)

    @property
    def text(self) -> str:
        """The characters, in the prediction's case."""
        return self.page.shown[self.start : self.end]

    @property
    def _right(self) -> str:
        return self.page.low[self.end : self.end + WINDOW]


class PageText:
    """The text of a prediction as a reader sees it, and the places of values in it."""

    def __init__(self, prediction: str) -> None:
        self.shown = seen_text(prediction)
        self.low = lowered(self.shown)

    def find(self, pattern: str) -> list[Occurrence]:
        """List the places that match a pattern, from left to right; they may overlap."""
        compiled, found = re.compile(pattern), []
        match = compiled.search(self.low)
        while match:
            found.append(Occurrence(self, *match.span()))
            match = compiled.search(self.low, match.start() + 1)
        return found


def lowered(text: str) -> str:
    """Return a text in lower case and of the same length: the few letters that become two stay as they are."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def pattern_of(fact: Fact) -> str:
    """Return a regular expression for the value in lower case; spaces at signs, where cells are often cut, are free."""
    return _pattern(fact.seen, " ?" if fact.type in _MAY_RUN_TOGETHER else " ")


def _pattern(parts: Sequence[str], gap: str) -> str:
    """Join parts, and their pieces at signs, with free gaps, and words with `gap`."""
    pieces = [piece for part in parts for piece in _AT_SIGN.split(lowered(part)) if piece]
    return " ?".join(gap.join(map(re.escape, piece.split(" "))) for piece in pieces)


def as_seen(fact: Fact) -> str:
    """Return a fact as a reader sees it, with the letters and digits that touch it on the gold page."""
    seen = " ".join(fact.seen)
    after = None if seen[-1:] in _SIGNS else _GLUED_RIGHT.match(fact.right)
    return f"{_glued_left(fact.left, seen)}{seen}{after[0] if after else ''}"


def holds(text: str, value: str) -> bool:
    """Report whether a prediction has a value in any case, not merged with letters or digits.

    Spaces at signs are free, and in a value without digits all others, too. A sign that the value has must be there; a
    sign beside it may be.
    """
    value = " ".join(value.split())
    currency, _, number = value.partition(" ")
    parts = (currency, number) if currency in CURRENCIES and number else (value,)
    pattern = _pattern(parts, " " if _DIGIT.search(value) else " ?")
    return any(not any(occurrence.edges("")[:2]) for occurrence in _page(text).find(pattern))


@recent
def _page(text: str) -> PageText:
    return PageText(text)


def edges_of(fact: Fact) -> Edges:
    """Return what touches a fact on the gold page."""
    return edges(fact.type, lowered(fact.left), lowered("".join(fact.seen)), lowered(fact.right))


def context_of(fact: Fact) -> Context:
    """Return the words beside a fact on the gold page."""
    return context(lowered(fact.left), lowered(fact.right))


def edges(of: str, left: str, value: str, right: str) -> Edges:
    """Return what touches a value between two texts, for a fact of a type; a currency sign always touches a number."""
    after = None if value[-1:] in _SIGNS else _GLUED_RIGHT.match(right)
    signs = _signs(left, value, right) if of in _SIGNED else (False, False)
    return Edges(_glued_left(left, value), after[0] if after else "", *signs)


def context(left: str, right: str) -> Context:
    """Return the words of the texts on both sides of a value."""
    return Context(_WORD.findall(left.translate(_JOINTS))[::-1], _WORD.findall(right.translate(_JOINTS)))


def _glued_left(left: str, value: str) -> str:
    before = _GLUED_LEFT.search(left)
    return before[0] if before else "." if _is_decimal_point(left) and value[:1].isdigit() else ""


def _is_decimal_point(left: str) -> bool:
    """Report whether a text ends in the point of a number like `.5`; the dots that lead to a column's number do not."""
    return left.endswith(".") and (len(left) == 1 or left[-2] in f" (-{_SIGNS}")


def _signs(left: str, value: str, right: str) -> tuple[bool, bool]:
    """Report whether a number is negative, and whether it is in percent, with all that touches its digits."""
    digits = [match.start() for match in _DIGIT.finditer(value)]
    if not digits:
        return False, False
    before = (left + value[: digits[0]]).rstrip(_SIGNS)
    after = (value[digits[-1] + 1 :] + right).lstrip()
    # between two words or numbers it is a dash, but after the word of a currency
    minus = before.endswith(_MINUS) and (not before[-2:-1].isalnum() or _CURRENCY.search(before[:-1]) is not None)
    enclosed = before.rstrip(f" {_SIGNS}").endswith("(") and after.lstrip("% ").startswith(")")
    return minus or enclosed, after.startswith("%")


def _agreement(mine: Sequence[str], its: Sequence[str]) -> float | None:
    """Return the weighted share of equal words of one side; None where neither context has words there."""
    if not mine and not its:
        return None
    compared = min(len(mine), len(its))
    weights = [0.5**place for place in range(compared)]
    equal = sum(weight for weight, a, b in zip(weights, mine, its, strict=False) if a == b)
    return equal / sum(weights) if weights else 0.0
