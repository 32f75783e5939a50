"""HTML of blocks, as Marker writes it, in Markdown; tables stay HTML."""

import html
import re

from ohr.markup.html import INLINE_TAGS

_TABLE = re.compile(r"(<table\b.*?</table\s*>)", re.DOTALL | re.IGNORECASE)
_MATH = re.compile(r"<math(?P<about>[^<>]*)>(?P<latex>.*?)</math\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9-]*)\b[^<>]*>", re.IGNORECASE)
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "code": "`"}
_LINES = frozenset({"br", "p", "div", "li", "tr", "pre", "ul", "ol", *(f"h{level}" for level in range(1, 7))})
_KEPT = frozenset({"sub", "sup", "u", "mark"})


def in_markdown(text: str) -> str:
    """Write a piece of HTML as Markdown: styles, formulas, lists and lines; other tags are dropped."""
    parts = _TABLE.split(_MATH.sub(_formula, text))
    written = (part if place % 2 else html.unescape(_TAG.sub(_mark, part)) for place, part in enumerate(parts))
    return re.sub(r"\n\s*\n+", "\n", "".join(written)).strip()


def is_table(text: str) -> bool:
    """Report whether HTML has a table in it."""
    return _TABLE.search(text) is not None


def _formula(found: re.Match[str]) -> str:
    fence = "$$" if "block" in found["about"] else "$"
    return f"{fence}{found['latex'].strip()}{fence}"


def _mark(tag: re.Match[str]) -> str:
    closes, name = tag[1] == "/", tag[2].lower()
    if name in _MARKS:
        return _MARKS[name]
    if name == "li" and not closes:
        return "\n- "
    if name in _KEPT:
        return tag[0]
    return "\n" if name in _LINES else "" if name in INLINE_TAGS else " "
