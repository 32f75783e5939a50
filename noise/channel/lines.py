"""What a line's look says of its chance to be lost whole: a heading, a list item, a row of a table."""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .page import PageWords

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
_WORD = re.compile(r"[^\W\d_][^\W_]*")
_HEAD = 200
"""Characters of a line that are looked at; its end counts too."""

_DIGIT = re.compile(r"\d")
_OWN = slice(LOOKS.index("item"), LOOKS.index("blank_after") + 1)
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
    made[:, _OWN] = [_own(page.text, start, end) for start, end in _bounds(page)]
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


def _bounds(page: PageWords) -> Iterator[tuple[int, int]]:
    """Give where the lines' text begins and ends, marks included."""
    first = np.searchsorted(page.line, np.arange(len(page.size)))
    last = np.append(first[1:], len(page.line)) - 1
    return zip(page.start[first].tolist(), page.end[last].tolist(), strict=True)


def _own(text: str, start: int, end: int) -> tuple[float, ...]:
    """Give what a line says by itself: LOOKS from `item` to `blank_after`."""
    head, last = text[start : min(start + _HEAD, end)], text[max(end - 20, start) : end].rstrip("*_ $")[-1:]
    found = _WORD.findall(head)
    upper = len([word for word in found if word[0].isupper()])
    length = len(head)
    digits = len(_DIGIT.findall(head)) if head.isascii() else sum(map(str.isdigit, head))
    return (
        _ITEM.match(head) is not None, _NUMBERED.match(head) is not None, _TITLED.match(head) is not None,
        head[:1] == "#", text.find("....", start, end) >= 0 or text.find("…", start, end) >= 0, "&" in head,
        last != "" and last in ".!?;", last == ":", last == ",", last.isdigit(),
        upper / len(found) if found else 0.0, bool(found) and head.isupper(),
        digits / length if length else 0.0, "\\" in head, ":" in head[:40],
        bool(found) and found[0][0].islower(), not head.isascii(), '"' in head or "'" in head,
        text.find("\n\n", max(start - 3, 0), start) >= 0, text.count("\n", end, end + 3) >= 2,
    )  # fmt: skip


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
    made: Values = 1 / (1 + np.exp(-np.clip(score, -30, 30)))
    return made
