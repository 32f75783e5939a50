"""Borders of pages in Markdown and text, as systems and scripts write them; a rule may be the page's own, and is none.

Without numbers: form feeds (Tesseract, pdftotext, LLMWhisperer), the page breaks of Azure, docling, pandoc and LaTeX,
DeepSeek-OCR's `<--- Page Split --->`. With numbers: Marker's `{0}` and 48 hyphens before a page, PyMuPDF4LLM's behind
one (`--- end of page=0 ---`, with its layout module `--- end of page.page_number=1 ---`, in earlier versions a rule of
five hyphens), MarkItDown's `<!-- Slide number: 1 -->`, LlamaParse's `START OF PAGE: 1`, the numbers that Nanonets-OCR
prints, and what scripts write: `--- Page 1 ---`, `<page_1>`, `## Page 1`, `[Page 1]`.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence

from ohr.files import MOST_PAGES
from ohr.markup.fences import code_blocks

from .values import page_number

_MARKER = re.compile(r"^\{(\d{1,6})\}-{48}[ \t]*$", re.MULTILINE)
_END = re.compile(r"^-{3} end of page=(\d{1,6}) -{3}[ \t]*$", re.MULTILINE)
_END_FROM_1 = re.compile(r"^-{3} end of page\.page_number=(\d{1,6}) -{3}[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(
    r"^[ \t]{0,3}(?P<opening>[^\w\s]{0,99})[ \t]{0,9}(?:(?P<role>start|begin|end)[ _-]of[ _-])?"
    r"(?:page|slide|seite|p[aá]gina|第)(?:[ _]number|[ _]no\.?)?[ \t]{0,9}[:=_]?[ \t]{0,9}(?P<number>\d{1,6})"
    r"(?:[ \t]{0,9}[页頁])?(?:[ \t]{0,9}(?:/|of|von|de)[ \t]{0,9}\d{1,6})?[ \t]{0,9}(?P<closing>[^\w\s]{0,99})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PRINTED = re.compile(
    r"^[ \t]{0,3}<page_number>(?P<number>\d{1,6})(?:/\d{1,6})?</page_number>[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_RULE = re.compile(r"\n\n-----[ \t]*(?:\n|\Z)")
SPLIT = r"<-{3}\s*page split\s*-{3}>"
"""Regular expression of DeepSeek-OCR's separator."""
_BREAK = re.compile(
    rf"(?:<<<\s*)?\f|<!--\s*(?:end[ _-]of[ _-]page|page[ _-]?break)\s*-->|{SPLIT}"
    r"|^[ \t]{0,3}(?:(?P<rule>-{3}|={3})[-=]{0,99} ?page[ _-]?break ?(?P=rule)[-=]{0,99}|\[page[ _-]?break\]"
    r"|<page[_-]?break ?/?>|(?P<command>\\(?:newpage|pagebreak|clearpage)(?:\{\})?)"
    r"|<div style=\"(?:page-)?break-(?:after|before): ?(?:always|page);?\"> ?</div>)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


def pages_of(text: str) -> dict[int, str]:
    """Cut a text at its borders: the pages' texts by number, from 0. Without borders it is one page."""
    text = text.replace("\frac{", "\\frac{")  # as Marker writes LaTeX whose backslash was taken for an escape
    return _numbered(text) or dict(enumerate(_parted(text)))


def _numbered(text: str) -> dict[int, str]:
    """Return the pages between marks with numbers, which come before or behind a page; nothing without such marks."""
    if marks := list(_MARKER.finditer(text)):
        pages = _before(text, [(page_number(int(mark[1])), mark) for mark in marks])
        first = page_number(int(marks[0][1]))
        return pages | {first: text[: marks[0].start()] + pages[first]}
    for form, first in ((_END, 0), (_END_FROM_1, 1)):
        if marks := list(form.finditer(text)):
            return _behind(text, [(page_number(int(mark[1]), first), mark) for mark in marks])
    marks = list(_NUMBERED.finditer(text))
    certain = [mark for mark in marks if _is_certain(mark)]
    starts = [mark for mark in certain if not _is_end(mark)]
    if len(starts) < len(certain) and starts:  # both ends of each page are marked
        return {
            number: part[: end.start()] if (end := _NUMBERED.search(part)) else part
            for number, part in _ordered(text, starts).items()
        }
    if certain:
        return _ordered(text, certain)
    headings, printed = [mark for mark in marks if _is_heading(mark)], list(_PRINTED.finditer(text))
    if _are_all(headings) and not text[: headings[0].start()].strip():
        return _ordered(text, headings)
    return _ordered(text, printed) if _are_all(printed) and not text[printed[-1].end() :].strip() else {}


def _are_all(marks: Sequence[re.Match[str]]) -> bool:
    """Report whether marks that a page may have itself number all pages of a document, from 1 on."""
    return len(marks) > 1 and [int(mark["number"]) for mark in marks] == list(range(1, len(marks) + 1))


def _is_certain(mark: re.Match[str]) -> bool:
    """Report whether a line is no page's own: it is a comment, between rules or brackets, or says what it is."""
    opening, closing = mark["opening"], mark["closing"]
    if mark["role"] or (opening in ("<", "</") and closing == ">"):
        return True
    rules = len(opening) >= 3 and len(closing) >= 3 and len(set(opening)) == len(set(closing)) == 1
    return (opening, closing) == ("<!--", "-->") or (rules and opening[0] in "-=*_~<" and closing[0] in "-=*_~>")


def _is_heading(mark: re.Match[str]) -> bool:
    opening, closing = mark["opening"], mark["closing"]
    return (opening.strip("#") == "" != opening and closing in ("", ":")) or opening + closing in ("[]", "****")


def _is_end(mark: re.Match[str]) -> bool:
    about = mark.groupdict()
    return (about.get("role") or "").lower() == "end" or about.get("opening") == "</"


def _ordered(text: str, marks: Sequence[re.Match[str]]) -> dict[int, str]:
    """Return the pages of marks whose numbers grow from the first page's; nothing else is a border."""
    numbers = [int(mark["number"]) for mark in marks]
    first = 0 if numbers[0] == 0 else 1
    if numbers[0] > 2 or numbers != sorted(set(numbers)) or numbers[-1] > MOST_PAGES:
        return {}  # of a page's own text
    numbered = [(number - first, mark) for number, mark in zip(numbers, marks, strict=True)]
    if _is_end(marks[0]) or (not text[marks[-1].end() :].strip() and text[: marks[0].start()].strip()):
        return _behind(text, numbered)
    pages = _before(text, numbered)
    if (before := text[: marks[0].start()]).strip() or 0 not in pages:
        pages[0] = before + pages.get(0, "")
    return _without_rules(dict(sorted(pages.items())))


def _before(text: str, marks: Sequence[tuple[int, re.Match[str]]]) -> dict[int, str]:
    """Return the pages that each begin with their mark."""
    ends = [*(mark.start() for _, mark in marks), len(text)][1:]
    return _joined((number, text[mark.end() : end]) for (number, mark), end in zip(marks, ends, strict=True))


def _joined(parts: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return pages by number; parts with the same number are one page."""
    pages: dict[int, list[str]] = defaultdict(list)
    for number, part in parts:
        pages[number].append(part)
    return {number: "".join(parts) for number, parts in pages.items()}


def _behind(text: str, marks: Sequence[tuple[int, re.Match[str]]]) -> dict[int, str]:
    """Return the pages that each end with their mark."""
    starts = [0, *(mark.end() for _, mark in marks)]
    pages = _joined((number, text[start : mark.start()]) for (number, mark), start in zip(marks, starts, strict=False))
    if text[starts[-1] :].strip():  # a page that was cut before its mark
        pages[max(pages) + 1] = text[starts[-1] :]
    return pages


def _without_rules(pages: dict[int, str]) -> dict[int, str]:
    """Remove the rule at the end of each page but the last: it belongs to the mark that follows."""
    bodies = [text.rstrip() for text in pages.values()]
    lasts = [body[body.rfind("\n") + 1 :] for body in bodies]
    if len(pages) < 2 or not all(_is_rule(line) for line in lasts[:-1]):
        return pages
    return {
        number: body[: -len(line)] if _is_rule(line) else body
        for number, body, line in zip(pages, bodies, lasts, strict=True)
    }


def _is_rule(line: str) -> bool:
    return len(line) >= 3 and len(set(line)) == 1 and line[0] in "-*_="


def _parted(text: str) -> list[str]:
    """Return the pages between marks without numbers."""
    pieces = list(_pieces(text))
    if len(pieces) == 1 and (rules := _RULE.split(text))[-1].strip() == "":  # each page ends with one, the last, too
        pieces = rules
    if len(pieces) > 1 and not pieces[-1].strip():  # the mark ends a page, it does not begin one
        pieces.pop()
    elif not pieces[0].strip() and (mark := _BREAK.search(text)) and mark[0].startswith("<-"):
        pieces.pop(0)  # before each page, as some scripts around DeepSeek-OCR write it
    return pieces


def _pieces(text: str) -> Iterator[str]:
    start, length = 0, len(text.strip())
    # a fence around all pages is not one of a page
    blocks = deque(block for block in code_blocks(text, 0, len(text)) if block[1] - block[0] < length)
    for mark in _BREAK.finditer(text):
        while blocks and blocks[0][1] < mark.start():
            blocks.popleft()
        if mark["command"] and blocks and blocks[0][0] < mark.start():
            continue  # LaTeX that a page shows
        yield text[start : mark.start()]
        start = mark.end()
    yield text[start:]
