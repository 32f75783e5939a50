"""A page as the channel sees it: classed words in lines, and the pattern of losses that a profile keeps of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Span
from ohr.markup.regions import regions

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Values = NDArray[np.float64]

CLASSES = {"mark": ".", "word": "w", "number": "n", "formula": "f", "cell": "t"}
"""Classes of words, each with its letter in a pattern.

- mark: a sign (`&`, `-`) or an article: not a word to the published scores, so it never counts as lost
- word, number: without and with a digit
- formula: in a formula, unless the formula holds only figures, which engines read like any number
- cell: in a table or chart

More classes do not predict a domain better that the channel was not fitted on (see docs/noise/channel.md).
"""

NAMES, LETTERS = tuple(CLASSES), "".join(CLASSES.values())
MARK, WORD, NUMBER, FORMULA, CELL = range(len(NAMES))

TEXT_LINE, FORMULA_LINE, TABLE_LINE = range(3)
SIZES = 5
"""Lines are told apart by the logarithm of their words to base 2, up to this many steps: 1, 2, 4, 8, and 16 or more."""

LINE_CLASSES = 3 * SIZES

_MOST_WORDS = 1_000_000
"""Words of a page of a profile: so a few letters of a damaged file do not fill the memory."""

_ARTICLES = frozenset(("a", "an", "the", "A", "An", "The", "AN", "THE"))
_COUNTS = re.compile(r"[^\W_]|[^\x00-\x7f]")
_DIGIT = re.compile(r"\d")
_FIGURES = re.compile(r"[$\\\s\d.,:%()/~&-]*")  # such as `$\\$ 25,000.00$`
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"\n")


@dataclass(frozen=True)
class Pattern:
    """The words of a page without their letters.

    Args:
        cls: (words,) class of each counted word, an index into NAMES.
        lost: (words,) whether it was lost; all False on a page that was not read by the engine.
        size: (lines,) number of words in each line.
    """

    cls: NDArray[np.int8]
    lost: Flags
    size: Ints

    @cached_property
    def of_line(self) -> Ints:
        """(words,) line of each word."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @cached_property
    def line_class(self) -> Ints:
        """(lines,) class of each line: the kind of most of its words, and about how many they are."""
        formula, cell = (
            2 * np.bincount(self.of_line, here, len(self.size)) > self.size
            for here in (self.cls == FORMULA, self.cls == CELL)
        )
        kind = np.where(formula, FORMULA_LINE, np.where(cell, TABLE_LINE, TEXT_LINE))
        step = np.minimum(np.log2(self.size).astype(np.int64), SIZES - 1)
        return np.asarray(kind * SIZES + step)

    @cached_property
    def whole(self) -> Flags:
        """(lines,) whether all words of a line are lost."""
        return np.asarray(np.bincount(self.of_line, self.lost, len(self.size)) == self.size)

    @property
    def runs(self) -> Ints:
        """(words,) number of words of its line that are lost in a run from this word on; 0 where no run begins."""
        begins = self.lost.copy()
        begins[1:] &= ~self.lost[:-1] | changes(self.of_line)[1:]
        first = places(begins)
        made = np.zeros(len(self.lost), dtype=np.int64)
        made[first] = np.bincount(np.cumsum(begins)[self.lost] - 1, minlength=len(first))
        return made

    def dumps(self) -> str:
        """Return the pattern as text: lines of letters, capital where lost, with counts (`w3` for `www`)."""
        letters = np.frombuffer(LETTERS.encode(), dtype=np.uint8)[self.cls] - 32 * self.lost.astype(np.uint8)
        text, upto = letters.astype(np.uint8).tobytes().decode(), np.cumsum(self.size).tolist()
        lines = " ".join(text[low:high] for low, high in zip([0, *upto], upto, strict=False))
        return re.sub(r"(\w)\1+", lambda run: f"{run[1]}{len(run[0])}", lines)

    @classmethod
    def loads(cls, text: str) -> "Pattern":
        """Read a pattern from text.

        Raises:
            ValueError: it is not a pattern.
        """
        if sum(map(int, re.findall(r"\d{1,5}", text))) > _MOST_WORDS:
            raise ValueError(f"a page of more than {_MOST_WORDS:,} words")
        lines = re.sub(r"([A-Za-z])(\d{1,5})", lambda run: run[1] * int(run[2]), text).split(" ")
        signs = np.frombuffer("".join(lines).encode(), dtype=np.uint8)
        classes = _NUMBER_OF[signs | 32]
        if (classes < 0).any() or not all(lines):
            raise ValueError("a word of an unknown class, or a line without words")
        return cls(classes, (signs & 32) == 0, np.array(list(map(len, lines)), dtype=np.int64))


_NUMBER_OF = np.full(256, -1, dtype=np.int8)
_NUMBER_OF[np.frombuffer(LETTERS[1:].encode(), dtype=np.uint8)] = np.arange(1, len(LETTERS))


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page, marks included.

    Args:
        text: the page.
        start: (words,) character at which each begins; `end` one past its last; `row` the number of its line of text.
        cls: (words,) index into NAMES.
        counted: (counted,) places of the words that count in the published scores.
        size: (lines,) number of counted words in each line that has one.
    """

    text: str
    start: Ints
    end: Ints
    row: Ints
    cls: NDArray[np.int8]
    counted: Ints
    size: Ints

    def pattern(self, lost: Flags | None = None) -> Pattern:
        """Return the counted words as a pattern, with none of them lost unless `lost` (counted,) is given."""
        return Pattern(self.cls[self.counted], np.zeros(len(self.counted), bool) if lost is None else lost, self.size)


def read(text: str) -> PageWords:
    """Find and class the words of a page."""
    found = [word.span() for word in _WORD.finditer(text)]
    start, end = np.array(found, dtype=np.int64).reshape(-1, 2).T
    row = np.array([line.start() for line in _LINE.finditer(text)], dtype=np.int64).searchsorted(start)
    cls = np.fromiter(map(_class, text.split()), dtype=np.int8, count=len(found))
    areas = regions(text)
    kinds = np.array([_kind(area.kind, text[area.start : area.end]) for area in areas], dtype=np.int8)
    kind = kinds[np.array([area.start for area in areas], dtype=np.int64).searchsorted(start, side="right") - 1]
    worded = cls != MARK
    cls[worded & (kind == FORMULA_LINE)] = FORMULA
    cls[worded & (kind == TABLE_LINE)] = CELL
    counted = places(worded)
    first = places(changes(row[counted]))
    return PageWords(text, start, end, row, cls, counted, np.diff(np.append(first, len(counted))))


def within(page: PageWords, eligible: Sequence[Span]) -> tuple[Flags, Flags]:
    """Report which words lie wholly in an eligible span, and which of them in the same span as the word before."""
    span = np.full(len(page.start), -1)
    for number, (low, high) in enumerate(eligible):
        span[(page.start >= low) & (page.end <= high)] = number
    return span >= 0, ~changes(span) & (span >= 0)


def changes(values: NDArray[Any]) -> Flags:
    """Report which values differ from the one before them; the first does."""
    made = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=made[1:])
    return made


def places(found: Flags) -> Ints:
    """Return where values are true; `np.flatnonzero` takes three times as long for a page."""
    return found.nonzero()[0]


def _kind(kind: str, text: str) -> int:
    if kind in ("inline_formula", "block_formula"):
        return TEXT_LINE if _FIGURES.fullmatch(text) else FORMULA_LINE
    return TABLE_LINE if kind in ("table", "chart") else TEXT_LINE


@lru_cache(maxsize=100_000)  # pages repeat their words
def _class(token: str) -> int:
    if token in _ARTICLES or not _COUNTS.search(token):
        return MARK
    return NUMBER if _DIGIT.search(token) else WORD
