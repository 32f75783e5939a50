"""Bare percent signs: a word's end in Mathpix-Markdown, but what begins a comment to LaTeX."""

import re

import numpy as np

from .units import Flags, Places

_BARE = re.compile(r"(?<!\\)(?:\\\\)*%")
_LINE = re.compile(r"\n")


def commented(text: str, starts: Places, ends: Places) -> Flags:
    """Tell which spans have a bare percent sign in them, or before them on the line where they start.

    No rule may move a line's end, or a formula's delimiter, in such a span: what LaTeX passed over would count, or what
    counted would be passed over.
    """
    signs = np.array([match.end() for match in _BARE.finditer(text)] if "%" in text else [], dtype=np.int64)
    if not len(signs):
        return np.zeros(len(starts), dtype=bool)
    lines = np.array([0, *(match.end() for match in _LINE.finditer(text))], dtype=np.int64)
    latest = np.append(-1, signs)[np.searchsorted(signs, ends, side="right")]
    flags: Flags = latest > lines[np.searchsorted(lines, starts, side="right") - 1]
    return flags
