"""OHRBench's layout: a list of {"page_idx", "text"}."""

from typing import Any

from .markdown import page
from .values import Pages, mapping, page_number, sequence, string


def read(found: Any) -> Pages:
    """Read a document; older files number pages by `page_no`."""
    entries = [mapping(entry, "a page") for entry in sequence(found, "the file")]
    return {
        page_number(entry.get("page_idx", entry.get("page_no"))): page(string(entry["text"], "a page's text"))
        for entry in entries
    }
