"""Common parts of the readers: pages, labels of blocks, and careful access to JSON that others wrote."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ohr.contracts import Block, BlockKind
from ohr.files import MOST_PAGES
from ohr.files.json_input import lines, parse_json, whole_number
from ohr.messages.wording import named

_Page = TypeVar("_Page")
Pages = dict[int, tuple[Block, ...]]
"""The blocks of a document by page, from 0. A page that has no block is blank; one that is not there has no result."""

_WRAPPED = re.compile(r"\A\s*<html>\s*<body>(.*)</body>\s*</html>\s*\Z", re.DOTALL | re.IGNORECASE)
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))


class Unreadable(ValueError):
    """A result that cannot be read; the message follows `its result is`."""


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return a JSON object, or refuse anything else."""
    if not isinstance(value, dict):
        raise Unreadable(f"not as expected: {what} is not an object")
    return value


def sequence(value: object, what: str) -> list[Any]:
    """Return a JSON list, an empty one for null; refuse anything else."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unreadable(f"not as expected: {what} is not a list")
    return value


def string(value: object, what: str) -> str:
    """Return a JSON string, an empty one for null; refuse anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unreadable(f"not as expected: {what} is not text")
    return value


def json_lines(text: str) -> list[Any]:
    """Return the JSON values of a text's lines."""
    values = []
    for number, line in lines(text):
        try:
            values.append(parse_json(line.encode()))
        except ValueError as error:
            raise Unreadable(f"not readable as JSON in line {number} ({error})") from None
    return values


def known(items: Sequence[Mapping[str, Any]], keys: Sequence[str], what: str) -> None:
    """Refuse items of which none has a key that this reader knows: they would read as blank pages."""
    if items and not any(key in item for item in items for key in keys):
        there = named(sorted({key for item in items for key in item}))
        raise Unreadable(f"of another form: no {what} has {' or '.join(keys[:3])}, only {there}")


def page_number(value: object, first: int = 0) -> int:
    """Return a page's number from 0; `first` is that of a document's first page in the file."""
    number = whole_number(value)
    if number is None or not first <= number < MOST_PAGES:
        raise Unreadable("not as expected: a page has no number")
    return number - first


def by_number(pages: Iterable[tuple[int, _Page]]) -> dict[int, _Page]:
    """Return pages by their numbers; refuse a number that two have, since one of them would be lost."""
    numbered: dict[int, _Page] = {}
    for number, page in pages:
        if number in numbered:
            raise Unreadable("not as expected: two pages have the same number")
        numbered[number] = page
    return numbered


def confidence(value: object, of: float = 1.0) -> float:
    """Return a confidence in [0, 1]; `of` is the highest that the system writes."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= of:
        raise Unreadable(f"not as expected: a confidence is no number from 0 to {of:g}")
    return value / of


def box(points: Any) -> tuple[float, float, float, float] | None:
    """Return the (left, top, right, bottom) of a polygon: x and y in turn, or pairs of them; None for anything else."""
    flat = (
        [n for point in points for n in (point if isinstance(point, list) else [point])]
        if isinstance(points, list)
        else []
    )
    if len(flat) < 4 or len(flat) % 2 or not all(type(n) in (int, float) and math.isfinite(n) for n in flat):
        return None
    return min(flat[::2]), min(flat[1::2]), max(flat[::2]), max(flat[1::2])


def without_gaps(pages: Pages) -> Pages:
    """Add blank pages between those that are there: some files list blocks only, and a blank page has none."""
    return {number: pages.get(number, ()) for number in range(max(pages, default=-1) + 1)}


def formula(text: str) -> str:
    """Write a displayed formula as `$$...$$`, whatever its delimiters were."""
    text = text.strip()
    for opening, closing in _DELIMITERS:
        if text.startswith(opening) and text.endswith(closing) and len(text) >= len(opening) + len(closing):
            text = text[len(opening) : -len(closing)].strip()
            break
    return f"$${text}$$" if text else ""


def table(text: str) -> str:
    r"""Unwrap a table: `<html><body>` around HTML, and dollars around a `tabular`."""
    text = text.strip()
    if wrapped := _WRAPPED.match(text):
        text = wrapped[1].strip()
    inside = text.strip("$").strip()
    return inside if inside.startswith("\\begin{") else text


def picture(path: object) -> Block:
    """Return the link to a picture."""
    return Block("image", f"![]({path if isinstance(path, str) else ''})")


_LABELS: Mapping[BlockKind, str] = {
    "heading": "title sub_title doc_title paragraph_title section_header field_heading",
    "list": "list list_item list_group index",
    "code": "code algorithm",
    "table": "table table_of_contents",
    "formula": "formula display_formula equation equation_interline interline_equation",
    "caption": "caption figure_caption image_caption table_caption figure_title table_title chart_title",
    "footnote": "footnote page_footnote vision_footnote",
    "image": "image picture figure chart",
    "header": "header page_header header_image",
    "footer": "footer page_footer footer_image",
    "page_number": "page_number",
}
LABELS: Mapping[str, BlockKind] = {label: kind for kind, labels in _LABELS.items() for label in labels.split()}
"""The kind of block by label; a label means the same in all systems that write it."""
_BETWEEN_WORDS = re.compile(r"-|(?<=[a-z])(?=[A-Z])")


def kind_of(label: object) -> BlockKind:
    """Return the kind of a label, written as `section_header`, `Section-header` or `SectionHeader`; most are text."""
    return LABELS.get(_BETWEEN_WORDS.sub("_", str(label)).lower(), "text")
