"""The facts that annotators tagged on a page: types, values and hints, as the published extractor reads them.

Source: https://github.com/The-FinAI/FinCriticalED, commit b291e71, the judge's notebook. What `Fact` has beyond
`Entity` is ours: it is what strict matching needs.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ohr.errors import DataError

from .page_texts import BREAKS, parse, placed_text

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

TYPES = {
    "number": "Number",
    "temporal": "Temporal",
    "monetaryunit": "Monetary Unit",
    "reportingentity": "Reporting Entity",
    "financialconcepts": "Financial Concepts",
}
"""Names of the types of facts by their tags, in the order of extraction."""

CURRENCIES = frozenset(("$", "€", "£", "¥", "₹", "₩", "CHF", "USD", "EUR", "GBP"))
"""Values of monetary units that are joined with the number beside them."""

WINDOW = 40
"""Characters of context on each side of a value (published)."""
_LEAST_CONTEXT, _BEGINNING = 30, 80  # characters (published)

_ENTITY_TAGS = re.compile(rf"<({'|'.join(TYPES)})>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_ONE_TAG = re.compile(rf"<(/?)({'|'.join(TYPES)})(?=[\s/>])[^<>]*?(/?)>", re.IGNORECASE)
_DEEPEST = 100
"""Facts inside each other at which a page is refused: real ones are in two or three, and reading takes its square."""
_RESIDUAL_TAG = re.compile(r"</?[a-zA-Z][^>]*>")
_HINT_GAP = re.compile(r"(?<=\$)\s+(?=\d)|(?<=\d)\s+(?=%)|(?<=\()\s+|\s+(?=\))")


class Entity(TypedDict):
    """A fact as the judge gets it."""

    type: str
    value: str
    context_hint: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A tagged fact.

    Args:
        type: one of TYPES.
        value: its text; whitespace at the borders of inner tags is lost (published).
        hint: text around the first occurrence of the value in the nearest element that is long enough (published).
        seen: the value as a reader sees it. A joined monetary unit is in two parts, or its sign alone where words are
            between both.
        left: up to WINDOW characters that precede it on the page.
        right: up to WINDOW characters that follow it.
        is_inner: it is inside another fact of its type, which its place on the page belongs to as well.
        passage: the words within WINDOW characters around it, of its row or paragraph.
        in_table: it is in a row of a table.
        line: of the page's HTML, from 1.
    """

    type: str
    value: str
    hint: str
    seen: tuple[str, ...]
    left: str
    right: str
    is_inner: bool
    passage: str
    in_table: bool
    line: int


def extract_entities(html: str) -> list[Entity]:
    """List the facts of a page with their types, values and hints: by type, then in the order of the page."""
    return [{"type": fact.type, "value": fact.value, "context_hint": fact.hint} for fact in read_facts(html)]


@lru_cache(maxsize=8)  # a page is scored in several ways in a row
def read_facts(html: str) -> tuple[Fact, ...]:
    """Read the facts of a page in the order of `extract_entities`; facts without a value are left out."""
    if "<" not in html:
        return ()
    soup = parse(html)
    hints, around = _Hints(), _Around()
    sights = _Sights(soup, around)
    return tuple(
        Fact(
            type=TYPES[element.name],
            value=value,
            hint=hints.around(element, value),
            **sights.of(element, number),
            is_inner=around.nearest(element, element.name) is not None,
            in_table=around.nearest(element, "tr") is not None,
            line=element.sourceline or 1,
        )
        for tag in TYPES
        for element in soup.find_all(tag)
        for value, number in _values(element)
    )


def refuse_deep(html: str, path: Path) -> None:
    """Raise a DataError where more than 100 facts are open at once: nobody tags so many inside each other.

    Args:
        html: a gold page.
        path: its file.
    """
    is_open: Counter[str] = Counter()
    depth = 0
    for tag in _ONE_TAG.finditer(html):
        closing, name, empty = tag[1], tag[2].lower(), tag[3]
        if closing and is_open[name]:
            is_open[name], depth = is_open[name] - 1, depth - 1
        elif not closing and not empty:
            is_open[name], depth = is_open[name] + 1, depth + 1
        if depth > _DEEPEST:
            line = html.count("\n", 0, tag.start()) + 1
            raise DataError(f"{path}:{line}: more than {_DEEPEST} tags of facts are open here; close them")


def strip_entity_tags(html: str) -> str:
    """Remove the tags of facts and keep their content; where tags are nested, the inner ones remain (published)."""
    return _ENTITY_TAGS.sub(r"\2", html)


def _values(element: "Tag") -> Iterator[tuple[str, "Tag | None"]]:
    """Yield the value of a tagged element, unless it is empty, and the number that is joined to it."""
    value = element.get_text(strip=True)
    number = _number_beside(element) if element.name == "monetaryunit" and value in CURRENCIES else None
    if value:
        yield value + (number.get_text(strip=True) if number else ""), number


def _number_beside(element: "Tag") -> "Tag | None":
    """Return the number that follows a bare currency sign, directly or in the element that follows its parent."""
    sibling = _next_with_text(element)
    if sibling is not None and sibling.name == "number":
        return sibling
    for beside in (sibling, _next_with_text(element.parent)):
        number = None if beside is None else beside.find("number")
        if number is not None:
            return number
    return None


def _next_with_text(element: "Tag | None") -> "Tag | None":
    """Return the first following sibling that has a text; None where that is bare text."""
    from bs4 import Tag

    for sibling in () if element is None else element.next_siblings:
        if sibling.get_text(strip=True):
            return sibling if isinstance(sibling, Tag) else None
    return None


class _Around:
    """The elements around those of a page; what is around an element is looked for once for all beside it."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str | frozenset[str]], Tag | None] = {}

    def nearest(self, element: "Tag", names: str | frozenset[str]) -> "Tag | None":
        """Return the nearest element around one that has a name, or one of some names."""
        key = id(element.parent), names
        if key not in self._found:
            self._found[key] = element.find_parent(names)
        return self._found[key]


class _Hints:
    """The context hints of a page; the text of an element is made once for all facts in it."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def around(self, element: "Tag", value: str) -> str:
        """Cut the hint out of the text of the nearest ancestor that is long enough."""
        text = next((text for parent in element.parents if len(text := self._text(parent)) >= _LEAST_CONTEXT), None)
        text = self._text(element) if text is None else text
        start = text.find(value)
        if start < 0:
            return text[:_BEGINNING].strip()
        return text[max(0, start - WINDOW) : start + len(value) + WINDOW].strip()

    def _text(self, element: "Tag") -> str:
        if id(element) not in self._texts:
            self._texts[id(element)] = _hint_text(element.get_text(" ", strip=True))
        return self._texts[id(element)]


def _hint_text(text: str) -> str:
    """Remove what looks like a tag, and gaps at signs; collapse spaces."""
    return re.sub(" {2,}", " ", _HINT_GAP.sub("", _RESIDUAL_TAG.sub(" ", text))).strip()


class _Sight(TypedDict):
    seen: tuple[str, ...]
    left: str
    right: str
    passage: str


class _Sights:
    """Where a reader sees the facts of a page."""

    def __init__(self, soup: "BeautifulSoup", around: _Around) -> None:
        self._text, self._places = placed_text(soup)
        self._around = around
        self._spans: dict[int, tuple[int, int] | None] = {}

    def of(self, element: "Tag", number: "Tag | None") -> "_Sight":
        """Return what is seen of an element and the number joined to it, and the texts around it."""
        spans = [span for part in (element, number) if part is not None and (span := self._span(part))]
        if not spans:  # in an annotation over the line, which is no part of the text
            seen = element.get_text(" ", strip=True)
            return {"seen": (seen,), "left": "", "right": "", "passage": seen}
        between = self._text[spans[0][1] : spans[-1][0]]
        if any(map(str.isalnum, between)):  # the number is another one's, and joined all the same (published)
            spans = spans[:1]
        elif between.strip():  # such as a bracket
            spans = [(spans[0][0], spans[-1][1])]
        start, end = spans[0][0], spans[-1][1]
        first, last = self._span(self._block(element)) or (start, end)
        return {
            "seen": tuple(self._text[a:b] for a, b in spans),
            "left": self._text[max(0, start - WINDOW) : start],
            "right": self._text[end : end + WINDOW],
            "passage": _whole_words(self._text, max(first, start - WINDOW), min(last, end + WINDOW), (start, end)),
        }

    def _span(self, element: "Tag") -> tuple[int, int] | None:
        if id(element) not in self._spans:
            spans = [self._places[id(string)] for string in element.strings if id(string) in self._places]
            self._spans[id(element)] = (spans[0][0], spans[-1][1]) if spans else None
        return self._spans[id(element)]

    def _block(self, element: "Tag") -> "Tag":
        """Return the row or paragraph that an element is in, or itself."""
        return self._around.nearest(element, "tr") or self._around.nearest(element, BREAKS) or element


def _whole_words(text: str, first: int, last: int, fact: tuple[int, int]) -> str:
    """Return [first, last) of a text, and all of the fact in it, without the words that the borders cut."""
    while first < fact[0] and text[first - 1 : first].strip() and text[first : first + 1].strip():
        first += 1
    while last > fact[1] and text[last : last + 1].strip() and text[last - 1 : last].strip():
        last -= 1
    return text[min(first, fact[0]) : max(last, fact[1])].strip()
