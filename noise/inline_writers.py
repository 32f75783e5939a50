"""Writers of a cell's content: LaTeX, Markdown, HTML."""

import html
import re
from collections.abc import Callable, Sequence

from .inline import Content, Piece, Style

_ESCAPES = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
)
_BARS = re.compile(r"(\\\|)|(?<!\\)\|")

_TAGS: dict[Style, tuple[str, str]] = {"bold": ("<b>", "</b>"), "italic": ("<i>", "</i>"), "underline": ("<u>", "</u>")}


def to_latex(content: Content) -> str:
    """Write a cell of a tabular."""
    marks: dict[Style, tuple[str, str]] = {
        "bold": ("\\textbf{", "}"),
        "italic": ("\\textit{", "}"),
        "underline": ("\\underline{", "}"),
    }
    written = _written(content, marks, lambda text: text.translate(_ESCAPES), lambda formula: formula, "\\\\ ")
    return f"\\makecell{{{written}}}" if any(piece.kind == "break" for piece in content) else written


def to_markdown(content: Content) -> str:
    """Write a cell of a Markdown table; a bar in a formula becomes `\\vert`, for it would part cells."""
    styled = [piece for piece in content if piece.styles]
    # asterisks beside asterisks or white space mean something else
    clear = len({piece.styles for piece in styled}) == 1 and all(
        len(piece.styles) == 1 and piece.text.strip() == piece.text for piece in styled
    )
    marks = {**_TAGS, "bold": ("**", "**"), "italic": ("*", "*")} if clear else _TAGS

    def escaped(text: str) -> str:
        return re.sub(r"([\\|$*_<`])", r"\\\1", re.sub(r"&(?=[#\w]+;)", "&amp;", text))

    def safe(formula: str) -> str:
        return _BARS.sub(lambda match: "\\Vert " if match[1] else "\\vert ", formula)

    return _written(content, marks, escaped, safe, "<br>")


def to_html(content: Content) -> str:
    """Write the inside of a cell of an HTML table."""

    def escaped(text: str) -> str:
        return html.escape(re.sub(r"([\\$])", r"\\\1", text), quote=False)

    return _written(content, _TAGS, escaped, lambda formula: html.escape(formula, quote=False), "<br>")


def _written(
    content: Sequence[Piece],
    marks: dict[Style, tuple[str, str]],
    text: Callable[[str], str],
    verbatim: Callable[[str], str],
    line_break: str,
) -> str:
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
