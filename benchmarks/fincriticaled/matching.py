"""Judge-free verdicts on the facts of a page: the published substring search, and a strict one.

The published search is what the code applies on top of the judge's reply. It calls `5` correct where the text has only
`2015`, and calls two values correct that changed places. Without a judge it equals the published FFA but for values
that the judge finds under another text. The strict one looks for values as a whole, and at their surroundings.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from ohr.text.recent import recent

from .facts import CURRENCIES, TYPES, WINDOW, Entity, Fact, extract_entities, read_facts
from .page_texts import seen_text, strip_html_tags

Diagnostic = dict[str, Any]
"""The verdict on one fact: `type`, `value`, `context_hint`, `found_in_prediction`, `correct`, `matched_text`."""

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
        compiled, occurrences = re.compile(pattern), []
        match = compiled.search(self.low)
        while match:
            occurrences.append(Occurrence(self, *match.span()))
            match = compiled.search(self.low, match.start() + 1)
        return occurrences


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


LEAST_AGREEMENT = 0.3
"""Agreement of contexts below which `context_veto` refuses an occurrence: at most the nearest word of one side agrees,
which comes to .25 to .29 where each side has three words or more."""

LEAST_SIMILAR = 80.0
"""Percent of similarity from which on the best window of a text counts as a damaged value: a number of five characters
may have lost its comma (80 to 89), one of four with another digit is another number (75)."""

_LEAST_WITHOUT_SPACES = 4  # characters of a value that is searched without spaces (published)


def compat_det(gold: str, prediction: str) -> list[Diagnostic]:
    """Score a prediction by the published substring search alone, as if the judge had found nothing.

    Args:
        gold: tagged HTML of the page.
        prediction: HTML or text.
    """
    return override(map(not_found, extract_entities(gold)), prediction)


def not_found(entity: Entity) -> Diagnostic:
    """Return the verdict on an entity that nobody has found."""
    return {**entity, "found_in_prediction": False, "correct": False, "matched_text": ""}


def override(diagnostics: Iterable[Mapping[str, object]], prediction: str) -> list[Diagnostic]:
    """Correct a judge's verdicts by searching for the values, as published; returns copies.

    An entity that the judge has not found, or without quoting it, is found where its value is part of the text, in any
    case; a value of at least 4 characters also where both match without whitespace. One whose quoted text equals the
    value, but for case and whitespace, is correct. A text that the judge has quoted is never replaced.
    """
    corrected = []
    for given in diagnostics:
        verdict = dict(given)
        value, quoted = _text(verdict.get("value")), _text(verdict.get("matched_text"))
        if value and not (verdict.get("found_in_prediction") and quoted) and is_part(value, prediction):
            quoted = quoted or value
            verdict |= {"found_in_prediction": True, "matched_text": quoted}
        if _normal(quoted) and _normal(quoted) == _normal(value):
            verdict["correct"] = True
        corrected.append(verdict)
    return corrected


def is_part(value: str, prediction: str) -> bool:
    """Report whether a value is part of a prediction's text by the published search."""
    text, joined = _searched(prediction)
    without = "".join(value.lower().split())
    return value.lower() in text or (len(without) >= _LEAST_WITHOUT_SPACES and without in joined)


@recent
def _searched(prediction: str) -> tuple[str, str]:
    """Return a prediction's text in lower case, and the same without whitespace."""
    low = strip_html_tags(prediction).lower()
    return low, "".join(low.split())


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _normal(text: str) -> str:
    return " ".join(text.split()).lower()


def strict_det(gold: str, prediction: str, context_veto: bool = False) -> list[Diagnostic]:
    """Score a prediction by whole values, each occurrence of which counts once.

    A value is correct where the text has it in any case, not merged with letters or digits, and with its sign: `5` is
    not in `2015` or `1.5`, and `10,234` is not `(10,234)`. An occurrence satisfies one fact of a type; among several,
    the one whose context agrees best. A value is found, but not correct, where its occurrences are used up, or where
    the text has something similar. A page always is correct against itself.

    Args:
        gold: tagged HTML of the page.
        prediction: HTML or text.
        context_veto: facts whose context agrees by less than LEAST_AGREEMENT are not correct: their values are in
            another row or column. A page read in another order loses facts by this, too.
    """
    facts, page = read_facts(gold), PageText(prediction)
    return [
        verdict
        for type_name in TYPES.values()
        for verdict in _of_type([fact for fact in facts if fact.type == type_name], page, context_veto)
    ]


def _of_type(facts: Sequence[Fact], page: PageText, context_veto: bool) -> Iterator[Diagnostic]:
    """Yield the verdicts on the facts of one type."""
    matched = _matched(facts, page)
    rest = page.low
    for used in matched.values():
        rest = rest[: used.start] + "\0" * len(used.text) + rest[used.end :]
    for place, fact in enumerate(facts):
        occurrence = matched.get(place)
        text = occurrence.text if occurrence else _similar(lowered(" ".join(fact.seen)), rest)
        correct = occurrence is not None and not (context_veto and _is_elsewhere(fact, occurrence))
        yield {
            "type": fact.type,
            "value": fact.value,
            "context_hint": fact.hint,
            "found_in_prediction": bool(text),
            "correct": correct,
            "matched_text": text,
        }


def _is_elsewhere(fact: Fact, occurrence: Occurrence) -> bool:
    return context_of(fact).agreement(occurrence.context) < LEAST_AGREEMENT


def _matched(facts: Sequence[Fact], page: PageText) -> dict[int, Occurrence]:
    """Match facts of one type, by their places, with occurrences that are whole and do not overlap.

    Long values come first: `net income` is no second value in `net income per share`.
    """
    equal: dict[str, list[int]] = defaultdict(list)
    for place, fact in enumerate(facts):
        equal[pattern_of(fact)].append(place)
    matched: dict[int, Occurrence] = {}
    taken = bytearray(len(page.low))
    for pattern in sorted(equal, key=len, reverse=True):
        for place, occurrence in _pairs(facts, equal[pattern], page.find(pattern)):
            span = slice(occurrence.start, occurrence.end)
            if place in matched or (any(taken[span]) and not facts[place].is_inner):
                continue
            matched[place] = occurrence
            taken[span] = b"\1" * len(occurrence.text)
    return matched


def _pairs(
    facts: Sequence[Fact], places: Sequence[int], occurrences: Sequence[Occurrence]
) -> list[tuple[int, Occurrence]]:
    """Pair facts of one value with the occurrences that fit them, the best agreement of contexts first."""
    gold = {place: edges_of(facts[place]) for place in places}
    here = [occurrence.edges(facts[places[0]].type) for occurrence in occurrences]
    pairs = [(p, o) for p in places for o, edges in zip(occurrences, here, strict=True) if edges.fit(gold[p])]
    if len(places) == 1 == len(occurrences):
        return pairs
    contexts = {place: context_of(facts[place]) for place in places}
    return sorted(pairs, key=lambda pair: -contexts[pair[0]].agreement(pair[1].context))


def _similar(value: str, text: str) -> str:
    """Return the window of a text that is most similar to a value, or nothing where none is similar enough."""
    if len(value) > len(text):
        return text if fuzz.ratio(value, text) >= LEAST_SIMILAR else ""
    alignment = fuzz.partial_ratio_alignment(value, text, score_cutoff=LEAST_SIMILAR)
    return text[alignment.dest_start : alignment.dest_end] if alignment else ""
