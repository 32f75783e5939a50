"""Units of plain text: runs of words, gaps between words, and short sentences."""

import re
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from ohr.contracts import Span
from ohr.sentences import sentence_spans

from .comments import commented
from .units import Places, painted
from .words import CHINESE_STOP, Words, flags

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
    for stop, low in _candidates(text, words):
        starts = words.starts[low : stop + 1].tolist()
        start, end = _sentence(text, words, starts[0], stop)
        begin = low + bisect_left(starts, start)
        while begin <= stop and words.marks[words.starts[begin]]:  # the sentence proper comes behind the line's marks
            begin += 1
        if begin > stop or not (words.sound[begin : stop + 1].all() and _is_title(text[words.starts[begin] : end])):
            continue
        start = int(words.starts[begin])
        if start and words.marks[start - 1] and text[words.ends[begin - 1] - 2].isalnum():  # a number goes with it
            begin -= 1
            start = int(words.starts[begin])
        if stop - begin < MAX_TITLE_WORDS and not (start and words.marks[start - 1]) and not _goes_on(text, start):
            yield start, end


def _candidates(text: str, words: Words) -> Iterator[tuple[int, int]]:
    """Give sound words that end in a full stop, with few words since the one before that does, if it is in their line.

    Each comes with the first word from which a sentence has to be looked for: one more than a title may have.
    """
    stops = flags(words.signs[words.ends - 1].tobytes(), _STOPS).nonzero()[0]
    borders = (words.parts[1:] != words.parts[:-1]).nonzero()[0] + 1
    first = np.append(0, borders)[borders.searchsorted(stops, side="right")]  # word of its stretch
    begun = np.maximum(np.append(0, stops[:-1] + 1), first)
    held = np.append((words.parts[1:] == words.parts[:-1]) & words.bound[1:], [False])  # a title would end the line
    near = words.sound[stops] & (stops - begun < MAX_TITLE_WORDS) & ~held[stops]
    for stop, head in zip(stops[near].tolist(), first[near].tolist(), strict=True):
        if text[words.ends[stop] - 2] not in ". ":  # no dots that lead to a page's number
            yield stop, max(head, stop - MAX_TITLE_WORDS)


def _goes_on(text: str, start: int) -> bool:
    """Tell whether a sentence has begun before this place, as it has behind a formula."""
    return text[max(start - 80, 0) : start].rstrip(" \t")[-1:] not in ("", "\n", ".", "!", "?", "。")


def _sentence(text: str, words: Words, offset: int, stop: int) -> Span:
    """Give the sentence that ends with the word `stop`, or an empty span where none does.

    `offset` is the place in the text from which it is looked for, where a word of the same stretch starts.
    """
    end = int(words.ends[stop])
    last = stop + 1 == len(words.starts) or words.parts[stop + 1] != words.parts[stop]
    window = text[offset : end if last else int(words.starts[stop + 1]) + 1]
    for begin, past in sentence_spans(window):
        if offset + past >= end:
            sentence = window[begin:past]
            if offset + begin + len(sentence.rstrip()) == end:
                return offset + past - len(sentence.lstrip()), end
            break
    return end, end


def _is_title(sentence: str) -> bool:
    """Tell a short sentence from what a full stop ends too: the rest of a line, or of brackets, or a number."""
    letter = _LETTER.search(sentence)
    return (
        letter is not None
        and not letter[0].islower()
        and _NAME.search(sentence) is not None
        and sentence.count("(") == sentence.count(")")
    )
