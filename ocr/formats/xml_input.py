"""Common parts of the readers of XML and HTML: encodings, a parser that takes nothing from outside, and attributes."""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser

from ohr.contracts import BlockKind
from ohr.files import MOST_PAGES
from ohr.files.json_input import whole_number

from .values import Unreadable, confidence, kind_of

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_DECLARED = re.compile(
    rb"<(?:\?xml|meta)\s[^<>]{0,200}?(?:encoding|charset)\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
_ENCODING = re.compile(
    r"(?:us-)?ascii|utf-?8|iso-?8859-\d\d?|latin-?\d|(?:windows-|cp)12\d\d|gb\w+|big5\w*|shift_jis|euc-\w\w|koi8-\w",
    re.IGNORECASE,
)
"""Encodings of texts; Python knows others, such as punycode, that are none or take very long."""
DEEPEST = 100
"""Elements within each other that a reader follows."""


def decoded(content: bytes) -> str:
    """Return a file's text: in UTF-8, in what its first bytes show, or in what its XML or HTML declares.

    Raises:
        Unreadable: it is in none of them.
    """
    shown = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), "utf-8")
    declared = _DECLARED.search(content[:1024]) if shown == "utf-8" and content.lstrip()[:1] == b"<" else None
    name = declared[1].decode() if declared else ""
    for encoding in (name, shown) if _ENCODING.fullmatch(name) else (shown,):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    raise Unreadable("not text in UTF-8" if shown == "utf-8" else f"not text in {shown.upper()}")


def parse_xml(text: str) -> Element:
    """Parse XML; elements get their names without their namespaces, which differ by version.

    Raises:
        Unreadable: it is not well-formed, or declares entities or attributes: a few lines of them make gigabytes.
    """
    for declaration, what in (("<!ENTITY", "entities"), ("<!ATTLIST", "attributes")):
        if declaration in text:
            raise Unreadable(f"XML that declares {what}")
    parser = XMLParser()  # expat fetches nothing
    try:
        parser.feed(text.lstrip())
        root: Element = parser.close()
    except ParseError as error:
        raise Unreadable(f"not readable as XML ({error})") from None
    names = dict[str, str]()
    for element in root.iter():
        tag = element.tag
        element.tag = names.get(tag) or names.setdefault(tag, tag.rpartition("}")[2])
    return root


def document(content: Any, root: str, format: str) -> Element:
    """Parse the XML of a format, or refuse that of others by the name of its root."""
    if not isinstance(content, str):
        raise Unreadable(f"not {format}: it is not XML")
    if root not in content:  # found in a hundredth of the time that parsing takes
        raise Unreadable(f"not {format}: it has no `{root}`")
    element = parse_xml(content)
    if element.tag != root:
        raise Unreadable(f"not {format}: its root is `{element.tag[:40]}`")
    return element


def page_keys(stated: Sequence[str | None]) -> Sequence[int]:
    """Return the numbers of a file's pages, from 0: as the file states them where they rise, else by place."""
    numbers = [number for number in map(whole_number, stated) if number is not None]
    rises = all(before < after for before, after in pairwise(numbers))
    if rises and len(numbers) == len(stated) > 0 and numbers[-1] - numbers[0] < MOST_PAGES:
        return [number - numbers[0] for number in numbers]
    return range(len(stated))


def stated_confidence(text: str, of: float = 1.0) -> float:
    """Return a confidence in [0, 1] from an attribute; `of` is the highest that the system writes."""
    try:
        return confidence(float(text), of)
    except ValueError:  # an Unreadable is one, too
        raise Unreadable(f"not as expected: a confidence is no number from 0 to {of:g}") from None


def box_of(corners: Sequence[tuple[str | None, str | None]]) -> tuple[float, float, float, float] | None:
    """Return the box (left, top, right, bottom) around corners; None where one is no number."""
    try:
        points = [(float(x or ""), float(y or "")) for x, y in corners]
    except ValueError:
        return None
    if not points or not all(isfinite(x) and isfinite(y) for x, y in points):
        return None
    left, top = map(min, zip(*points, strict=True))
    right, bottom = map(max, zip(*points, strict=True))
    return left, top, right, bottom


_TEXTS = ("heading", "list", "caption", "footnote", "header", "footer", "page_number")


def text_kind(label: str | None, more: Mapping[str, BlockKind]) -> BlockKind:
    """Return the kind of a block of text by its label; `more` has the format's own."""
    kind = more.get(label or "") or kind_of(label)
    return "heading" if label == "heading" else kind if kind in _TEXTS else "text"


def in_order(elements: Sequence[Element], places: Mapping[str, float]) -> list[Element]:
    """Sort elements by the places of their ids; those without one stay behind the element before them."""
    here, keys = -1.0, []
    for element in elements:
        here = places.get(element.get("id") or element.get("ID") or "", here)
        keys.append(here)
    return [elements[place] for place in sorted(range(len(elements)), key=keys.__getitem__)]


def refuse_without_text(root: Element, lines: str, holder: str, *, has_text: bool) -> None:
    """Refuse a layout of lines that nobody has read: it would be blank pages."""
    if not has_text and next(root.iter(lines), None) is not None:
        raise Unreadable(f"a layout without text: no `{lines}` has `{holder}`")


def children(element: Element, name: str) -> Iterator[Element]:
    """List an element's own children of a name."""
    return (child for child in element if child.tag == name)
