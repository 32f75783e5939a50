"""Units of plain text: runs of words, gaps between words, and short sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Span
from ohr.sentences import sentence_spans
from ohr.text import HAS_HAN, chinese_words

from .markup import Region
from .units import Flags, Places

MAX_TITLE_WORDS = 5

_FRAGILE = "\\{}$&%<>#*_|^~`"
"""Signs that mean something to LaTeX or Markdown: a word with one is left alone, for wrapping it could break it."""

_ESCAPED = "&%$#_"
"""Signs that a backslash makes harmless."""

_MARK = re.compile(r"[-+>•]$|\d+[.)]$|\(?[A-Za-z0-9][.)]$")
_HEAD = re.compile(r"[-+>#|=*~:`]|\d+[.)]$")
"""What means something to Markdown at the beginning of a line."""

_CLOSING = re.compile(r"[^\w\s]+")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page's plain text.

    Args:
        starts: (n,) where each word begins.
        ends: (n,) where it ends.
        parts: (n,) number of the stretch of a line that it stands in; what stands between two stretches is a line
            break or no plain text.
        sound: (n,) whether it may be wrapped: no heading, no list's mark, no markup of its own.
    """

    starts: Places
    ends: Places
    parts: Places
    sound: Flags


def words_of(text: str, regions: Sequence[Region]) -> Words:
    """Find the words; runs of Chinese are cut by a segmenter."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    plain = np.ones(len(codes), dtype=bool)
    for region in regions:
        if region.kind != "text":
            plain[region.start : region.end] = False
    in_word = np.zeros(len(codes) + 2, dtype=np.int8)
    in_word[1:-1] = plain & ~_spaces()[np.minimum(codes, _SPACES - 1)]
    change = np.diff(in_word)
    starts, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    if len(starts) and codes.max() >= _FIRST_HAN:
        starts, ends = _with_chinese(text, starts, ends)
    breaks = np.cumsum((codes == _NEWLINE) | ~plain)
    parts = breaks[starts] if len(starts) else starts
    fragile = np.concatenate(([0], np.cumsum(_fragile(codes))))
    return Words(starts, ends, parts, (fragile[ends] == fragile[starts]) & ~_of_markdown(text, codes, starts, ends))


_NEWLINE, _BACKSLASH, _HASH = 10, 92, 35
_SPACES, _FIRST_HAN = 0x3002, 0x2E80


@cache
def _spaces() -> Flags:
    return np.array([chr(code).isspace() for code in range(_SPACES)])


@cache
def _signs(signs: str) -> Flags:
    return np.array([chr(code) in signs for code in range(129)])


def _fragile(codes: NDArray[np.uint32]) -> Flags:
    known = np.minimum(codes, 128)
    fragile = _signs(_FRAGILE)[known]
    escapes = np.flatnonzero((codes[:-1] == _BACKSLASH) & _signs(_ESCAPED)[known[1:]])
    escapes = escapes[(escapes == 0) | (codes[escapes - 1] != _BACKSLASH)]
    fragile[escapes] = fragile[escapes + 1] = False
    return fragile


def _of_markdown(text: str, codes: NDArray[np.uint32], starts: Places, ends: Places) -> Flags:
    """Mark the words of headings, and the marks of lists."""
    lines = np.cumsum(codes == _NEWLINE)[starts] if len(starts) else starts
    first = np.diff(lines, prepend=-1) > 0
    heads = np.flatnonzero(first)
    marked = np.zeros(len(starts), dtype=bool)
    for place in heads[ends[heads] - starts[heads] <= 4].tolist():
        marked[place] = bool(_MARK.match(text[starts[place] : ends[place]]))
    number = np.cumsum(first) - 1  # of the line among those with words
    headings = codes[starts[heads]] == _HASH
    return marked | headings[number] if len(starts) else marked


def _with_chinese(text: str, starts: Places, ends: Places) -> tuple[Places, Places]:
    begun, ended = [], []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        word = text[start:end]
        if not HAS_HAN.search(word):
            begun.append(start)
            ended.append(end)
            continue
        place, fresh = start, True
        for piece in chinese_words(word):
            if fresh or not _CLOSING.fullmatch(piece):
                begun.append(place)
                ended.append(place + len(piece))
            else:  # punctuation stays with the word before it
                ended[-1] = place + len(piece)
            place, fresh = place + len(piece), False
    return np.array(begun, dtype=np.int64), np.array(ended, dtype=np.int64)


# --- units ------------------------------------------------------------------------------------------------


def runs(words: Words, lengths: Places) -> tuple[Places, Places]:
    """Divide sound words into runs of 2 to 5; `lengths` are drawn, and a run ends where a stretch does.

    What is left over, a single word, is no run.
    """
    sound = np.flatnonzero(words.sound)
    if len(sound) < 2:
        return sound[:0], sound[:0]
    cuts = np.cumsum(lengths)
    borders = np.flatnonzero((np.diff(sound) > 1) | (np.diff(words.parts[sound]) > 0)) + 1
    bounds = np.union1d(np.union1d(cuts[cuts < len(sound)], borders), [0, len(sound)])
    long = np.diff(bounds) >= 2
    return words.starts[sound[bounds[:-1][long]]], words.ends[sound[bounds[1:][long] - 1]]


def gaps(text: str, words: Words, whole: Sequence[Span]) -> tuple[Places, Places]:
    """Find the gaps between the words of a stretch; none within `whole`, nor before what a line's head would change."""
    if len(words.starts) < 2:
        return words.starts[:0], words.starts[:0]
    same = np.flatnonzero(words.parts[1:] == words.parts[:-1])
    starts, ends = words.ends[same], words.starts[same + 1]
    lasts = words.ends[same + 1]
    good = np.ones(len(same), dtype=bool)
    for place in np.flatnonzero(~words.sound[same + 1] | (lasts - ends <= 3)).tolist():
        good[place] = not _HEAD.match(text[ends[place] : lasts[place]])
    if whole:
        spans = np.array(whole, dtype=np.int64)
        before = np.searchsorted(spans[:, 0], starts, side="right") - 1
        good &= (before < 0) | (starts >= spans[np.maximum(before, 0), 1])
    return starts[good], ends[good]


def short_sentences(text: str, words: Words) -> Iterator[Span]:
    """Find sentences of at most five sound words that end in a full stop, ascending."""
    if not len(words.starts):
        return
    last = words.ends - 1
    stops = [text[place] in ".。" for place in last.tolist()]
    borders = np.concatenate(([0], np.flatnonzero(np.diff(words.parts) > 0) + 1, [len(stops)]))
    at = np.flatnonzero(stops)
    previous = np.concatenate(([0], at[:-1] + 1)) if len(at) else at
    stretch = np.searchsorted(borders, at, side="right") - 1
    begun = np.maximum(previous, borders[stretch]) if len(at) else at
    near = at - begun < MAX_TITLE_WORDS
    for number in np.unique(stretch[near]).tolist():
        low, high = int(borders[number]), int(borders[number + 1])
        yield from _short_in(text, words, low, high)


def _short_in(text: str, words: Words, low: int, high: int) -> Iterator[Span]:
    """Look through words [low, high), a stretch of one line."""
    offset = int(words.starts[low])
    for begin, end in sentence_spans(text[offset : int(words.ends[high - 1])]):
        stripped = text[offset + begin : offset + end].rstrip()
        if not stripped.endswith((".", "。")):
            continue
        start = offset + begin + len(stripped) - len(stripped.lstrip())
        stop = offset + begin + len(stripped)
        first, after = np.searchsorted(words.starts, [start, stop])
        if (
            after - first <= MAX_TITLE_WORDS
            and words.sound[first:after].all()
            and text[max(start - 80, 0) : start].rstrip(" \t")[-1:]
            in ("", "\n", ".", "!", "?", "。")  # no formula's rest
        ):
            yield start, stop
