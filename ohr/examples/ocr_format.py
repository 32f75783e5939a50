"""Reads what an OCR system of yours wrote: here JSON with lines of text and the page that each is on."""

from collections import defaultdict
from typing import Any

from ohr.contracts import Block, OcrFormat


class Example(OcrFormat, kind="example"):
    """Lines with their page, one file for each document."""

    endings = ("_lines.json",)

    def pages(self, content: Any) -> dict[int, tuple[Block, ...]]:
        """Return the blocks of each page, from 0; a title is a heading, all else is text."""
        if "lines" not in content:
            raise ValueError("not of this system: it has no `lines`")  # the message follows `its result is`
        pages: dict[int, list[Block]] = defaultdict(list)
        for line in content["lines"]:
            block = Block("heading", line["text"], 1) if line.get("title") else Block("text", line["text"])
            pages[int(line["page"]) - 1].append(block)
        return {number: tuple(blocks) for number, blocks in pages.items()}

    def fits(self, content: Any) -> bool:
        """Report whether content is of this system, so that nobody needs to name it; an exception means no."""
        return all({"page", "text"} <= line.keys() for line in content["lines"])
