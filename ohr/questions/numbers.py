"""Numbers of a text, in whatever notation: 1,200,000, 1.2 million, twelve, 12%, 十二, 1.2万."""

import re
from collections.abc import Iterator
from decimal import Decimal

from ohr.metrics.answers import numeric_words

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPELLED = {word: value for value, word in enumerate(_UNITS)} | {word: 10 * at for at, word in enumerate(_TENS, 2)}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8}
_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_STEPS = {"十": 10, "百": 100, "千": 1000}
_CHINESE = re.compile("[零〇一二两三四五六七八九十百千]+")
_SCALED = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)?)\s*(hundred|thousand|million|billion|[万亿])", re.IGNORECASE)
_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def numbers(text: str) -> frozenset[Decimal]:
    """Return the values of the numbers of a text; a number with a scale (1.2 million) counts with it and without."""
    return frozenset(_values(text))


def _values(text: str) -> Iterator[Decimal]:
    for digits, scale in _SCALED.findall(text):
        yield (Decimal(digits.replace(",", "")) * _SCALES[scale.lower()]).normalize()
    for run in _CHINESE.findall(text):
        yield Decimal(_of_chinese(run)).normalize()
    yield from (Decimal(word).normalize() for word in numeric_words(text) if _PLAIN.fullmatch(word))
    yield from map(Decimal, _spelled(re.findall(r"[a-z]+", text.lower())))


def _spelled(words: list[str]) -> Iterator[int]:
    """Yield the values of runs of English number words: twenty-three is 23, three hundred and five is 305."""
    total, last = 0, ""
    for word in [*words, ""]:
        value = _SPELLED.get(word, _ORDINALS.get(word))
        if value is not None:
            joins = last in _SCALES or (last in _TENS and value < 10)
            if last and not joins:
                yield total
                total = 0
            total += value
            last = word
        elif word in _SCALES and last:
            total *= _SCALES[word]
            last = word
        elif word == "and" and last in _SCALES:
            continue
        elif last:
            yield total
            total, last = 0, ""


def _of_chinese(run: str) -> int:
    if not any(sign in _STEPS for sign in run):
        return int("".join(str(_DIGITS[sign]) for sign in run))
    total, digit = 0, 0
    for sign in run:
        if sign in _STEPS:
            total += (digit or 1) * _STEPS[sign]
            digit = 0
        else:
            digit = _DIGITS[sign]
    return total + digit
