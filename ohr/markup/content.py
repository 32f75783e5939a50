"""Content of a table's cell in no particular notation: text with styles, formulas and line breaks."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from .regions import regions

Style = Literal["bold", "italic", "underline"]
"""Style of a piece of text."""
Marks = Mapping[Style, tuple[str, str]]
"""The marks that begin and end each style in a notation."""

TAGS: Marks = {"bold": ("<b>", "</b>"), "italic": ("<i>", "</i>"), "underline": ("<u>", "</u>")}
"""Opening and closing tag of each style in HTML."""
STYLE_OF_TAG: Mapping[str, Style] = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
}
"""Style of each tag of HTML."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cell.

    Args:
        kind: `text` is plain characters; `formula` includes its delimiters; `raw` is a LaTeX command without a
            counterpart in other notations, kept unchanged; `break` is a line break and has no text.
        styles: from the outermost in.
    """

    kind: Literal["text", "formula", "raw", "break"]
    text: str = ""
    styles: tuple[Style, ...] = ()


Content = tuple[Piece, ...]
"""Text of a cell or line as pieces, in order."""


def joined(pieces: Iterable[Piece]) -> Content:
    """Join adjacent text of one style, collapse white space, and strip it beside breaks and at both ends."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.kind == "break":
            lines.append([])
        else:
            lines[-1].append(piece)
    written = [_line(line) for line in lines]
    while written and not written[-1]:
        written.pop()
    found: list[Piece] = []
    for line in written:
        found += [Piece("break")] * bool(found) + line
    return tuple(found)


def _line(pieces: Iterable[Piece]) -> list[Piece]:
    tidy: list[Piece] = []
    for piece in pieces:
        last = tidy[-1] if tidy else Piece("text", " ")
        text = re.sub(r"\s+", " ", piece.text) if piece.kind == "text" else piece.text
        if piece.kind == "text" and last.text.endswith(" "):
            text = text[1:] if text.startswith(" ") else text
        if text:
            if last.kind == piece.kind == "formula":  # `$a$$b$` would mean something else
                tidy.append(Piece("text", " "))
            tidy.append(Piece(piece.kind, text, piece.styles))
    if tidy and tidy[-1].kind == "text":
        last = tidy.pop()
        tidy += [Piece("text", text, last.styles)] if (text := last.text.rstrip()) else []
    found: list[Piece] = []
    for (kind, styles), group in groupby(tidy, key=lambda piece: (piece.kind, piece.styles)):
        pieces = list(group)
        found += [Piece("text", "".join(one.text for one in pieces), styles)] if kind == "text" else pieces
    return found


def split_formulas(text: str, styles: tuple[Style, ...], read: Callable[[str], Iterable[Piece]]) -> Iterable[Piece]:
    """Yield the formulas of a text as pieces, and what `read` makes of the text between them."""
    if "$" not in text and "\\" not in text:
        yield from read(text)
        return
    place = 0
    for region in regions(text):
        if region.kind in ("inline_formula", "block_formula"):
            yield from read(text[place : region.start])
            yield Piece("formula", re.sub(r"\s*\n\s*", " ", text[region.start : region.end]), styles)
            place = region.end
    yield from read(text[place:])


def write(
    content: Sequence[Piece], marks: Marks, text: Callable[[str], str], verbatim: Callable[[str], str], line_break: str
) -> str:
    """Write a cell with the marks and the line break of a notation.

    Args:
        text: escapes plain characters.
        verbatim: escapes formulas and raw commands.
    """
    parts: list[str] = []
    on: tuple[Style, ...] = ()
    for piece in (*content, Piece("text")):
        kept = 0
        while kept < min(len(on), len(piece.styles)) and on[kept] == piece.styles[kept]:
            kept += 1
        parts += [marks[style][1] for style in reversed(on[kept:])]
        parts += [marks[style][0] for style in piece.styles[kept:]]
        on = piece.styles
        if piece.kind == "break":
            parts.append(line_break)
        else:
            parts.append(text(piece.text) if piece.kind == "text" else verbatim(piece.text))
    return "".join(parts)
