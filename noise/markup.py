"""Regions of Mathpix-Markdown, found tolerantly: broken markup makes regions, never an error."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "inline_formula", "block_formula", "table", "chart"]

_MARKUP = re.compile(
    r"(?P<chart><chart>.*?</chart>)"
    r"|(?P<table>\\begin\{(?P<t>table\*?|tabular\*?|array)\}.*?\\end\{(?P=t)\}|<table\b.*?</table>"
    r"|(?:^[ \t]*\|.*\|[ \t]*(?:\n|\Z)){2,})"
    r"|(?P<block_formula>\$\$.*?\$\$|\\\[.*?\\\]|\\begin\{(?P<e>equation\*?|align\*?|gather\*?)\}.*?\\end\{(?P=e)\})"
    r"|(?P<inline_formula>\\\(.*?\\\)|(?<!\\)\$(?=\S)(?:[^$\\\n]|\\.|\n(?!\n))+?(?<![\\\s])\$(?!\d))",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Region:
    """Characters [start, end) of one kind."""

    kind: Kind
    start: int
    end: int


def regions(text: str) -> list[Region]:
    """Cut a page into regions that together cover all of it, in order."""
    found: list[Region] = []
    place = 0
    for match in _MARKUP.finditer(text):
        if match.start() > place:
            found.append(Region("text", place, match.start()))
        kinds: tuple[Kind, ...] = ("chart", "table", "block_formula", "inline_formula")
        kind = next(kind for kind in kinds if match[kind] is not None)
        found.append(Region(kind, match.start(), match.end()))
        place = match.end()
    if place < len(text):
        found.append(Region("text", place, len(text)))
    return found
