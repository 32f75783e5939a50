"""Readers of a cell's content: LaTeX, Markdown, and the text between HTML's tags."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable

from .inline import Content, Piece, Style, joined
from .markup import regions

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
