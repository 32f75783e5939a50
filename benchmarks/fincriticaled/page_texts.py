"""Plain texts of HTML pages: those that the published code compares, and one that keeps words apart as they are seen.

Source: https://github.com/The-FinAI/FinCriticalED, commit b291e71, `evaluation.py` and the judge's notebook.
"""

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Any, cast

from ohr.extras import load, require

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import NavigableString

_UNSEEN = ("script", "style", "noscript", "template", "iframe")
BREAKS = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "div", "dl", "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header",
        "hr", "html", "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "select", "table", "tbody",
        "td", "textarea", "tfoot", "th", "thead", "title", "tr", "ul",
    )
)  # fmt: skip
"""Elements that start and end a line or a cell. All others are inside a line: their texts touch."""

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
"""Soft hyphens, joiners and spaces without width, which pages of filings contain and no reader sees."""

_TAGS = re.compile(r"(?:</?[A-Za-z][^<>]*>|<!--.*?-->)+", re.DOTALL)
_TAG_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)")
_ENTITY = re.compile(r"&[#\w]{2,32};")
_LONGEST_ENTITY = 32  # characters

_BLANK_LINES = re.compile(r"\n\s*\n+")
_LATEX_BORDER = re.compile(r"\\[()\[\]]")


def parse(html: str, parser: str = "html.parser") -> "BeautifulSoup":
    """Parse HTML without warnings; what `html.parser` rejects is read by lxml."""
    bs4 = load("bs4", "finance")
    require("lxml", "finance")
    with warnings.catch_warnings():
        for category in (bs4.MarkupResemblesLocatorWarning, bs4.XMLParsedAsHTMLWarning):
            warnings.simplefilter("ignore", category)
        try:
            return cast("BeautifulSoup", bs4.BeautifulSoup(html, parser))
        except bs4.ParserRejectedMarkup:  # as of `<![x[`
            return cast("BeautifulSoup", bs4.BeautifulSoup(html, "lxml"))


@lru_cache(maxsize=2)  # a prediction is read in two ways in a row
def _parsed(html: str) -> "BeautifulSoup":
    return parse(html)


def html_to_text(html: str) -> str:
    """Return the text that the lexical metrics compare, on one line."""
    if "<" in html and ">" in html:
        soup = parse(html, "lxml")
        for element in soup(_UNSEEN):
            element.decompose()
        html = soup.get_text(" ", strip=True)
    return " ".join(unescape(html).split())


def strip_html_tags(text: str) -> str:
    """Return the text of a prediction in which the judge and the substring search look for facts.

    LaTeX's formula borders become spaces, its escaped `%` and `$` plain signs; lines are kept.
    """
    plain = _parsed(text).get_text(" ") if "<" in text or "&" in text else text
    return re.sub(" {2,}", " ", _BLANK_LINES.sub("\n", _without_latex(plain))).strip()


def seen_text(html: str) -> str:
    """Return a prediction's text with words apart where a reader sees them apart: at cells and lines, not in them.

    Whitespace is collapsed, and LaTeX is read as by `strip_html_tags`.
    """
    return placed_text(_parsed(html))[0] if "<" in html or "&" in html else " ".join(_shown(html).split())


def spaced(html: str) -> str:
    """Return the same page with a space between tags and words where no reader sees a difference, entities resolved.

    Measures that compare words take `<td>57.9</td>` for the word `td579td`. The texts of `html_to_text` and of
    `seen_text` stay the same, but for gaps that the latter's users ignore: behind a currency sign or an opening
    parenthesis, and before `%` or a closing one.
    """
    return _TAGS.sub(_apart, _ENTITY.sub(_resolved, html))


def _resolved(entity: re.Match[str]) -> str:
    """Return the character of an entity, or the entity where its character is, or would become, part of HTML."""
    character = unescape(entity[0])
    rest = f"&{entity.string[entity.end() : entity.end() + _LONGEST_ENTITY]}"
    is_plain = character not in "<>&" or (character == "&" and unescape(rest)[:2] == rest[:2])
    return character if is_plain else entity[0]


def _apart(tags: re.Match[str]) -> str:
    before, after = tags.string[: tags.start()][-1:], tags.string[tags.end() : tags.end() + 1]
    is_border = any(name.lower() in BREAKS for name in _TAG_NAME.findall(tags[0]))
    if not (is_border or not before.strip() or not after.strip() or before in "$€£¥₹₩(" or after in "%)"):
        return tags[0]
    return f"{' ' if before.strip() else ''}{tags[0]}{' ' if after.strip() else ''}"


def placed_text(soup: "BeautifulSoup") -> tuple[str, dict[int, tuple[int, int]]]:
    """Return the text that a reader sees, its whitespace collapsed, and the place of each of the tree's strings.

    Returns:
        The text, and [start, end) in it by the `id` of the string; a string of whitespace has no place.
    """
    parts: list[str] = []
    places: dict[int, tuple[int, int]] = {}
    length, apart = 0, False
    for string in _strings(soup):
        shown = " " if string is None else _shown(string)
        words = " ".join(shown.split())
        apart = apart or shown[:1].isspace()
        if not words:
            continue
        if apart and length:
            parts.append(" ")
            length += 1
        parts.append(words)
        places[id(string)] = (length, length + len(words))
        length += len(words)
        apart = shown[-1:].isspace()
    return "".join(parts), places


def _shown(text: str) -> str:
    return _without_latex(text.translate(_INVISIBLE))


def _without_latex(text: str) -> str:
    return _LATEX_BORDER.sub(" ", text).replace("\\%", "%").replace("\\$", "$")


def _strings(soup: "BeautifulSoup") -> Iterator["NavigableString | None"]:
    """Yield the visible strings in the order of the page; None wherever a line or cell starts or ends."""
    from bs4.element import CData, NavigableString, Tag

    rest: list[Any] = [soup]
    while rest:
        node = rest.pop()
        if isinstance(node, Tag):
            ends = [None] if node.name in BREAKS else []
            rest += [*ends, *reversed(node.contents), *ends]
        elif node is None or type(node) in (NavigableString, CData):  # not a comment, a script or a style
            yield node
