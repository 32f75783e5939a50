"""Bare percent signs: a word's end in Mathpix-Markdown, but what begins a comment to LaTeX."""

import numpy as np

from .units import Flags, Places


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
