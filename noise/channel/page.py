"""A page as the channel sees it: words with their classes, in lines, formulas and table cells."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Span

from ..markup import regions

CLASSES = (
    "mark", "word", "capital", "odd", "marked", "number", "loose_number", "lead", "stray", "formula", "cell_word",
    "cell_number",
)  # fmt: skip
"""What a word is.

- mark: a sign (`&`, `-`) or an article: no word of the published scores, never counted as lost
- word, capital: of letters, the first of them small or not; odd: of one letter, or very long
- marked: with a sign that engines set in another form (quotes, dashes, foreign letters)
- number: with a digit, in a long line; loose_number: in a short one; lead: an item's number or letter at a line's head
- stray: in a formula on a page that has few; formula, cell_word, cell_number: in formulas, tables and charts
"""

MARK, WORD, CAPITAL, ODD, MARKED, NUMBER, LOOSE_NUMBER, LEAD, STRAY, FORMULA, CELL_WORD, CELL_NUMBER = range(
    len(CLASSES)
)

KINDS = ("text", "formula", "table", "edge", "loose", "stray")
"""What a line or unit is.

- edge: text in the first or last line of a page, where headers and footers stand
- loose: text on a page of which less than half the words are in lines of at least STRETCH words
- stray: a formula on a page that has few
"""

LINE_BINS = (1, 2, 4, 8, 16, 32, 64)
"""Least number of words in a line of each length class."""

STRETCH = 16
"""Words of a line that share a local quality."""

_SPACE = re.compile(r"(\s+)")
_ARTICLES = frozenset(("a", "an", "the", "A", "An", "The", "AN", "THE"))
_HAS_DIGIT = re.compile(r"\d")
_COUNTS = re.compile(r"[^\W_]|[^\x00-\x7f]")
_SIGN = re.compile(r"['\";`<>\\$*-]|[^\x00-\x7f]")
_MONEY = re.compile(r"[$\\\s\d.,:%()/~&-]*")
"""A formula of figures only, such as `$\\$ 25,000.00$`, is read like any number."""

_MANY_FORMULAS = 0.1
_NUMBERED = np.isin(np.arange(len(CLASSES)), (ODD, NUMBER, LOOSE_NUMBER))
_EDGES = ".,:;()[]!?"
_LONGEST_LEAD, _LONGEST_WORD = 6, 20
_CELL_BREAKS = frozenset(("&", "|", "\\\\", "\\hline"))
_TABLES, _FORMULAS = ("table", "chart"), ("inline_formula", "block_formula")


@dataclass(frozen=True, slots=True)
class PageWords:
    """Arrays with an entry per word of a page, marks included, and those of its lines and units.

    Args:
        text: the page.
        start: (words,) character at which each begins; `end` one past its last.
        cls: (words,) index into CLASSES.
        line: (words,) number of the line, ascending.
        line_start: (lines + 1,) first word of each line, and the number of words.
        line_kind: (lines,) index into KINDS: the most frequent of its words.
        line_bin: (lines,) length class of each line, index into LINE_BINS.
        joined: (words,) whether only white space parts a word from the one before it.
        type: (words,) number of each different word.
        units: (units, 3) first word, word after the last, and kind, of formulas and table cells of a line.
    """

    text: str
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    cls: NDArray[np.int8]
    line: NDArray[np.int64]
    line_start: NDArray[np.int64]
    line_kind: NDArray[np.int8]
    line_bin: NDArray[np.int64]
    joined: NDArray[np.bool_]
    type: NDArray[np.int64]
    units: NDArray[np.int64]

    @property
    def stretch(self) -> NDArray[np.int64]:
        """(words,) number of the stretch of a line that each word is in, ascending."""
        inside = np.arange(len(self.line)) - self.line_start[self.line]
        _, made = np.unique(self.line * (len(self.line) + 1) + inside // STRETCH, return_inverse=True)
        return made.astype(np.int64)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """(words,) whether a word counts as one in the published scores."""
        made: NDArray[np.bool_] = self.cls != MARK
        return made


def read(text: str, eligible: Sequence[Span] | None = None) -> PageWords:
    """Find the words of a page; those not wholly within an eligible span are left out."""
    tokens, start, end = _tokens(text)
    span = np.zeros(len(start), dtype=np.int64)
    if eligible is not None and tuple(eligible) != ((0, len(text)),):
        span[:] = -1
        for number, (low, high) in enumerate(eligible):
            span[(start >= low) & (end <= high)] = number
    joined = np.zeros(len(start), dtype=bool)
    joined[1:] = span[1:] == span[:-1]
    if len(span) and span.min() < 0:
        inside = span >= 0
        tokens = [token for token, kept in zip(tokens, inside.tolist(), strict=True) if kept]
        start, end, joined = start[inside], end[inside], joined[inside]
    found = regions(text)
    owner = np.searchsorted([region.start for region in found], start, side="right") - 1 if len(start) else start
    kinds = np.array([_kind(region.kind, text[region.start : region.end]) for region in found], dtype=np.int8)
    kind = kinds[owner] if len(start) else np.zeros(0, dtype=np.int8)
    breaks = np.array([match.start() for match in re.finditer("\n", text)], dtype=np.int64)
    line = np.searchsorted(breaks, start)
    line = np.cumsum(np.diff(line, prepend=line[:1]) > 0)
    lines = int(line[-1]) + 1 if len(line) else 0
    line_start = np.searchsorted(line, np.arange(lines + 1))
    different = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    type_ = np.fromiter(map(different.__getitem__, tokens), dtype=np.int64, count=len(tokens))
    cls = np.fromiter(map(_class, different), dtype=np.int8, count=len(different))[type_]
    _refine(cls, end - start, kind, line_start, line)
    line_kind = _line_kinds(kind, cls, line, lines)
    units = _units(tokens, kind, owner, line) if kind.any() else np.zeros((0, 3), dtype=np.int64)
    if not (cls == FORMULA).any():
        units[units[:, 2] == 1, 2] = KINDS.index("stray")
    return PageWords(
        text, start, end, cls, line, line_start, line_kind, _line_bins(cls, line, lines), joined, type_, units
    )


def _tokens(text: str) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Cut at white space; gives the pieces and where they begin and end."""
    parts = _SPACE.split(text)  # pieces and, between them, the white space
    length = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    end = np.cumsum(length)
    first, last = int(not parts[0]), len(parts) - int(not parts[-1])
    if last <= first * 2:
        return [], np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    kept = slice(2 * first, last, 2)
    return parts[kept], (end - length)[kept], end[kept]


def _kind(kind: str, text: str) -> int:
    if kind in _FORMULAS:
        return 0 if _MONEY.fullmatch(text) else 1
    return 2 if kind in _TABLES else 0


def _refine(
    cls: NDArray[np.int8],
    length: NDArray[np.int64],
    kind: NDArray[np.int8],
    line_start: NDArray[np.int64],
    line: NDArray[np.int64],
) -> None:
    """Class words by where they stand, in place."""
    short = np.diff(line_start)[line] < STRETCH
    cls[(cls == NUMBER) & short] = LOOSE_NUMBER
    heads = line_start[:-1]
    items = heads[(length[heads] <= _LONGEST_LEAD) & ~short[heads] & _NUMBERED[cls[heads]]]
    cls[items] = LEAD
    if kind.any():
        worded = cls != MARK
        formulas = (kind == 1) & worded
        cls[formulas] = FORMULA if formulas.sum() >= _MANY_FORMULAS * worded.sum() else STRAY
        cells = (kind == 2) & worded
        cls[cells] = np.where((cls[cells] == NUMBER) | (cls[cells] == LOOSE_NUMBER), CELL_NUMBER, CELL_WORD)


@lru_cache(maxsize=100_000)
def _class(token: str) -> int:
    if token in _ARTICLES or not _COUNTS.search(token):
        return MARK
    if _HAS_DIGIT.search(token):
        return NUMBER
    if _SIGN.search(token):
        return MARKED
    letters = token.strip(_EDGES)
    if len(letters) == 1 or len(token) > _LONGEST_WORD:
        return ODD
    return CAPITAL if letters[:1].isupper() else WORD


def _line_kinds(kind: NDArray[np.int8], cls: NDArray[np.int8], line: NDArray[np.int64], lines: int) -> NDArray[np.int8]:
    tally = np.bincount(line * 3 + kind, minlength=lines * 3).reshape(lines, 3)
    made: NDArray[np.int8] = tally.argmax(1).astype(np.int8)
    worded = line[cls != MARK]
    if len(worded):
        size = np.bincount(worded, minlength=lines)
        if size[size >= STRETCH].sum() * 2 < len(worded):
            made[made == 0] = KINDS.index("loose")
        if not (cls == FORMULA).any():
            made[made == 1] = KINDS.index("stray")
        for edge in (worded[0], worded[-1]):
            made[edge] = made[edge] if made[edge] in (1, 2) else KINDS.index("edge")
    return made


def _line_bins(cls: NDArray[np.int8], line: NDArray[np.int64], lines: int) -> NDArray[np.int64]:
    size = np.bincount(line[cls != MARK], minlength=lines)
    return np.maximum(np.searchsorted(LINE_BINS, size, side="right") - 1, 0)


def _units(
    tokens: Sequence[str], kind: NDArray[np.int8], owner: NDArray[np.int64], line: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Find the formulas, and the cells of tables, within their lines."""
    made: list[tuple[int, int, int]] = []
    begin = -1
    for place in np.flatnonzero(kind).tolist():
        ends = kind[place] == 2 and tokens[place] in _CELL_BREAKS
        joined = begin >= 0 and place and owner[place - 1] == owner[place] and line[place - 1] == line[place]
        if joined and not ends and made[-1][1] == place:
            made[-1] = (begin, place + 1, made[-1][2])
        elif ends:
            begin = -1
        else:
            begin = place
            made.append((place, place + 1, int(kind[place])))
    return np.array(made, dtype=np.int64).reshape(-1, 3)
