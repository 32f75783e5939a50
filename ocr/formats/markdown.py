"""Markdown and plain text: one file a page, or a file with borders between its pages (see `page_borders`).

Nougat's marks of pages that it failed on are not text (as written by nougat-ocr 0.1.17), nor are DeepSeek-OCR's
coordinates and what olmOCR notes of a page before its text.
"""

import re
from typing import Any

from ohr.contracts import Block, OcrFormat

from .page_borders import pages_of
from .values import LABELS, Pages, Unreadable

_MISSING = re.compile(r"\s*\[MISSING_PAGE_(?:POST|EMPTY|FAIL)(?::\d+)?\]\s*")
_PAGE_OF_A_BROWSER = re.compile(r"\s*<!doctype html|\s*<html[\s>](?!\s*<body>\s*<table)", re.IGNORECASE)
MARK = re.compile(r"<\|ref\|>([^<\n]{0,200})<\|/ref\|>\s*<\|det\|>[^<]{0,2000}(?:<\|/det\|>|<?\Z)[ \t]*\n?")
"""A label of DeepSeek-OCR with its coordinates; a reply that was cut may end in them."""
_TOKENS = re.compile(r"<\|grounding\|>|<｜end▁of▁sentence｜>")
_OLMOCR = frozenset({"primary_language", "is_rotation_valid", "rotation_correction", "is_table", "is_diagram"})


class Markdown(OcrFormat, kind="markdown"):
    """Markdown or plain text of any program, with page breaks or one file a page."""

    version = 5
    endings = (".md", ".mmd", ".markdown", ".txt", "_nohf.md", "_det.mmd", "_ori.mmd")
    is_general = True

    def pages(self, content: Any) -> Pages:
        """Read a document."""
        return read(content)

    def fits(self, content: Any) -> bool:
        """Report whether it is a text, and no page of a browser."""
        return isinstance(content, str) and _PAGE_OF_A_BROWSER.match(content) is None


def read(text: str) -> Pages:
    """Read a file; without marks it is one page."""
    if _PAGE_OF_A_BROWSER.match(text):
        raise Unreadable("an HTML page in place of Markdown")
    return {number: page(part) for number, part in pages_of(text).items() if not _MISSING.fullmatch(part)}


def without_marks(text: str) -> str:
    """Remove DeepSeek-OCR's marks; asked for lines and not for Markdown, it writes the text in place of the labels."""
    plain = _TOKENS.sub("", MARK.sub("", text))
    labels = [] if plain.strip() else MARK.findall(text)
    return "\n".join(label for label in labels if label not in LABELS and label != "text") if labels else plain


def page(text: str) -> tuple[Block, ...]:
    """Return a page's Markdown as one block."""
    from ohr.markup.artifacts import without_front_matter

    text = without_front_matter(without_marks(text), _OLMOCR)
    return (Block("text", text.strip("\n")),) if text.strip() else ()
