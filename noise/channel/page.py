"""A page as the channel sees it: words with their classes, in lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Span
from ohr.markup.regions import regions

CLASSES = {
    "mark": ".", "word": "w", "capital": "c", "hyphened": "h", "bracketed": "b", "quoted": "q", "semicolon": "p",
    "foreign": "u", "money": "d", "number": "n", "item": "i", "letter": "l", "notation": "x", "stray": "k",
    "formula": "f", "cell": "t", "cell_number": "m", "first": "a", "price": "r", "variable": "v", "cell_notation": "e",
    "cell_alone": "o",
}  # fmt: skip
"""What a word is, each with its letter in a pattern.

- mark: a sign (`&`, `-`) or an article: no word of the published scores, never counted as lost
- word, capital: of letters, the first of them small or not; letter: of one letter, or very long
- hyphened, bracketed, quoted (an apostrophe too), semicolon, foreign (beyond ASCII), money, notation: by its signs
- price: money that does not stand between two words of its line
- number: with a digit; item: one at an end of its line
- first: a word or capital that begins its line: engines join it to a mark before it
- stray, variable: in a formula on a page that has few, with a command and without; formula: in one of many
- cell_alone: the only word of a table's or a chart's cell; cell_notation, cell_number, cell: one of several, with a
  dollar, a command or a letter beyond ASCII, with a digit, or another
"""

NAMES, LETTERS = tuple(CLASSES), "".join(CLASSES.values())
(
    MARK, WORD, CAPITAL, HYPHENED, BRACKETED, QUOTED, SEMICOLON, FOREIGN, MONEY, NUMBER, ITEM, LETTER, NOTATION, STRAY,
    FORMULA, CELL, CELL_NUMBER, FIRST, PRICE, VARIABLE, CELL_NOTATION, CELL_ALONE,
) = range(len(NAMES))  # fmt: skip

KINDS = "tfb"
"""What a line is: text, formula, table (or chart)."""

TABLE = KINDS.index("b")

_ARTICLES = frozenset(("a", "an", "the", "A", "An", "The", "AN", "THE"))
_HAS_DIGIT = re.compile(r"\d")
_COUNTS = re.compile(r"[^\W_]|[^\x00-\x7f]")
_MONEY = re.compile(r"[$\\\s\d.,:%()/~&-]*")
"""A formula of figures only, such as `$\\$ 25,000.00$`, is read like any number."""

_MANY_FORMULAS = 0.1
_EDGES = ".,:;()[]!?"
_LONGEST_WORD = 20
_TABLES, _FORMULAS = ("table", "chart"), ("inline_formula", "block_formula")


@dataclass(frozen=True, slots=True)
class PageWords:
    """Arrays with an entry per word of a page, marks included, and those of its lines.

    Args:
        text: the page.
        start: (words,) character at which each begins; `end` one past its last.
        cls: (words,) index into NAMES.
        line: (words,) number of the line, ascending; lines without a counted word belong to the one before.
        joined: (words,) whether only white space parts a word from the one before it, within what may be touched.
        counted: (counted,) places of the words that count in the published scores.
        first: (lines,) which counted word is a line's first; `size` how many it has.
        kind: (lines,) index into KINDS.
    """

    text: str
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    cls: NDArray[np.int8]
    line: NDArray[np.int64]
    joined: NDArray[np.bool_]
    counted: NDArray[np.int64]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    kind: NDArray[np.int8]

    @property
    def words(self) -> NDArray[np.int8]:
        """(counted,) class of each counted word."""
        made: NDArray[np.int8] = self.cls[self.counted]
        return made

    @property
    def of_line(self) -> NDArray[np.int64]:
        """(counted,) line of each counted word."""
        return np.repeat(np.arange(len(self.size)), self.size)


def read(text: str) -> PageWords:
    """Find the words of a page."""
    signs = codes(text)
    start, end = _words(signs)
    row = places(signs == _NEW_LINE).searchsorted(start)
    found = regions(text)
    kinds = np.array([_kind(region.kind, text[region.start : region.end]) for region in found], dtype=np.int8)
    kind = kinds[np.array([region.start for region in found], dtype=np.int64).searchsorted(start, side="right") - 1]
    cls = np.array(bytearray(map(_CLASSES.__getitem__, text.split())), dtype=np.int8)
    _refine(cls, kind, row)
    counted = places(cls != MARK)
    first = places(changes(row[counted]))
    rows, size = row[counted[first]], np.diff(np.append(first, len(counted)))
    line = np.maximum(rows.searchsorted(row, side="right") - 1, 0)
    tally = np.bincount(line * 3 + kind, minlength=max(len(rows), 1) * 3).reshape(-1, 3)[: len(rows)]
    joined = np.ones(len(start), dtype=bool)
    joined[:1] = False
    return PageWords(text, start, end, cls, line, joined, counted, first, size, tally.argmax(1).astype(np.int8))


def within(page: PageWords, eligible: Sequence[Span]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which words lie wholly in an eligible span, and which of them in the same as the word before."""
    if tuple(eligible) == ((0, len(page.text)),):
        return np.ones(len(page.start), dtype=bool), page.joined
    span = np.full(len(page.start), -1)
    for number, (low, high) in enumerate(eligible):
        span[(page.start >= low) & (page.end <= high)] = number
    same = np.zeros(len(span), dtype=bool)
    same[1:] = (span[1:] == span[:-1]) & (span[1:] >= 0)
    return span >= 0, same


def changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values differ from the one before them, as the first does."""
    made = np.empty(len(values), dtype=bool)
    made[:1] = True
    np.not_equal(values[1:], values[:-1], out=made[1:])
    return made


def places(found: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Give where values are true; `np.flatnonzero` takes three times as long for a page."""
    return found.nonzero()[0]


def codes(text: str) -> NDArray[np.uint32]:
    """Give the code of each character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _words(signs: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give where what stands between white space begins and ends."""
    blank = np.ones(len(signs) + 2, dtype=bool)
    blank[1:-1] = _BLANK.take(signs, mode="clip")
    edges = places(blank[1:] != blank[:-1])
    return edges[::2], edges[1::2]


_NEW_LINE = ord("\n")
_BLANK = np.array([chr(code).isspace() for code in range(0x3002)])
"""White space by code; the last is U+3000, and U+3001 stands for all behind it."""


def _kind(kind: str, text: str) -> int:
    if kind in _FORMULAS:
        return 0 if _MONEY.fullmatch(text) else 1
    return 2 if kind in _TABLES else 0


def _refine(cls: NDArray[np.int8], kind: NDArray[np.int8], row: NDArray[np.int64]) -> None:
    """Class words by where they stand, in place."""
    begins = changes(row)
    ends = begins.copy()
    ends[:-1] |= begins[1:]
    ends[-1:] = True
    cls[(cls == NUMBER) & ends] = ITEM
    cls[((cls == WORD) | (cls == CAPITAL)) & begins] = FIRST
    if (cls == MONEY).any():
        _price(cls, begins)
    if kind.any():
        worded = cls != MARK
        formulas, cells = places((kind == 1) & worded), places((kind == 2) & worded)
        many = len(formulas) >= _MANY_FORMULAS * np.count_nonzero(worded)
        cls[formulas] = FORMULA if many else np.where(cls[formulas] == NOTATION, STRAY, VARIABLE)
        if len(cells):
            _cells(cls, cells, begins)


def _price(cls: NDArray[np.int8], begins: NDArray[np.bool_]) -> None:
    """Tell money that does not stand between two words of its line, in place."""
    words = np.flatnonzero(cls != MARK)
    line = np.cumsum(begins)[words]
    spoken = _SPOKEN[cls[words]]
    between = np.zeros(len(words), dtype=bool)
    between[1:-1] = spoken[:-2] & spoken[2:] & (line[:-2] == line[2:])
    cls[words[(cls[words] == MONEY) & ~between]] = PRICE


def _cells(cls: NDArray[np.int8], cells: NDArray[np.int64], begins: NDArray[np.bool_]) -> None:
    """Class the words of cells, in place: what parts two cells is a mark, or a line's end."""
    edge = np.ones(len(cls) + 2, dtype=bool)
    edge[1:-1] = cls == MARK
    opens, closes = edge[:-2] | begins, edge[2:] | np.append(begins[1:], True)
    was = cls[cells]
    made = np.where(_NUMBERS[was], CELL_NUMBER, np.where(_NOTED[was], CELL_NOTATION, CELL))
    cls[cells] = np.where((opens & closes)[cells], CELL_ALONE, made)


_EVERY = np.arange(len(NAMES))
_NUMBERS = np.isin(_EVERY, (NUMBER, ITEM))
_NOTED = np.isin(_EVERY, (FOREIGN, MONEY, PRICE, NOTATION))
_SPOKEN = np.isin(_EVERY, (WORD, CAPITAL, FIRST, HYPHENED, BRACKETED, QUOTED, SEMICOLON, MONEY, NOTATION))


class _Classes(dict[str, int]):
    """Classes of the words seen so far: pages repeat their words."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_SEEN:
            self.clear()
        self[word] = _class(word)
        return self[word]


_MOST_SEEN = 100_000
_CLASSES = _Classes()


def _class(token: str) -> int:
    if token in _ARTICLES or not _COUNTS.search(token):
        return MARK
    if not token.isalnum() or not token.isascii():
        sign = _by_sign(token)
        if sign is not None:
            return sign
    if _HAS_DIGIT.search(token):
        return NUMBER
    letters = token.strip(_EDGES)
    if len(letters) == 1 or len(token) > _LONGEST_WORD:
        return LETTER
    return CAPITAL if letters[:1].isupper() else WORD


_SIGNS = (
    (re.compile("['\"`]"), QUOTED),
    (re.compile(r"[^\x00-\x7f]"), FOREIGN),
    (re.compile(";"), SEMICOLON),
    (re.compile(r"\$"), MONEY),
    (re.compile(r"[\\<*]"), NOTATION),
    (re.compile(r"\d"), NUMBER),
    (re.compile(r"[^-]-+[^-]"), HYPHENED),
    (re.compile(r"[()]"), BRACKETED),
)
"""Classes of words by their signs; the first that fits counts."""


def _by_sign(token: str) -> int | None:
    return next((cls for sign, cls in _SIGNS if sign.search(token)), None)
