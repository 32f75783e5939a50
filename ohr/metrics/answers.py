"""Scores of an answer against an accepted one: token F1, exact match, and F1 that reads numbers as numbers."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from math import nan
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import Metric
from ohr.text.chinese import cut_as_jieba
from ohr.text.words import normalise, typed, words

CLOSED_ANSWERS = frozenset({"yes", "no", "noanswer"})
"""Normalised answers that must match exactly."""


def f1(prediction: str, reference: str) -> float:
    """Harmonic mean of token precision and recall after normalisation, in [0, 1], higher is better.

    Formula: 2 o / (p + r) with p and r tokens on the two sides and o their overlap as multisets. Where one side is
        yes, no or noanswer, 1 if both are the same, else 0.
    Source: OHRBench `f1_score` of `metric/common.py` (from HotpotQA). The clean protocol cuts Chinese runs wherever
        they are and counts no white space; the reference, where either side has a Chinese character, counts each
        space of either side as a token.

    Edge cases: a reference without a token (`A`, `$`) -> nan (the reference protocol gives 0); a prediction
        without one -> 0.
    """
    return _f1(prediction, reference, words(prediction), words(reference))


def f1_published(prediction: str, reference: str) -> float:
    """`f1` as OHRBench's code computes it, to the last digit.

    Source: OHRBench, `f1_score` of `metric/common.py`. Where either side has a CJK ideograph, the whole of both sides
    is cut as by jieba, and each space between words is a token that counts.

    Edge cases: no token in common -> 0, also where both sides are empty.
    """
    found, wanted = normalise(prediction), normalise(reference)
    if found != wanted and {found, wanted} & CLOSED_ANSWERS:
        return 0.0
    cut = cut_as_jieba if _has_ideograph(prediction + reference) else str.split
    one, other = cut(found), cut(wanted)
    overlap = (Counter(one) & Counter(other)).total()
    if not overlap:
        return 0.0
    precision, recall = overlap / len(one), overlap / len(other)
    return 2 * precision * recall / (precision + recall)


def _has_ideograph(text: str) -> bool:
    return not text.isascii() and any("CJK" in unicodedata.name(sign, "") for sign in text)


def em(prediction: str, reference: str) -> float:
    """1 if the two are equal after normalisation, else 0.

    Source: OHRBench `exact_match_score` of `metric/common.py`, which gives 1 for two texts without a token (an empty
    answer and `[***]`).

    Edge cases: a reference without a token -> nan, as for `f1`.
    """
    return em_published(typed(prediction), typed(reference)) if words(reference) else nan


def em_published(prediction: str, reference: str) -> float:
    """`em` as OHRBench's code computes it: two texts of articles and punctuation alone are equal -> 1."""
    return float(normalise(prediction) == normalise(reference))


def f1_numeric(prediction: str, reference: str) -> float:
    """`f1` with each number as one token that keeps its sign and decimal point, in [0, 1], higher is better.

    The published normalisation makes 3.14 equal 314 and -5 equal 5; here they differ, while 1,234.50 equals 1234.5
    and 5.0 equals 5. Percent and currency signs are ignored. A hyphen is a sign only where nothing is before it:
    `10-20` and `FY-21` have none. A number alone in round brackets is negative, as in accounts: (5) is -5.
    Numbers are read in the English way: comma for thousands, point for decimals; digits inside a word (`Q3`) and
    dotted ones (`1.2.3`) stay words; a unit is a token of its own (`5kg` is `5 kg`).

    Edge cases: as `f1`.
    """
    return _f1(prediction, reference, numeric_words(prediction), numeric_words(reference))


class F1(Metric, kind="f1"):
    """Token F1 after the published normalisation; yes and no must match exactly."""

    packages: ClassVar[tuple[str, ...]] = ("rjieba",)
    as_published: Annotated[bool, Field(description="As the benchmark's code has it, accidents included.")] = False

    def score(self, prediction: str, reference: str) -> float:
        """Return `f1`."""
        return f1_published(prediction, reference) if self.as_published else f1(prediction, reference)


class Em(Metric, kind="em"):
    """1 where the answer equals the accepted one after the published normalisation."""

    as_published: Annotated[bool, Field(description="As the benchmark's code has it, accidents included.")] = False

    def score(self, prediction: str, reference: str) -> float:
        """Return `em`."""
        return em_published(prediction, reference) if self.as_published else em(prediction, reference)


class F1Numeric(Metric, kind="f1_numeric"):
    """Token F1 in which numbers keep their sign and decimal point and are compared as numbers."""

    packages: ClassVar[tuple[str, ...]] = ("rjieba",)

    def score(self, prediction: str, reference: str) -> float:
        """Return `f1_numeric`."""
        return f1_numeric(prediction, reference)


def _f1(prediction: str, reference: str, found: Sequence[str], wanted: Sequence[str]) -> float:
    if not wanted:
        return nan
    sides = {normalise(typed(prediction)), normalise(typed(reference))}
    if len(sides) > 1 and not sides.isdisjoint(CLOSED_ANSWERS):
        return 0.0
    overlap = (Counter(found) & Counter(wanted)).total()
    return 2 * overlap / (len(found) + len(wanted))


_CURRENCY = r"\\?[%‰$\u00a2-\u00a5\u20a0-\u20bf\uff04\uffe5]"
_MINUS = "\u2013\u2212-"  # the hyphen last, where it is itself in a character class
_NUMBER = re.compile(
    # not inside a word or a dotted number; a sign only at the start or after a space, an opening or a comma
    rf"(?<![A-Za-z0-9_.])(?P<sign>(?<![^\s(\[{{:=,;<>~])[+{_MINUS}])?"
    r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?!\.?[0-9])"
)
_NOT_PLAIN = re.compile(r"[\uff01-\uff5e]|(?![0-9])\d")
"""Full-width forms of ASCII, and digits of other scripts."""
_BRACKETED = re.compile(r"\s*\(\s*([^()]*)\)\s*")


def numeric_words(text: str) -> tuple[str, ...]:
    """Return the words of a text as `f1_numeric` compares them: each number is one word, written in one way."""
    text = text if text.isascii() else _NOT_PLAIN.sub(_plain, text)
    text = re.sub(rf"(?<=[+{_MINUS}])\s*{_CURRENCY}\s*", "", text)
    text = re.sub(_CURRENCY, " ", text)
    account = _BRACKETED.fullmatch(text)
    if account and (number := _NUMBER.fullmatch(account[1].strip())) and not number["sign"]:
        return (_value("-", number["digits"]),)
    tokens: list[str] = []
    end = 0
    for number in _NUMBER.finditer(text):
        tokens += (*words(text[end : number.start()]), _value(number["sign"], number["digits"]))
        end = number.end()
    return (*tokens, *words(text[end:]))


def _plain(match: re.Match[str]) -> str:
    return str(unicodedata.decimal(match[0], unicodedata.normalize("NFKC", match[0])))


def _value(sign: str | None, digits: str) -> str:
    value = f"{Decimal(digits.replace(',', '')):f}"
    if "." in value:
        value = value.rstrip("0").rstrip(".")
    return f"-{value}" if sign and sign in _MINUS and value != "0" else value
