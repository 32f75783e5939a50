"""olmOCR: Dolma documents, one a line, with the characters of each page; its pages are numbered from 1."""

import json
from pathlib import PurePath
from typing import Any

from ohr.contracts import Block

from .values import FormatError, Pages, index, listed, mapping, text


def documents(content: str) -> dict[str, Pages]:
    """Read a file of documents; the key of each is the name of the file that it was made from, without its ending."""
    made = {}
    for number, line in enumerate(filter(str.strip, content.split("\n")), start=1):
        try:
            parsed = json.loads(line)
        except ValueError as error:
            raise FormatError(f"line {number} is no JSON: {error}") from None
        document = mapping(parsed, f"line {number}")
        source = text(mapping(document.get("metadata") or {}, "metadata").get("Source-File"))
        made[PurePath(source).stem] = pages(document)
    return made


def pages(parsed: Any) -> Pages:
    """Read one document."""
    document = mapping(parsed, "the document")
    whole = document.get("text")
    if not isinstance(whole, str):
        raise FormatError("it has no `text`")
    spans = mapping(document.get("attributes") or {}, "attributes").get("pdf_page_numbers")
    made: Pages = {}
    for span in listed(spans, "attributes.pdf_page_numbers"):
        start, end, number = (index(each, "a place in the text") for each in listed(span, "a page")[:3])
        made[index(number, "a page number", 1)] = (Block("text", whole[start:end].strip()),)
    return made
