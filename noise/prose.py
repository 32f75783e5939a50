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

from .comments import commented
from .markup import Region
from .units import Flags, Places

MAX_TITLE_WORDS = 5

_FRAGILE = "\\{}$&%<>#*_|^~`"
"""Signs that mean something to LaTeX or Markdown: a word with one is left alone, for wrapping it could break it."""

_ESCAPED = "&%$#_"
"""Signs that a backslash makes harmless."""

_MARK = re.compile(r"[-+>]$|\d+[.)]$|\(?[A-Za-z0-9][.)]$")
_CLOSING = re.compile(r"[^\w\s]+")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page's plain text.

    Args:
        codes: (m,) code point of each character of the page.
        starts: (n,) where each word begins.
        ends: (n,) where it ends.
        parts: (n,) number of the stretch of a line that it stands in; what stands between two stretches is a line
            break or no plain text.
        sound: (n,) whether it may be wrapped: no heading, no list's mark, no markup of its own.
    """

    codes: NDArray[np.uint32]
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
    change = in_word[1:] - in_word[:-1]
    starts, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    if len(starts) and codes.max() >= _FIRST_HAN:
        starts, ends = _with_chinese(text, starts, ends)
    breaks = np.cumsum((codes == _NEWLINE) | ~plain)
    parts = breaks[starts] if len(starts) else starts
    fragile = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(_fragile(codes), out=fragile[1:])
    sound = (fragile[ends] == fragile[starts]) & ~_of_markdown(text, codes, starts, ends)
    return Words(codes, starts, ends, parts, sound)


_NEWLINE, _HASH, _FULL_STOP, _BACKSLASH, _CHINESE_STOP = map(ord, "\n#.\\。")
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
    marked = np.zeros(len(starts), dtype=bool)
    if not len(starts):
        return marked
    lines = np.cumsum(codes == _NEWLINE)[starts]
    first = np.ones(len(starts), dtype=bool)
    first[1:] = lines[1:] != lines[:-1]
    heads = np.flatnonzero(first)
    may_be = (ends[heads] - starts[heads] <= 4) & _signs(".)-+>")[np.minimum(codes[ends[heads] - 1], 128)]
    for place in heads[may_be].tolist():
        marked[place] = bool(_MARK.match(text[starts[place] : ends[place]]))
    headings = codes[starts[heads]] == _HASH
    return marked | headings[np.cumsum(first) - 1] if headings.any() else marked


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


def runs(words: Words, lengths: Places) -> Places:
    """Divide sound words into runs of 2 to 5; gives (n, 2) starts and ends.

    `lengths` are drawn, and a run ends where a stretch does; what is left over, a single word, is no run.
    """
    sound = np.flatnonzero(words.sound)
    cut = np.zeros(len(sound) + 1, dtype=bool)
    cuts = np.cumsum(lengths)
    cut[cuts[cuts < len(sound)]] = True
    cut[0] = cut[-1] = True
    if len(sound):
        parts = words.parts[sound]
        cut[1:-1] |= (sound[1:] - sound[:-1] > 1) | (parts[1:] != parts[:-1])
    bounds = np.flatnonzero(cut)
    long = np.flatnonzero(bounds[1:] - bounds[:-1] >= 2)
    return np.stack((words.starts[sound[bounds[long]]], words.ends[sound[bounds[long + 1] - 1]]), axis=1)


def gaps(text: str, words: Words, whole: Places) -> Places:
    """Find the gaps between the words of a stretch; gives (n, 2) starts and ends.

    Args:
        text: the page.
        words: its words.
        whole: (k, 2) spans, ascending, that are not broken.
    """
    same = (words.parts[1:] == words.parts[:-1]).nonzero()[0]
    starts, ends, lasts = words.ends[same], words.starts[same + 1], words.ends[same + 1]
    # what begins a word and would mean more at a line's beginning; a number does with a mark behind it
    heads = np.minimum(words.codes[ends], 128)
    numbers = _signs("0123456789")[heads] & (lasts - ends <= 4)
    numbers &= _signs(".)")[np.minimum(words.codes[lasts - 1], 128)]
    good = ~(_signs("-+>#|=*~:`")[heads] | numbers | commented(text, starts, ends))
    if len(whole):
        before = np.searchsorted(whole[:, 0], starts, side="right") - 1
        good &= (before < 0) | (starts >= whole[np.maximum(before, 0), 1])
    return np.stack((starts[good], ends[good]), axis=1)


def short_sentences(text: str, words: Words) -> Places:
    """Find sentences of at most five sound words that end in a full stop; gives (n, 2) starts and ends, ascending."""
    found = np.array(list(_short_sentences(text, words)), dtype=np.int64).reshape(-1, 2)
    return found[~commented(text, found[:, 0], found[:, 1])] if len(found) else found


def _short_sentences(text: str, words: Words) -> Iterator[Span]:
    last = words.codes[words.ends - 1]
    at = np.flatnonzero((last == _FULL_STOP) | (last == _CHINESE_STOP))
    if not len(at):
        return
    borders = np.flatnonzero(words.parts[1:] != words.parts[:-1]) + 1
    stretch = np.searchsorted(borders, at, side="right")
    firsts, pasts = np.append(0, borders), np.append(borders, len(last))
    begun = np.maximum(np.append(0, at[:-1] + 1), firsts[stretch])
    for number in dict.fromkeys(stretch[at - begun < MAX_TITLE_WORDS].tolist()):
        yield from _short_in(text, words, int(firsts[number]), int(pasts[number]))


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
