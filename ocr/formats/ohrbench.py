"""OHRBench's layout: a list of {"page_idx", "text"}."""

from typing import Any

from ohr.contracts import OcrFormat

from .markdown import page
from .values import Pages, by_number, mapping, page_number, sequence, string


class OhrBench(OcrFormat, kind="ohrbench"):
    """OHRBench's layout, which `ohr data convert` writes: a list of pages with their text."""

    def pages(self, content: Any) -> Pages:
        """Read a document; older files number pages by `page_no`."""
        entries = [mapping(entry, "a page") for entry in sequence(content, "the file")]
        return by_number(
            (page_number(entry.get("page_idx", entry.get("page_no"))), page(string(entry["text"], "a page's text")))
            for entry in entries
        )

    def fits(self, content: Any) -> bool:
        """Report whether it lists pages, and no blocks, which have a type; one wrong page costs only itself."""
        known = [entry.keys() for entry in content if isinstance(entry, dict) and "type" not in entry]
        return any({"page_idx", "page_no"} & keys for keys in known)
