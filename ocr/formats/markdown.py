"""Markdown and plain text: one file a page, or a file whose pages are parted by marks.

The marks are Marker's (`{0}` and 48 hyphens before a page), form feeds (Tesseract, pdftotext, LLMWhisperer), the page
breaks of Azure and docling, DeepSeek-OCR's `<--- Page Split --->`, MarkItDown's `<!-- Slide number: 1 -->` and what
scripts write like it before a page (`--- Page 1 ---`), and PyMuPDF4LLM's behind a page: `--- end of page=0 ---`,
`--- end of page.page_number=1 ---` where it has its layout module, and in earlier versions a rule of five hyphens.
Nougat's marks of pages that it failed on are not text (as written by nougat-ocr 0.1.17), nor are DeepSeek-OCR's
coordinates and what olmOCR notes of a page before its text.
"""

import re
from collections.abc import Mapping
from typing import Any

from ohr.contracts import Block, OcrFormat
from ohr.files import MOST_PAGES

from .values import LABELS, Pages, Unreadable, page_number

_MARKER = re.compile(r"^\{(\d{1,6})\}-{48}[ \t]*$", re.MULTILINE)
_PAGE = re.compile(
    r"^(?:<!--|-{3,99}|={3,99})[ \t]{0,9}(?:page|slide)(?:[ \t]{1,9}number)?[ \t]{0,9}[:=]?[ \t]{0,9}"
    r"(\d{1,6})[ \t]{0,9}(?:-->|-{3,99}|={3,99})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(r"^-{3} end of page=(\d{1,6}) -{3}[ \t]*$", re.MULTILINE)
_END_FROM_1 = re.compile(r"^-{3} end of page\.page_number=(\d{1,6}) -{3}[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"\n\n-----[ \t]*(?:\n|\Z)")
SPLIT = r"<-{3}\s*page split\s*-{3}>"
"""Regular expression of DeepSeek-OCR's separator."""
_BREAK = re.compile(rf"(?:<<<\s*)?\f|<!--\s*page[ _-]?break\s*-->|{SPLIT}", re.IGNORECASE)
_MISSING = re.compile(r"\s*\[MISSING_PAGE_(?:POST|EMPTY|FAIL)(?::\d+)?\]\s*")
_PAGE_OF_A_BROWSER = re.compile(r"\s*<!doctype html|\s*<html[\s>](?!\s*<body>\s*<table)", re.IGNORECASE)
MARK = re.compile(r"<\|ref\|>([^<\n]{0,200})<\|/ref\|>\s*<\|det\|>[^<]{0,2000}(?:<\|/det\|>|<?\Z)[ \t]*\n?")
"""A label of DeepSeek-OCR with its coordinates; a reply that was cut may end in them."""
_TOKENS = re.compile(r"<\|grounding\|>|<｜end▁of▁sentence｜>")
_NOTE = "primary_language|is_rotation_valid|rotation_correction|is_table|is_diagram"
_NOTES = re.compile(rf"\A\s*---\n(?:(?:{_NOTE}):[^\n]*\n)+---[ \t]*(?:\n|\Z)")


class Markdown(OcrFormat, kind="markdown"):
    """Markdown or plain text of any program, with page breaks or one file a page."""

    version = 4
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
    parts = _numbered(text) or dict(enumerate(parted(text)))
    return {number: page(part) for number, part in parts.items() if not _MISSING.fullmatch(part)}


def _numbered(text: str) -> dict[int, str]:
    """Return the pages between marks with numbers, which come before or behind a page; nothing without such marks."""
    if marks := list(_MARKER.finditer(text)):
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        return {page_number(int(mark[1])): text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}
    for form, first in ((_END, 0), (_END_FROM_1, 1)):
        if marks := list(form.finditer(text)):
            return _behind(text, {page_number(int(mark[1]), first): mark for mark in marks})
    marks = list(_PAGE.finditer(text))
    numbers = [int(mark[1]) for mark in marks]
    if numbers[:1] not in ([1], [2]) or numbers != sorted(set(numbers)) or numbers[-1] > MOST_PAGES:
        return {}  # of a page's own text
    numbered = {number - 1: mark for number, mark in zip(numbers, marks, strict=True)}
    if not text[marks[-1].end() :].strip() and text[: marks[0].start()].strip():
        return _behind(text, numbered)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    pages = {number: text[mark.end() : end] for (number, mark), end in zip(numbered.items(), ends, strict=True)}
    if (before := text[: marks[0].start()]).strip() or 0 not in pages:
        pages[0] = before + pages.get(0, "")
    return dict(sorted(pages.items()))


def _behind(text: str, marks: Mapping[int, re.Match[str]]) -> dict[int, str]:
    """Return the pages of which each ends with its mark."""
    starts = [0, *(mark.end() for mark in marks.values())]
    pages = {number: text[start : mark.start()] for (number, mark), start in zip(marks.items(), starts, strict=False)}
    if text[starts[-1] :].strip():  # a page that was cut before its mark
        pages[max(pages) + 1] = text[starts[-1] :]
    return pages


def parted(text: str) -> list[str]:
    """Return the pages between marks without numbers."""
    pieces = _BREAK.split(text)
    if len(pieces) == 1 and (rules := _RULE.split(text))[-1].strip() == "":  # each page ends with one, the last, too
        pieces = rules
    if len(pieces) > 1 and not pieces[-1].strip():  # the mark ends a page, it does not begin one
        pieces.pop()
    elif not pieces[0].strip() and (mark := _BREAK.search(text)) and mark[0][0] == "<" and mark[0][1] == "-":
        pieces.pop(0)  # before each page, as some scripts around DeepSeek-OCR write it
    return pieces


def without_marks(text: str) -> str:
    """Remove DeepSeek-OCR's marks; asked for lines and not for Markdown, it writes the text in place of the labels."""
    plain = _TOKENS.sub("", MARK.sub("", text))
    labels = [] if plain.strip() else MARK.findall(text)
    return "\n".join(label for label in labels if label not in LABELS and label != "text") if labels else plain


def page(text: str) -> tuple[Block, ...]:
    """Return a page's Markdown as one block."""
    text = _NOTES.sub("", without_marks(text))
    return (Block("text", text.strip("\n")),) if text.strip() else ()
