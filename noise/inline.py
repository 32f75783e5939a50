"""Content of a table's cell, free of notation: text with styles, formulas, breaks; read from and written to three."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .markup import regions

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


# --- reading ----------------------------------------------------------------------------------------------

_LATEX = re.compile(
    r"\\(?P<style>textbf|textit|emph|underline)\s*\{|\\(?:makecell|shortstack|thead)\s*(?:\[[^\]]{0,9}\])?\s*\{"
    r"|\\(?P<name>textbackslash|textasciitilde|textasciicircum)(?:\{\}|(?![A-Za-z])\s?)"
    r"|(?P<break>\\\\(?:\[[^\]]{0,9}\])?|\\newline(?![A-Za-z]))|\\(?P<sign>[&%#_{}$ ])|(?P<tie>~)"
    r"|(?P<raw>\\(?:[A-Za-z]+\*?|.)(?:\s*\{[^{}]*\})*)|(?P<open>\{)|(?P<close>\})",
    re.DOTALL,
)
_LATEX_STYLES: dict[str, Style] = {"textbf": "bold", "textit": "italic", "emph": "italic", "underline": "underline"}
_NAMED = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
_MARKDOWN = re.compile(
    r"\\(?P<sign>[!-/:-@\[-`{-~])|(?P<raw>\\[A-Za-z]+(?:\{[^{}]*\})*)|\*\*?|(?P<break><br\s*/?>)|(?P<open><(?:b|strong|i|em|u)>)"
    r"|(?P<close></(?:b|strong|i|em|u)>)|(?P<entity>&(?:lt|gt|amp|nbsp|quot|#\d{1,7});)",
    re.IGNORECASE,
)
_HTML_TEXT = re.compile(r"\\(?:(?P<sign>[\\$])|[A-Za-z]+(?:\{[^{}]*\})*)")
HTML_STYLES: dict[str, Style] = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
}

_MARKDOWN_STYLES: dict[str, Style] = {"**": "bold", "*": "italic"}


def split_formulas(text: str, styles: tuple[Style, ...], read: Callable[[str], Iterable[Piece]]) -> Iterable[Piece]:
    """Cut formulas out of a text; `read` reads what is between them."""
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


def from_latex(text: str) -> Content:
    """Read a cell of a tabular; groups that only group go, commands without a counterpart stay raw."""
    groups: list[tuple[Style, ...]] = [()]  # the styles in force in each open group

    def read(part: str) -> Iterable[Piece]:
        place = 0
        for match in _LATEX.finditer(part):
            styles = groups[-1]
            if match.start() > place:
                yield Piece("text", part[place : match.start()], styles)
            place = match.end()
            if match["style"] or match["open"] or (match.lastgroup is None):
                style = _LATEX_STYLES.get(match["style"] or "")
                groups.append((*styles, style) if style and style not in styles else styles)
            elif match["close"]:
                if len(groups) > 1:
                    groups.pop()
            elif match["break"]:
                yield Piece("break")
            elif match["raw"]:
                yield Piece("raw", match[0], styles)
            else:
                yield Piece("text", match["sign"] or _NAMED.get(match["name"] or "", " "), styles)
        yield Piece("text", part[place:], groups[-1])

    return joined(split_formulas(text, (), read))


def from_markdown(text: str) -> Content:
    """Read a cell of a Markdown table; a mark of emphasis without a partner is text."""
    stack: list[Style] = []
    seen = Counter(match[0] for match in _MARKDOWN.finditer(text))
    pairs = {sign: seen[sign] // 2 for sign in ("**", "*")}  # how many of each may open a style

    def mark(sign: str, style: Style, closing: bool) -> bool:
        """Open or close a style; False where the sign is text."""
        if style in stack:
            stack.remove(style)
        elif closing or not pairs.get(sign, 1):
            return False
        else:
            pairs[sign] = pairs.get(sign, 2) - 1
            stack.append(style)
        return True

    def read(part: str) -> Iterable[Piece]:
        place = 0
        for match in _MARKDOWN.finditer(part):
            yield Piece("text", part[place : match.start()], tuple(stack))
            place = match.end()
            if match["break"]:
                yield Piece("break")
            elif match["raw"]:
                yield Piece("raw", match[0], tuple(stack))
            elif match["sign"] or match["entity"]:
                yield Piece("text", match["sign"] or html.unescape(match[0]), tuple(stack))
            else:
                style = _MARKDOWN_STYLES.get(match[0]) or HTML_STYLES[match[0].strip("</>").lower()]
                if not mark(match[0], style, bool(match["close"])):
                    yield Piece("text", match[0], tuple(stack))
        yield Piece("text", part[place:], tuple(stack))

    return joined(split_formulas(text, (), read))


def from_html_text(text: str, styles: tuple[Style, ...]) -> Iterable[Piece]:
    """Read the characters between two tags; the page is Mathpix-Markdown, where `\\$` is a dollar."""

    def read(part: str) -> Iterable[Piece]:
        place = 0
        for match in _HTML_TEXT.finditer(part):
            yield Piece("text", part[place : match.start()], styles)
            yield Piece("text", match["sign"], styles) if match["sign"] else Piece("raw", match[0], styles)
            place = match.end()
        yield Piece("text", part[place:], styles)

    return split_formulas(text, styles, read)


# --- writing ----------------------------------------------------------------------------------------------

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
