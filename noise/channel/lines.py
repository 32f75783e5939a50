"""What a line's look says of its chance to be lost whole: a heading, a list item, a row of a table."""

import re

import numpy as np
from numpy.typing import NDArray

from .page import PageWords

Values = NDArray[np.float64]

LOOKS = (
    "all", "log_words", "log_words_squared", "one_word", "item", "numbered", "titled", "hash", "dots", "cells",
    "ends_sentence", "ends_colon", "ends_comma", "ends_digit", "capitalised", "capitals", "digits", "formula", "table",
    "first", "second", "last", "last_but_one", "blank_before", "blank_after", "words_before", "words_after", "heading",
    "heading_before_text", "notation", "colon", "starts_small", "foreign", "quoted", "page_has_text", "page_lines",
)  # fmt: skip
"""What is looked at in a line. Ones and zeros, but for shares, and for the logarithms of numbers of words and lines."""

_ITEM = re.compile(r"\s*(?:[-*•·▪]|\([a-z0-9ivx]+\)|[a-z]\))\s")
_NUMBERED = re.compile(r"\s*(?:§\s*)?\(?\d+(?:\.\d+)*[.)]?\s")
_TITLED = re.compile(r"\s*(?:article|section|chapter|exhibit|schedule|appendix|part|figure|table)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][^\W_]*")
_HEAD = 200
"""Characters of a line that are looked at; its end counts too."""

_SHORT, _LONG = 10, 16
_CAPITALISED = 0.6


def looks(page: PageWords) -> Values:
    """Describe each line of a page, (lines, len(LOOKS))."""
    count, size = len(page.size), page.size.tolist()
    made = np.zeros((count, len(LOOKS)))
    logs = np.log1p(page.size)
    starts, ends = _bounds(page)
    for number in range(count):
        made[number, 3:17] = _own(page.text[starts[number] : ends[number]], size[number])
        made[number, 23:25] = _blanks(page.text, starts[number], ends[number], number == 0, number == count - 1)
        made[number, 29:34] = _signs(page.text[starts[number] : ends[number]][:_HEAD])
    made[:, 0], made[:, 1], made[:, 2] = 1, logs, logs**2
    made[:, 17], made[:, 18] = page.kind == 1, page.kind == 2
    for column, place in ((19, 0), (20, 1), (21, count - 1), (22, count - 2)):
        if 0 <= place < count:
            made[place, column] = 1
    made[1:, 25], made[:-1, 26] = logs[:-1], logs[1:]
    made[:, 27] = (page.size <= _SHORT) & (made[:, 14] >= _CAPITALISED) & (made[:, 4] + made[:, 8] + made[:, 10] == 0)
    made[:-1, 28] = made[:-1, 27] * (page.size[1:] >= _LONG)
    made[:, 34], made[:, 35] = float((page.size >= _LONG).any()), np.log(max(count, 1))
    return made


def _bounds(page: PageWords) -> tuple[list[int], list[int]]:
    """Give where the lines' text begins and ends, marks included."""
    if not len(page.size):
        return [], []
    first = np.searchsorted(page.line, np.arange(len(page.size)))
    last = np.append(first[1:], len(page.line)) - 1
    return page.start[first].tolist(), page.end[last].tolist()


def _own(line: str, words: int) -> tuple[float, ...]:
    head, end = line[:_HEAD], line[-20:].rstrip("*_ $")[-1:]
    found = _WORD.findall(head)
    upper = sum(map(str.isupper, [word[0] for word in found]))
    return (
        words == 1, bool(_ITEM.match(head)), bool(_NUMBERED.match(head)), bool(_TITLED.match(head)), head[:1] == "#",
        "...." in line or "…" in line, "&" in head, end in ".!?;" and end != "", end == ":", end == ",", end.isdigit(),
        upper / len(found) if found else 0.0, bool(found) and head.isupper(),
        sum(map(str.isdigit, head)) / max(len(head), 1),
    )  # fmt: skip


def _blanks(text: str, start: int, end: int, first: bool, last: bool) -> tuple[bool, bool]:
    return first or "\n\n" in text[max(start - 3, 0) : start], last or text[end : end + 3].count("\n") >= 2


def _signs(head: str) -> tuple[bool, ...]:
    found = _WORD.search(head)
    small = found is not None and found[0][0].islower()
    return "\\" in head, ":" in head[:40], small, not head.isascii(), '"' in head or "'" in head


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
