"""Figures in answers: values with signs, scales and units, as financial reports write them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from unicodedata import normalize

_MINUS = "-\u2010\u2011\u2012\u2013\u2212"  # hyphens, dashes and the minus sign
_SCALES = {
    "thousand": 3, "thousands": 3, "k": 3,
    "million": 6, "millions": 6, "m": 6, "mm": 6, "mn": 6, "mln": 6,
    "billion": 9, "billions": 9, "b": 9, "bn": 9,
    "trillion": 12, "trillions": 12, "tn": 12,
}  # fmt: skip
"""Powers of ten of scale words."""
_WORDS = "|".join(sorted((word for word in _SCALES if len(word) > 1), key=len, reverse=True))
_CURRENCY = r"(?:US\s?)?[$€£¥]|\b(?:USD|EUR|GBP)\b"
_PERCENT = r"%|percent(?:age\spoints?)?\b|per\scent\b"
_FIGURE = re.compile(
    rf"""(?<![\w.])
    (?P<before>(?:[{_MINUS}](?!\s)|\(\s?|(?:{_CURRENCY})\s?)*)
    (?P<digits>(?>[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+))
    (?P<letter>[kKmMbB]\b)?
    (?![\w]|-[A-Za-z])
    (?P<after>(?:\s?(?:{_PERCENT}|\)|\(?(?:in\s)?(?:{_WORDS})\b))*)""",
    re.VERBOSE | re.IGNORECASE,
)
_HYPHENED = re.compile(rf"(?<=[0-9])[{_MINUS}](?=(?:{_WORDS})\b)", re.IGNORECASE)
_FACTORS = (Decimal(1), Decimal(10) ** 3, Decimal(10) ** 6, Decimal(10) ** 9)
RELATIVE = Decimal("0.005")
"""Relative difference that still agrees: 0.5%, our choice, for answers that round more coarsely than the gold."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it is written.

    Args:
        value: with its sign, without its scale: -4.3 for `$(4.3) million`.
        step: one unit of its last digit: 0.1 for 4.3.
        scale: 10^3 to 10^12 for a scale word, else None.
        percent: a percent sign or word follows.
        bare: digits alone, without comma, currency or unit, as years are written.
    """

    value: Decimal
    step: Decimal
    scale: Decimal | None = None
    percent: bool = False
    bare: bool = False

    @property
    def is_year(self) -> bool:
        """Report whether it looks like a year, in which a difference of 0.5% is a decade."""
        return self.bare and self.step == 1 and 1900 <= self.value <= 2100

    @property
    def digits(self) -> str:
        """Its digits without sign, unit, separators and zeros at the end: 4.3 for `$(4.30) million`."""
        return f"{abs(self.value).normalize():f}"


def figures(text: str) -> list[Figure]:
    """List the figures of a text, in order.

    Parentheses around nothing but a figure and its units make it negative. A number that is part of a word (`Q4`,
    `10-K`, `12-month`) is none. `5m` and `10K` are scaled only after a currency sign: `3M` and `10K` are names.
    """
    return list(_figures(_HYPHENED.sub(" ", normalize("NFKC", text))))


def _figures(text: str) -> Iterator[Figure]:
    opening = re.sub(rf"^\s*[{_MINUS}]\s+", "-", text)  # a minus at the beginning takes nothing away from anything
    for found in _FIGURE.finditer(opening):
        before, digits, after = found["before"], found["digits"], found["after"].lower()
        currency = re.search(_CURRENCY, before) is not None
        letter = (found["letter"] or "").lower()
        if letter and not currency:
            continue
        word = letter or next(iter(re.findall(rf"\b(?:{_WORDS})\b", after)), "")
        negative = any(sign in before for sign in _MINUS) or ("(" in before and _closes(after))
        value = Decimal(digits.replace(",", ""))
        yield Figure(
            value=-value if negative else value,
            step=Decimal(1).scaleb(-len(digits.partition(".")[2])),
            scale=Decimal(10) ** _SCALES[word] if word else None,
            percent=re.search(_PERCENT, after) is not None,
            bare=digits.isdecimal() and not (currency or after.strip(" )")),
        )


def _closes(after: str) -> bool:
    """Report whether a parenthesis that was open before a figure closes after it."""
    return after.count(")") > after.count("(")


def agree(answer: Figure, gold: Figure) -> bool:
    """Report whether a figure of an answer agrees with the gold one.

    It agrees within half a unit of the gold figure's last digit or within `RELATIVE`; a year must be equal. Where only
    one of the two has a scale word, the other may be in units, thousands, millions or billions.
    """
    if gold.is_year:
        return answer.value == gold.value
    if (answer.scale is None) == (gold.scale is None):
        return _near(answer, gold, answer.scale or Decimal(1), gold.scale or Decimal(1))
    if answer.scale is None:
        return not answer.percent and any(_near(answer, gold, factor, gold.scale or factor) for factor in _FACTORS)
    return not gold.percent and any(_near(answer, gold, answer.scale, factor) for factor in _FACTORS)


def _near(answer: Figure, gold: Figure, answer_scale: Decimal, gold_scale: Decimal) -> bool:
    wanted = gold.value * gold_scale
    difference = abs(answer.value * answer_scale - wanted)
    return difference <= gold.step * gold_scale / 2 or difference <= RELATIVE * abs(wanted)
