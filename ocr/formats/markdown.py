"""Markdown and plain text: one file a page, or a file whose pages are parted by marks.

The marks are Marker's (`{0}` and 48 hyphens before a page), form feeds (Tesseract, pdftotext), and Azure's page breaks.
Nougat's marks of pages that it failed on are not text (as written by nougat-ocr 0.1.17).
"""

import re

from ohr.contracts import Block

from .values import Pages, Unreadable, page_number

_MARKER = re.compile(r"^\{(\d{1,6})\}-{48}[ \t]*$", re.MULTILINE)
_BREAK = re.compile(r"\f|<!--\s*PageBreak\s*-->")
_MISSING = re.compile(r"\s*\[MISSING_PAGE_(?:POST|EMPTY|FAIL)(?::\d+)?\]\s*")
_PAGE_OF_A_BROWSER = re.compile(r"\s*<!doctype html|\s*<html[\s>](?!\s*<body>\s*<table)", re.IGNORECASE)


def read(text: str) -> Pages:
    """Read a file; without marks it is one page."""
    if _PAGE_OF_A_BROWSER.match(text):
        raise Unreadable("an HTML page in place of Markdown")
    marks = list(_MARKER.finditer(text))
    if marks:
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        parts = {page_number(int(mark[1])): text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}
    else:
        pieces = _BREAK.split(text)
        if len(pieces) > 1 and not pieces[-1].strip():  # the mark ends a page, it does not begin one
            pieces.pop()
        parts = dict(enumerate(pieces))
    return {number: page(part) for number, part in parts.items() if not _MISSING.fullmatch(part)}


def page(text: str) -> tuple[Block, ...]:
    """Return a page's Markdown as one block."""
    return (Block("text", text.strip("\n")),) if text.strip() else ()
