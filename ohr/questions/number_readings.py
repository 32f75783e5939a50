"""Numbers of a text, in whatever notation: 1,200,000, 1.2 million, twelve, 12%, 十二, 1.2万."""

import re
from collections.abc import Iterator, Sequence
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
_LETTERS = re.compile(r"(?<![0-9])[a-z]+(?![0-9])(?![a-z])")
_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def numbers(text: str) -> frozenset[frozenset[Decimal]]:
    """Return the numbers of a text, each with its readings: 1.2 million is 1,200,000, or 1.2 in a table of millions."""
    return frozenset(frozenset(value.normalize() for value in readings) for readings in _readings(text))


def _readings(text: str) -> Iterator[tuple[Decimal, ...]]:
    for digits, scale in _SCALED.findall(text):
        number = Decimal(digits.replace(",", ""))
        yield number, number * _SCALES[scale.lower()]
    for word in numeric_words(_SCALED.sub(" ", text)):
        if _PLAIN.fullmatch(word):
            yield (Decimal(word),)
    for run in _CHINESE.findall(text):
        yield (Decimal(_of_chinese(run)),)
    for value in _spelled(_LETTERS.findall(text.lower())):
        yield (Decimal(value),)


def _spelled(words: Sequence[str]) -> Iterator[int]:
    """Yield the values of runs of English number words: twenty-three is 23, three hundred and five is 305."""
    thousands, below, last = 0, 0, ""
    for word in [*words, ""]:
        value = _SPELLED.get(word, _ORDINALS.get(word))
        if last and word == "hundred":
            below, last = below * 100, word
        elif last and word in _SCALES:
            thousands, below, last = thousands + below * _SCALES[word], 0, word
        elif value is not None and (last in _SCALES or (last in _TENS and value < 10)):
            below, last = below + value, word
        elif not (word == "and" and last in _SCALES):
            if last:
                yield thousands + below
            thousands, below, last = (0, 0, "") if value is None else (0, value, word)


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
