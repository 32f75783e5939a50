"""Unstructured: lists of elements as JSON, or one a line (unstructured 0.18, its service and ingest).

A chunk packs the elements that it was made of, each with its page; they are read in its place. `detection_class_prob`
is the certainty of an element's type, not of its text.
"""

import re
import zlib
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat
from ohr.files.json_input import parse_json
from ohr.messages.wording import named

from .values import (
    Pages,
    Unreadable,
    formula,
    json_lines,
    kind_of,
    known,
    mapping,
    page_number,
    picture,
    sequence,
    string,
    table,
    without_gaps,
)

_KINDS: Mapping[str, BlockKind] = {"TableChunk": "table", "CodeSnippet": "code", "CheckBox": "list"}
_MARKED = re.compile(r"[-*•◦▪–]|\(?\w{1,3}[.)]\s")
"""Beginning of a list's item that has its mark."""
_LARGEST = 50_000_000
"""Bytes that the elements in the chunks of a file may have beyond those of the file; a few kB a chunk are usual."""
_TYPES = frozenset({
    "Abstract", "Address", "BulletedText", "Caption", "CheckBox", "CheckBoxChecked", "CheckBoxUnchecked", "Checked",
    "CodeSnippet", "CompositeElement", "DocumentData", "EmailAddress", "Field-Name", "Figure", "FigureCaption",
    "Footer", "Footnote", "Form", "FormKeysValues", "Formula", "Header", "Headline", "Image", "Link", "List",
    "List-item", "ListItem", "NarrativeText", "Page-footer", "Page-header", "PageBreak", "PageNumber", "Paragraph",
    "Picture", "RadioButtonChecked", "RadioButtonUnchecked", "Section-header", "Subheadline", "Table", "TableChunk",
    "Text", "Threading", "Title", "UncategorizedText", "Unchecked", "Value",
})  # fmt: skip
"""Types of elements; a chat has `type` and `text`, too."""


class Unstructured(OcrFormat, kind="unstructured"):
    """Elements of Unstructured: `elements_to_json`, `elements_to_ndjson`, its service and ingest."""

    endings = (".json", ".jsonl", ".ndjson")
    lists_documents = False

    def pages(self, content: Any) -> Pages:
        """Read a document's elements; a text has one on each line."""
        return _read(content)

    def fits(self, content: Any) -> bool:
        """Report whether these are elements: a type, a text, and what identifies or describes each."""
        elements = _elements(content)
        return any(each.get("type") in _TYPES for each in elements) and all(
            "type" in each and {"text", "checked"} & each.keys() and {"element_id", "metadata"} & each.keys()
            for each in elements
        )


def _elements(content: Any) -> list[Mapping[str, Any]]:
    """Return the elements of a file: of JSON, of lines of JSON, or the one of a line."""
    content = json_lines(content) if isinstance(content, str) else content
    found = [content] if isinstance(content, dict) and "type" in content else sequence(content, "the file")
    return [mapping(each, "an element") for each in found]


def _read(content: Any) -> Pages:
    parts = list(_unpacked(_elements(content)))
    elements = [element for element, _ in parts]
    known(elements, ("text", "checked"), "element")
    abouts = [_about(element) for element in elements]
    if len(names := sorted({string(about.get("filename"), "a filename") for about in abouts} - {""})) > 1:
        raise Unreadable(f"of several documents: {named(names)}")
    are_numbered = any(about.get("page_number") is not None for about in abouts)
    pages, here, last = defaultdict[int, list[Block]](list), 0, None
    for (element, is_packed), about in zip(parts, abouts, strict=True):
        if about.get("page_number") is not None:
            here = page_number(about["page_number"], first=1)
        if element.get("type") == "PageBreak":
            here += not are_numbered
        elif last is None or element.get("element_id") != last:  # each chunk of an element packs the whole
            pages[here] += _blocks(element, about) if not _continues(pages[here], element, about) else ()
        last = element.get("element_id") if is_packed else None
    return without_gaps({number: tuple(blocks) for number, blocks in pages.items()})


def _about(element: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(element.get("metadata") or {}, "an element's metadata")


def _unpacked(elements: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """List elements, those that a chunk was made of in its place, and whether each was packed."""
    room = _LARGEST
    for element in elements:
        packed = string(_about(element).get("orig_elements"), "orig_elements")
        if not packed:
            yield element, False
            continue
        room += len(packed)
        try:
            unpacked = zlib.decompressobj().decompress(b64decode(packed), room + 1)
            if (room := room - len(unpacked)) < 0:
                raise Unreadable("not as expected: orig_elements are too large")
            parts = sequence(parse_json(unpacked), "orig_elements")
        except (zlib.error, ValueError) as error:
            reason = error if isinstance(error, Unreadable) else "not as expected: orig_elements cannot be unpacked"
            raise Unreadable(str(reason)) from None
        yield from ((mapping(part, "an element"), True) for part in parts)


def _continues(before: list[Block], element: Mapping[str, Any], about: Mapping[str, Any]) -> bool:
    """Add a chunk to the one before it, where both are parts of one element."""
    if about.get("is_continuation") is not True or not before:
        return False
    first, (second, *_) = before[-1], [*_blocks(element, about)]
    if first.kind == second.kind == "table" and "</table>" in first.text:
        joined = first.text.replace("</table>", "") + re.sub(r"\A\s*<table[^<>]*>", "", second.text)
    else:
        joined = f"{first.text} {second.text}"
    before[-1] = Block(first.kind, joined, first.level)
    return True


def _blocks(element: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[Block]:
    text, label = string(element.get("text"), "a text"), string(element.get("type"), "a type")
    match _KINDS.get(label) or kind_of(label):
        case "heading":
            depth = about.get("category_depth")
            yield Block("heading", text, depth + 1 if type(depth) is int and depth >= 0 else 0)
        case "table":
            html = string(about.get("text_as_html"), "text_as_html")
            yield Block("table", table(html) if "<table" in html.lower() else text)
        case "list" if "checked" in element:
            yield Block("list", f"- [{'x' if element['checked'] is True else ' '}] {text}")
        case "list":
            yield Block("list", text if _MARKED.match(text) else f"- {text}")
        case "formula":
            yield Block("formula", formula(text))
        case "image":
            yield picture(None)
            yield Block("description", text)
        case "code":
            yield Block("code", f"```\n{text}\n```")
        case kind:
            yield Block(kind, text)
