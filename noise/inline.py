"""Content of a table's cell, free of notation: text with styles, formulas, breaks."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Style = Literal["bold", "italic", "underline"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cell.

    Args:
        kind: `text` is plain characters; `formula` has its delimiters; `raw` is a LaTeX command that has no
            counterpart and is kept as it is; `break` is a line's end and has no text.
        styles: from the outermost in.
    """

    kind: Literal["text", "formula", "raw", "break"]
    text: str = ""
    styles: tuple[Style, ...] = ()


Content = tuple[Piece, ...]


def joined(pieces: Iterable[Piece]) -> Content:
    """Join neighbouring text of one style, collapse white space, and strip it beside breaks and at the ends."""
    found: list[Piece] = []
    for piece in pieces:
        text = re.sub(r"\s+", " ", piece.text) if piece.kind == "text" else piece.text
        last = found[-1] if found else Piece("break")
        if piece.kind == "text" and (last.kind == "break" or last.text.endswith(" ")):
            text = text.lstrip(" ")
        if piece.kind == "break":
            _strip_end(found)
            if found:
                found.append(Piece("break"))
        elif last.kind == piece.kind == "text" and last.styles == piece.styles:
            found[-1] = Piece("text", last.text + text, piece.styles)
        elif text:
            if last.kind == piece.kind == "formula":  # `$a$$b$` would be something else
                found.append(Piece("text", " "))
            found.append(Piece(piece.kind, text, piece.styles))
    while _strip_end(found):
        found.pop()
    return tuple(found)


def _strip_end(found: list[Piece]) -> bool:
    """Strip white space at the end; True if a break is last then."""
    while found and found[-1].kind == "text":
        last = found.pop()
        if text := last.text.rstrip():
            found.append(Piece("text", text, last.styles))
            break
    return bool(found) and found[-1].kind == "break"
