"""Whether a text has a part that differs little from another text, faster than by comparing every part."""

from functools import lru_cache

from rapidfuzz.distance import Levenshtein


def most_edits(length: int, tenths: int, *, inclusive: bool) -> int:
    """Return the most edits that are less than (or at most) a number of tenths of a length; -1 if none is."""
    return (tenths * length - (not inclusive)) // 10


@lru_cache(maxsize=1 << 16)
def has_similar_part(text: str, pattern: str, most: int) -> bool:
    """Report whether a part of `text` as long as `pattern` differs from it by at most `most` edits.

    One character further, the distance changes by two at most (one is dropped, one is added), so that what is far
    away is skipped. Cached, since pages repeat lines, those of engines that loop above all.
    """
    length = len(pattern)
    if most < 1:
        return most == 0 and pattern in text
    place, last = 0, len(text) - length
    while place <= last:
        excess = Levenshtein.distance(pattern, text[place : place + length]) - most
        if excess <= 0:
            return True
        place += (excess + 1) // 2
    return False
