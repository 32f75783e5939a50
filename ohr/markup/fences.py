"""Fenced blocks of code in Markdown."""

import re

from ohr.contracts import Span

_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)([^`\n]*)$", re.MULTILINE)


def code_blocks(text: str, start: int, end: int) -> list[Span]:
    """Return the closed blocks between two places of a text, ascending, with their fences."""
    blocks: list[Span] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text, start, end):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            blocks.append((opened.start(), fence.end()))
            opened = None
    return blocks
