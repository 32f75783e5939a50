"""What a line's look says of its chance to be lost whole: a heading, a list item, a row of a table."""

import re
import sys
from functools import lru_cache
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from .page import PageWords, changes, codes, places

Ints = NDArray[np.int64]
Values = NDArray[np.float64]

LOOKS = (
    "all", "log_words", "log_words_squared", "one_word",
    "item", "numbered", "titled", "hash", "dots", "cells", "ends_sentence", "ends_colon", "ends_comma", "ends_digit",
    "capitalised", "capitals", "digits", "notation", "colon", "starts_small", "foreign", "quoted", "blank_before",
    "blank_after", "formula", "table",
    "first", "second", "last", "last_but_one", "words_before", "words_after", "heading", "heading_before_text",
    "page_has_text", "page_lines",
)  # fmt: skip
"""What is looked at in a line. Ones and zeros, but for shares, and for the logarithms of numbers of words and lines."""

_ITEM = re.compile(r"\s*(?:[-*•·▪]|\([a-z0-9ivx]+\)|[a-z]\))\s")
_NUMBERED = re.compile(r"\s*(?:§\s*)?\(?\d+(?:\.\d+)*[.)]?\s")
_TITLED = re.compile(r"\s*(?:article|section|chapter|exhibit|schedule|appendix|part|figure|table)\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_HEAD = 200
"""Characters of a line that are looked at; its end counts too."""

_TAIL, _SAYS_NOTHING = 20, "*_ $"
"""A line ends with the last of so many characters that is not one of these."""

_WORD, _DECIMAL, _UPPER, _LOWER, _DIGIT = (1 << bit for bit in range(5))
"""What a sign is: of a word; 0 to 9 in some script; a capital or a small letter; a digit, raised ones too."""

_ROW = [
    LOOKS.index(look) for look in (
        "item", "numbered", "titled", "hash", "dots", "cells", "ends_sentence", "ends_colon", "ends_comma",
        "ends_digit", "notation", "colon", "foreign", "quoted", "blank_before", "blank_after", "capitals",
    )
]  # fmt: skip
_COUNTED = [LOOKS.index(look) for look in ("capitalised", "starts_small", "digits")]
_BEFORE, _AFTER, _FORMULA, _FIRST = map(LOOKS.index, ("blank_before", "blank_after", "formula", "first"))
_NO_HEADING = ("item", "dots", "ends_sentence", "capitalised")
_SHORT, _LONG = 10, 16
_CAPITALISED = 0.6


def looks(page: PageWords) -> Values:
    """Describe each line of a page, (lines, len(LOOKS))."""
    size, logs = page.size, np.log1p(page.size)
    made = np.zeros((len(size), len(LOOKS)))
    if not len(size):
        return made
    made[:, 0], made[:, 1], made[:, 2], made[:, 3] = 1, logs, logs**2, size == 1
    start, end = _bounds(page)
    head = np.minimum(start + _HEAD, end)
    rows = bytes(chain.from_iterable(map(_row, repeat(page.text), start.tolist(), head.tolist(), end.tolist())))
    made[:, _ROW] = np.frombuffer(rows, dtype=np.uint8).reshape(len(size), -1)
    for column, values in zip(_COUNTED, _counted(page.text, start, head), strict=True):
        made[:, column] = values
    made[0, _BEFORE] = made[-1, _AFTER] = 1
    made[:, _FORMULA], made[:, _FORMULA + 1] = page.kind == 1, page.kind == 2
    for column, place in ((_FIRST, 0), (_FIRST + 1, 1), (_FIRST + 2, len(size) - 1), (_FIRST + 3, len(size) - 2)):
        if 0 <= place < len(size):
            made[place, column] = 1
    made[1:, _FIRST + 4], made[:-1, _FIRST + 5] = logs[:-1], logs[1:]
    item, dots, sentence, capitalised = (made[:, LOOKS.index(look)] for look in _NO_HEADING)
    heading = (size <= _SHORT) & (capitalised >= _CAPITALISED) & (item + dots + sentence == 0)
    made[:, _FIRST + 6] = heading
    made[:-1, _FIRST + 7] = heading[:-1] & (size[1:] >= _LONG)
    made[:, -2], made[:, -1] = float((size >= _LONG).any()), np.log(len(size))
    return made


def _bounds(page: PageWords) -> tuple[Ints, Ints]:
    """Give where the lines' text begins and ends, marks included."""
    first = places(changes(page.line))
    return page.start[first], page.end[np.append(first[1:], len(page.line)) - 1]


def _row(text: str, start: int, head: int, end: int) -> tuple[bool, ...]:
    """Give what a line, of which [start, head) is looked at, says by itself: the looks of _ROW."""
    sign, last = text[start:head], text[max(end - _TAIL, start) : end].rstrip(_SAYS_NOTHING)[-1:]
    return (
        _ITEM.match(sign) is not None, _NUMBERED.match(sign) is not None, _TITLED.match(sign) is not None,
        sign[0] == "#", text.find("....", start, end) >= 0 or text.find("…", start, end) >= 0, "&" in sign,
        last != "" and last in ".!?;", last == ":", last == ",", last.isdigit(),
        "\\" in sign, ":" in sign[:40], not sign.isascii(), '"' in sign or "'" in sign,
        text.find("\n\n", max(start - 3, 0), start) >= 0, text.count("\n", end, end + 3) >= 2,
        sign.isupper() and _LETTER.search(sign) is not None,
    )  # fmt: skip


def _counted(text: str, start: Ints, end: Ints) -> tuple[Values, NDArray[np.bool_], Values]:
    """Give the looks of _COUNTED of the signs in [start, end) of lines: those of their words and digits."""
    sign = codes("\n" + text)
    form = _forms(int(sign.max()).bit_length()).take(sign)
    begins, form = _begins(form), form[1:]
    every = places(begins)
    initial = form[np.append(every, 0)[every.searchsorted(start)]]
    words, capitals, digits = (
        found.searchsorted(end) - found.searchsorted(start)
        for found in (every, places(begins & (form & _UPPER > 0)), places(form & _DIGIT > 0))
    )
    return capitals / np.maximum(words, 1), (initial & _LOWER > 0) & (words > 0), digits / (end - start)


@lru_cache(maxsize=21)
def _forms(bits: int) -> NDArray[np.uint8]:
    """Tell what signs are, for all codes of so many bits."""
    every = "".join(map(chr, range(min(1 << bits, sys.maxunicode + 1))))
    is_ = str.isalnum, str.isdecimal, str.isupper, str.islower, str.isdigit
    told = [np.frombuffer(bytes(map(of, every)), dtype=np.uint8) for of in is_]
    made: NDArray[np.uint8] = np.packbits(told, axis=0, bitorder="little")[0]
    return made


def _begins(form: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Tell which signs but the first begin words, behind numbers too: `d` and `e` in `3d_e4`; the first is neither."""
    word, number = form & _WORD > 0, form & _DECIMAL > 0
    letter = word[1:] & ~number[1:]
    made: NDArray[np.bool_] = letter & ~word[:-1]
    behind, other = places(letter & number[:-1]), places(~number)
    made[behind] = ~word[other[other.searchsorted(behind) - 1]]  # the sign before the number
    return made


_CONSTANT = 1e-6
"""Below this spread a feature says nothing."""


def fit_logistic(features: Values, share: Values, ridge: float = 3.0, steps: int = 12) -> Values:
    """Fit a logistic regression to shares in [0, 1] by Newton's method; the first feature is the constant 1."""
    centre, width = features.mean(0), features.std(0)
    centre[0], width[width < _CONSTANT] = 0, 1
    scaled = (features - centre) / width
    found = np.zeros(features.shape[1])
    for _ in range(steps):
        chance = expit(scaled @ found)
        weight = np.maximum(chance * (1 - chance), 1e-4)
        bend = scaled.T @ (scaled * weight[:, None]) + ridge * np.eye(len(found))
        found = found + np.linalg.solve(bend, scaled.T @ (share - chance) - ridge * found)
    made: Values = found / width
    made[0] = found[0] - (made[1:] * centre[1:]).sum()
    return made


def expit(score: Values) -> Values:
    """Give the chance of a score."""
    made: Values = 1 / (1 + np.exp(-np.minimum(np.maximum(score, -30), 30)))
    return made
