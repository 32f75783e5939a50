"""The words of a page's plain text, and which of them are marks of headings, lists and rows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Span
from ohr.markup.regions import Region
from ohr.text.chinese import HAS_HAN, chinese_words

from .units import Flags, Places, painted

_FRAGILE = "\\{}$&%<>#*_|^~`"
"""Signs that mean something to LaTeX or Markdown: a word with one is left alone, for wrapping it could break it."""

_ESCAPE = re.compile(rb"\\(?<!\\\\)[&%$#_]")
"""Signs that a backslash makes harmless."""

_MARKS = re.compile(
    r"\n[^\S\n]*(?:(?:#{1,6}|[-+*>•·●○■□▪◦‣–—]|\(?(?:\d{1,9}(?:\.\d+)*|[A-Za-z]|[ivx]{2,5})[.)])[^\S\n]+)+"
)
"""The beginning of a heading, a quotation or a list's item: one mark or several."""

_CLOSING = re.compile(r"[^\w\s]+")

Signs = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page's plain text.

    Args:
        signs: (m,) byte for each character of the page, as `_signs_of` gives it; what is no plain text is line breaks.
        starts: (n,) where each word begins.
        ends: (n,) where it ends.
        parts: (n,) number of the stretch of a line that contains it; between two stretches is a line break or no
            plain text.
        sound: (n,) whether it may be wrapped: no heading, no list's mark, no markup of its own, no end of a formula.
        bound: (n,) whether it would mean more at a line's beginning, as a list's mark does: no line ends before it.
        marks: (m,) characters of the marks that lines begin with, and of the space behind them.
        rows: (m,) characters of lines with a bar, which may be a table's row.
    """

    signs: Signs
    starts: Places
    ends: Places
    parts: Places
    sound: Flags
    bound: Flags
    marks: Flags
    rows: Flags


def words_of(text: str, regions: Sequence[Region]) -> Words:
    """Find the words; runs of Chinese are cut by a segmenter."""
    page, chinese = _signs_of(text)
    for region in regions:
        if region.kind != "text":
            page[region.start : region.end] = b"\n" * (region.end - region.start)
    around = np.ones(len(page) + 2, dtype=bool)
    around[1:-1] = flags(page, _SPACES)
    edges = (around[1:] != around[:-1]).nonzero()[0]
    starts, ends = edges[::2], edges[1::2]
    if chinese:
        starts, ends = _with_chinese(text, starts, ends)
    signs = np.frombuffer(page, dtype=np.uint8)
    parts = (signs == _NEWLINE).nonzero()[0].searchsorted(starts)
    marks, headings = _marks(text)
    marked = painted(marks, len(page))
    sound = ~(marked | painted(headings, len(page)) if headings else marked)[starts]
    for fragile in (_fragile(page), list(_beside_formulas(text, regions))):
        sound[starts.searchsorted(fragile, side="right") - 1] = False
    return Words(
        signs, starts, ends, parts, sound, _bound(signs, starts, ends), marked, painted(_rows(page), len(page))
    )


# --- signs ------------------------------------------------------------------------------------------------

_NEWLINE = ord("\n")
CHINESE_STOP, _OTHER = 0x80, 0xFF
_BEYOND, _FIRST_HAN = 0x3003, 0x2E80


def _signs_of(text: str) -> tuple[bytearray, bool]:
    """Return a byte for each character, and whether some may be Chinese.

    ASCII is itself, other white space a space; the Chinese full stop has a byte of its own, and what else there is one
    together.
    """
    if text.isascii():
        return bytearray(text, "ascii"), False
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return bytearray(_bytes()[np.minimum(codes, _BEYOND)]), bool(codes.max() >= _FIRST_HAN)


@cache
def _bytes() -> Signs:
    table = np.full(_BEYOND + 1, _OTHER, dtype=np.uint8)
    table[:128] = range(128)
    table[[code for code in range(128, _BEYOND) if chr(code).isspace()]] = ord(" ")
    table[ord("。")] = CHINESE_STOP
    return table


def among(signs: str) -> bytes:
    """Return the table for `flags` of ASCII signs."""
    return bytes(chr(code) in signs for code in range(256))


_OF_LINES, _DIGITS, _AFTER_NUMBERS = among("-+>#|=*~:`"), among("0123456789"), among(".)")
_LONGEST_NUMBER = 10
"""Characters of a list's number with the mark behind it (CommonMark, 5.2)."""

_SPACES = bytes(code < 128 and chr(code).isspace() for code in range(256))
_ARE_FRAGILE = among(_FRAGILE)


def flags(page: bytes | bytearray, table: bytes) -> Flags:
    """Look up each byte in a table of flags."""
    return np.frombuffer(page.translate(table), dtype=bool)


def _fragile(page: bytearray) -> Places:
    """Find fragile signs that are not escaped."""
    return flags(_ESCAPE.sub(b"  ", page), _ARE_FRAGILE).nonzero()[0]


def _beside_formulas(text: str, regions: Sequence[Region]) -> Iterator[int]:
    """Find punctuation that is joined to a formula: the full stop behind one is no word."""
    for region in regions:
        if region.kind == "text":
            for place in (region.start, region.end - 1):
                beside = place - 1 if place == region.start else place + 1
                if 0 <= beside < len(text) and not text[place].isalnum() and not text[place].isspace():
                    yield place


# --- lines ------------------------------------------------------------------------------------------------


def _marks(text: str) -> tuple[list[Span], list[Span]]:
    """Find the marks at the beginnings of lines, with the space behind them, and the lines of headings."""
    marks, headings = [], []
    for match in _MARKS.finditer("\n" + text):
        start, end = match.start(), match.end() - 1
        marks.append((start, end))
        if "#" in match[0]:
            stop = text.find("\n", end)
            headings.append((start, len(text) if stop < 0 else stop))
    return marks, headings


def _bound(signs: Signs, starts: Places, ends: Places) -> Flags:
    """Flag the words that begin with a sign that means more at a line's beginning, or that are a list's number."""
    firsts = signs[starts].tobytes()
    bound = flags(firsts, _OF_LINES).copy()
    numbers = (flags(firsts, _DIGITS) & (ends - starts <= _LONGEST_NUMBER)).nonzero()[0]
    bound[numbers] = flags(signs[ends[numbers] - 1].tobytes(), _AFTER_NUMBERS)
    return bound


def _rows(page: bytearray) -> Iterator[Span]:
    """Find the lines with a bar."""
    place = page.find(b"|")
    while place >= 0:
        end = page.find(b"\n", place)
        end = len(page) if end < 0 else end
        yield page.rfind(b"\n", 0, place) + 1, end
        place = page.find(b"|", end)


def _with_chinese(text: str, starts: Places, ends: Places) -> tuple[Places, Places]:
    begun, ended = [], []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        word = text[start:end]
        if word.isascii() or not HAS_HAN.search(word):
            begun.append(start)
            ended.append(end)
            continue
        pieces = chinese_words(word)
        begins = [  # punctuation stays with the word before it
            place
            for place, piece in zip(accumulate(map(len, pieces), initial=start), pieces, strict=False)
            if piece[0].isalnum() or place == start or not _CLOSING.fullmatch(piece)
        ]
        begun += begins
        ended += [*begins[1:], end]
    return np.array(begun, dtype=np.int64), np.array(ended, dtype=np.int64)
