"""Places of a text within another one where it has a few differences."""

from collections.abc import Sequence

import numpy as np

from ohr.extras import load

_MOST_DIFFS_OF_SHORT_TEXTS = 6
"""Texts with fewer than three characters a piece take 0.1 s a page with so many differences, and 20 s with 12."""

_MOST_WORK = 10_000_000
"""Steps of lengthening matches, of which 1.5 million took a second: a page of one character may need hours."""


def comes_before(before: str, after: str, page: str, max_diffs: int) -> tuple[bool, str]:
    """Return whether a text begins before another one somewhere on a page, and if not, why.

    The places are those that `fuzzysearch` finds: of near matches that overlap, the one with the fewest differences,
    and of these the longest. Where that would take minutes, as in the published code, all near matches count.
    """
    starts = []
    for text in (before, after):
        if _takes_minutes(text, page, max_diffs):
            begins = _starts(text, page, max_diffs)
        else:
            matches = load("fuzzysearch", "parse_scores").find_near_matches(text, page, max_l_dist=max_diffs)
            begins = [match.start for match in matches]
        if not begins:
            return False, f"{text[:40]!r} is not on the page with at most {max_diffs} differences"
        starts.append(begins)
    if min(starts[0]) < max(starts[1]):
        return True, ""
    return False, f"{before[:40]!r} is nowhere before {after[:40]!r}"


def _takes_minutes(text: str, page: str, max_diffs: int) -> bool:
    size = len(text) // (max_diffs + 1)
    if max_diffs == 0:
        return False
    if size < 3:  # fuzzysearch then follows every way to skip characters
        return max_diffs > _MOST_DIFFS_OF_SHORT_TEXTS
    # it looks for each piece of the text, and lengthens what it finds
    found = sum(_most_occurrences(text[at : at + size], page) for at in range(0, len(text) - size + 1, size))
    return found * len(text) * (2 * max_diffs + 1) > _MOST_WORK


def _most_occurrences(piece: str, page: str) -> float:
    """Return at least how often a piece is on a page, also where it overlaps with itself."""
    overlap = next((size for size in range(len(piece) - 1, 0, -1) if piece.startswith(piece[-size:])), 0)
    return page.count(piece) * len(piece) / (len(piece) - overlap)


def _starts(text: str, page: str, max_diffs: int) -> Sequence[int]:
    """Return where near matches of a text begin (Sellers, 1980), read backwards, so that they end in beginnings."""
    letters = np.array([ord(letter) for letter in page[::-1]])
    columns = np.arange(len(page) + 1)
    row = np.zeros(len(page) + 1, dtype=np.intp)
    for deleted, letter in enumerate(text[::-1], start=1):
        best = np.minimum(row[:-1] + (letters != ord(letter)), row[1:] + 1)
        row = np.minimum.accumulate(np.concatenate(([deleted], best)) - columns) + columns
    return (len(page) - np.flatnonzero(row <= max_diffs)).tolist()
