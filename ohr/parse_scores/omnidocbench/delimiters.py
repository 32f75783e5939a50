"""Text between delimiters, the spans that lazy regular expressions have, but in linear time on any text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

Delimiters = tuple[str, str]
"""The opening and the closing delimiter of a formula."""


class Formula(NamedTuple):
    """Characters [start, end) of a text, with their delimiters; `body` is what these enclose."""

    start: int
    end: int
    opener: str
    body: str


def spans(text: str, *delimiters: str, in_line: bool = False) -> Iterator[tuple[int, ...]]:
    r"""Yield where the delimiters of each span begin, and where the span ends.

    `spans(text, "![", "](", ")", in_line=True)` is `re.finditer(r"!\[.*?\]\(.*?\)", text)`, which takes cubic time.

    Args:
        text: Any text.
        delimiters: Two or more, none empty.
        in_line: All delimiters of a span are in one line.
    """
    place = 0
    while (start := text.find(delimiters[0], place)) >= 0:
        line_end = text.find("\n", start) if in_line else -1
        limit = len(text) if line_end < 0 else line_end
        places = [start]
        for before, delimiter in pairwise(delimiters):
            places.append(text.find(delimiter, places[-1] + len(before), limit))
            if places[-1] < 0:
                break
        if places[-1] >= 0:
            place = places[-1] + len(delimiters[-1])
            yield *places, place
        elif limit < len(text):
            place = limit  # what has no end here has none later in the line
        else:
            return


def formulas(text: str, delimiters: Sequence[Delimiters]) -> Iterator[Formula]:
    r"""Yield formulas from left to right; of several delimiters at one place, the first that is closed.

    Equal to `re.finditer` of alternatives such as `\$\$(.*?)\$\$|\$(.*?)\$` where `.` is any character: a `$$` that
    is never closed is therefore an empty formula between two single dollars.
    """
    opening = re.compile("|".join(re.escape(opener) for opener, _ in delimiters))
    unclosed: set[str] = set()  # closers that do not occur any more
    place = 0
    while match := opening.search(text, place):
        place = match.start()
        for opener, closer in delimiters:
            if closer in unclosed or not text.startswith(opener, place):
                continue
            if (end := text.find(closer, place + len(opener))) < 0:
                unclosed.add(closer)
                continue
            yield Formula(place, end + len(closer), opener, text[place + len(opener) : end])
            place = end + len(closer)
            break
        else:
            place += 1


def without(text: str, *delimiters: str, in_line: bool = False) -> str:
    """Return a text without the spans between delimiters, and without these."""
    return replaced(text, ((places[0], places[-1], "") for places in spans(text, *delimiters, in_line=in_line)))


def replaced(text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with other characters in place of [start, end), given from left to right without overlap."""
    parts, place = [], 0
    for start, end, replacement in replacements:
        parts += [text[place:start], replacement]
        place = end
    return "".join(parts) + text[place:]


def blanked(text: str, spans_to_blank: Iterable[tuple[int, int]]) -> str:
    """Return a text of the same length with spaces in place of spans, given from left to right."""
    parts, place = [], 0
    for start, end in spans_to_blank:
        parts += [text[place:start], " " * (end - max(start, place))]
        place = max(place, end)
    return "".join(parts) + text[place:]


def unwrapped(text: str, command: str, *, in_line: bool) -> str:
    r"""Return a text with the argument in place of each command, up to the first `}`.

    Args:
        text: Any text.
        command: A regular expression of the command with its brace, such as `\\title\{`.
        in_line: The argument ends in the line where it begins, and its spaces stay; otherwise it is stripped.
    """
    parts, place = [], 0
    for opening in re.finditer(command, text):
        if opening.start() < place:
            continue
        if (end := text.find("}", opening.end())) < 0:
            break
        if in_line and text.find("\n", opening.end(), end) >= 0:
            continue
        argument = text[opening.end() : end]
        parts += [text[place : opening.start()], argument if in_line else argument.strip()]
        place = end + 1
    return "".join(parts) + text[place:]
