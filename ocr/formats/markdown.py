"""Markdown and plain text: one file a page, or a file whose pages are parted by marks.

The marks are Marker's (`{0}` and 48 hyphens before a page), form feeds (Tesseract, pdftotext), the page breaks of Azure
and docling, DeepSeek-OCR's `<--- Page Split --->`, and PyMuPDF4LLM's `--- end of page=0 ---` behind a page. Nougat's
marks of pages that it failed on are not text (as written by nougat-ocr 0.1.17), nor are DeepSeek-OCR's coordinates and
what olmOCR notes of a page before its text.
"""

import re

from ohr.contracts import Block

from .values import Pages, Unreadable, page_number

_MARKER = re.compile(r"^\{(\d{1,6})\}-{48}[ \t]*$", re.MULTILINE)
_END = re.compile(r"^-{3} end of page(?:=|\.page_number=)(\d{1,6}) -{3}[ \t]*$", re.MULTILINE)
_BREAK = re.compile(r"\f|<!--\s*page[ _-]?break\s*-->|<-{3}\s*page split\s*-{3}>", re.IGNORECASE)
_MISSING = re.compile(r"\s*\[MISSING_PAGE_(?:POST|EMPTY|FAIL)(?::\d+)?\]\s*")
_PAGE_OF_A_BROWSER = re.compile(r"\s*<!doctype html|\s*<html[\s>](?!\s*<body>\s*<table)", re.IGNORECASE)
_PLACE = re.compile(r"<\|ref\|>[^<\n]{0,200}<\|/ref\|>\s*<\|det\|>[^<]{0,2000}<\|/det\|>[ \t]*\n?")
_NOTE = "primary_language|is_rotation_valid|rotation_correction|is_table|is_diagram"
_NOTES = re.compile(rf"\A\s*---\n(?:(?:{_NOTE}):[^\n]*\n)+---[ \t]*(?:\n|\Z)")


def read(text: str) -> Pages:
    """Read a file; without marks it is one page."""
    if _PAGE_OF_A_BROWSER.match(text):
        raise Unreadable("an HTML page in place of Markdown")
    parts = _numbered(text) or dict(enumerate(_parted(text)))
    return {number: page(part) for number, part in parts.items() if not _MISSING.fullmatch(part)}


def _numbered(text: str) -> dict[int, str]:
    """Return the pages between marks with numbers, which come before or behind a page; nothing without such marks."""
    if marks := list(_MARKER.finditer(text)):
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        return {page_number(int(mark[1])): text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}
    marks = list(_END.finditer(text))
    starts = [0, *(mark.end() for mark in marks)]
    pages = {page_number(int(mark[1])): text[start : mark.start()] for mark, start in zip(marks, starts, strict=False)}
    if marks and text[starts[-1] :].strip():  # a page that was cut before its mark
        pages[max(pages) + 1] = text[starts[-1] :]
    return pages


def _parted(text: str) -> list[str]:
    """Return the pages between marks without numbers."""
    pieces = _BREAK.split(text)
    if len(pieces) > 1 and not pieces[-1].strip():  # the mark ends a page, it does not begin one
        pieces.pop()
    elif not pieces[0].strip() and (mark := _BREAK.search(text)) and mark[0][0] == "<" and mark[0][1] == "-":
        pieces.pop(0)  # before each page, as some scripts around DeepSeek-OCR write it
    return pieces


def page(text: str) -> tuple[Block, ...]:
    """Return a page's Markdown as one block."""
    text = _NOTES.sub("", _PLACE.sub("", text))
    return (Block("text", text.strip("\n")),) if text.strip() else ()
