"""Units of plain text: runs of words, gaps between words, short sentences; and comments."""

import re
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from ohr.contracts import Span
from ohr.text.sentences import sentence_spans

from .page_words import CHINESE_STOP, Words, flags
from .units import Flags, Places, painted


def comments(text: str) -> Places:
    """Find what would be comments: (k, 2), from behind a bare percent sign to the end of its line; ascending."""
    found = []
    sign = text.find("%")
    while sign >= 0:
        first = sign
        while first and text[first - 1] == "\\":
            first -= 1
        end = sign + 1
        if (sign - first) % 2 == 0:  # backslashes in pairs are line breaks, and leave the sign bare
            end = text.find("\n", sign)
            end = len(text) if end < 0 else end
            found.append((sign + 1, end))
        sign = text.find("%", end)
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def commented(found: Places, starts: Places, ends: Places) -> Flags:
    """Flag the spans that reach into, or to, one of the comments.

    No rule may move a line's end, or a formula's delimiter, in such a span: text that LaTeX ignored would count,
    or text that counted would be ignored.
    """
    if not len(found):
        return np.zeros(len(starts), dtype=bool)
    latest = found[:, 0].searchsorted(ends, side="right") - 1
    flags: Flags = (latest >= 0) & (found[latest, 1] >= starts)
    return flags


MAX_TITLE_WORDS = 5

_STOPS = bytes(chr(code) == "." or code == CHINESE_STOP for code in range(256))
_LETTER = re.compile(r"[^\W\d_]")
_NAME = re.compile(r"[^\W\d_]{2}")


def runs(words: Words, lengths: Places) -> Places:
    """Divide sound words into runs of 2 to 5; gives (n, 2) starts and ends.

    `lengths` are drawn, and a run ends where a stretch does; what is left over, a single word, is no run.
    """
    sound = words.sound.nonzero()[0]
    cut = np.zeros(len(sound) + 1, dtype=bool)
    cuts = lengths.cumsum()
    cut[cuts[: cuts.searchsorted(len(sound))]] = True
    cut[0] = cut[-1] = True
    if len(sound):
        parts = words.parts[sound]
        cut[1:-1] |= (sound[1:] - sound[:-1] > 1) | (parts[1:] != parts[:-1])
    bounds = cut.nonzero()[0]
    long = (bounds[1:] - bounds[:-1] >= 2).nonzero()[0]
    return np.stack((words.starts[sound[bounds[long]]], words.ends[sound[bounds[long + 1] - 1]]), axis=1)


def gaps(words: Words, whole: Places, comments: Places) -> Places:
    """Find the gaps between the words of a stretch; gives (n, 2) starts and ends.

    No line is broken behind a mark that begins it, within a table's row or a comment, or before a word that is bound to
    the one before it.

    Args:
        words: the words of a page.
        whole: (k, 2) spans that are not broken.
        comments: (k, 2) spans, as `comments.comments` gives them.
    """
    same = (words.parts[1:] == words.parts[:-1]).nonzero()[0]
    starts, ends = words.ends[same], words.starts[same + 1]
    bad = words.bound[same + 1] | words.marks[starts] | words.rows[starts] | commented(comments, starts, ends)
    if len(whole):
        bad |= painted(whole.tolist(), len(words.signs))[starts]
    good = ~bad
    return np.stack((starts[good], ends[good]), axis=1)


# --- short sentences --------------------------------------------------------------------------------------


def short_sentences(text: str, words: Words, comments: Places) -> Places:
    """Find sentences of at most five sound words that end in a full stop; gives (n, 2) starts and ends, ascending.

    A sentence behind a list's number has that number as its first word. One before a word that is bound to it is none.
    """
    found = np.array(list(_short_sentences(text, words)), dtype=np.int64).reshape(-1, 2)
    return found[~commented(comments, found[:, 0], found[:, 1])]


def _short_sentences(text: str, words: Words) -> Iterator[Span]:
    marks, sound = words.marks.tobytes(), words.sound.tobytes()
    for low, stop, end, past in _candidates(text, words):
        starts = words.starts[low : stop + 1].tolist()
        first = bisect_left(starts, starts[0] + _sentence(text[starts[0] : past], end - starts[0]))
        while first < len(starts) and marks[starts[first]]:  # the sentence proper comes behind the line's marks
            first += 1
        if 0 in sound[low + first : stop + 1] or not _is_title(
            text[starts[first] : end] if first < len(starts) else ""
        ):
            continue
        start = starts[first]
        if start and marks[start - 1] and text[words.ends[low + first - 1] - 2].isalnum():  # a number goes with it
            first -= 1
            start = int(words.starts[low + first])
        if len(starts) - first <= MAX_TITLE_WORDS and not (start and marks[start - 1]) and not _continues(text, start):
            yield start, end


def _candidates(text: str, words: Words) -> Iterator[tuple[int, int, int, int]]:
    """Find sound words that end in a full stop, with few words since the one before that does, if it is in their line.

    Each comes behind the first word from which its sentence has to be looked for, one more than a title may have, and
    before its end and the place to which it is looked for: the text after a full stop decides if it ends a sentence.
    """
    stops = flags(words.signs[words.ends - 1].tobytes(), _STOPS).nonzero()[0]
    parts = words.parts[stops]
    first = words.parts.searchsorted(parts)  # word of its stretch
    begun = np.maximum(np.append(0, stops[:-1] + 1), first)
    following = np.minimum(stops + 1, len(words.parts) - 1)
    last = (words.parts[following] != parts) | (following == stops)
    held = words.bound[following] & ~last  # a title would end the line
    near = (words.sound[stops] & (stops - begun < MAX_TITLE_WORDS) & ~held).nonzero()[0]
    stops = stops[near]
    lows = np.maximum(first[near], stops - MAX_TITLE_WORDS)
    ends = words.ends[stops]
    pasts = np.where(last[near], ends, words.starts[following[near]] + 1)
    for low, stop, end, past in zip(lows.tolist(), stops.tolist(), ends.tolist(), pasts.tolist(), strict=True):
        if text[end - 2] not in ". ":  # no dots that lead to a page's number
            yield low, stop, end, past


def _continues(text: str, start: int) -> bool:
    """Report whether a sentence has begun before this place, as it has behind a formula."""
    return text[max(start - 80, 0) : start].rstrip(" \t")[-1:] not in ("", "\n", ".", "!", "?", "。")


def _sentence(window: str, end: int) -> int:
    """Return where in a window the sentence begins that ends at `end`; `end` where none does."""
    for begin, past in sentence_spans(window):
        if past >= end:
            sentence = window[begin:past]
            return past - len(sentence.lstrip()) if begin + len(sentence.rstrip()) == end else end
    return end


def _is_title(sentence: str) -> bool:
    """Report whether it is a short sentence, not a number or the rest of a line or of brackets before a full stop."""
    letter = _LETTER.search(sentence)
    return (
        letter is not None
        and not letter[0].islower()
        and _NAME.search(sentence) is not None
        and sentence.count("(") == sentence.count(")")
    )
