"""Pages that no question is written about: each filter has a name, and says why it leaves a page out."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from ohr.contracts import Page, PageId
from ohr.markup.strip import strip_markup
from ohr.messages.wording import counted
from ohr.text.language import language
from ohr.text.words import words

_LETTERS = re.compile(r"[^\W\d_]{3}|[\u4e00-\u9fff]")
_LINE = re.compile(r"\n|\\\\")
_ENTRIES, _SHARE = 5, 0.5
"""A list has at least so many entries, and they are at least this share of the page's lines with words."""

_PAGE_NUMBER = re.compile(r"\D\s*[.…·&|,$]*\s*(\d{1,4})[\s|$]*$")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBERS = 3
"""Most numbers in a line of a table of contents: more are a row of a table."""
_ASCENDING = 0.9
"""Least share of the page numbers that do not fall."""

_INDEX = re.compile(r"^[^&\\]*[^\W\d_]{2}[^&\\]*?(?:,\s+\d{1,4}(?:\s*[-–]\s*\d{1,4})?)+$")

_REFERENCE = re.compile(
    r"\s*(?:\[\d{1,3}\]\s|\d{1,3}\.\s+[A-Z][\w'’-]+,?\s+[A-Z]{1,3}\b|[A-Z][\w'’-]+,\s+[A-Z]\.|[A-Z][\w'’-]+\s+[A-Z]{1,3},\s)"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d")
_REFERENCE_WORDS = 60
"""Most words for each entry of a list of references and each of its years, on average over the page."""


def kind_of_list(text: str, words: int) -> str:
    """Return which list a page is, in words, or nothing for one that is none; of OHRBench's 8,046 pages 125 are one."""
    lines = [line.strip() for line in _LINE.split(text) if _LETTERS.search(line)]
    if _is_contents(lines):
        return "a table of contents"
    if _is_many(sum(bool(_INDEX.match(line)) for line in lines), lines):
        return "an index"
    references = min(sum(bool(_REFERENCE.match(line)) for line in lines), len(_YEAR.findall(text)))
    if references >= _ENTRIES and references * _REFERENCE_WORDS >= words:
        return "a list of references"
    return ""


def _is_contents(lines: Sequence[str]) -> bool:
    """Report whether most lines end in a page number, and the numbers ascend."""
    endings = [
        int(match[1])
        for line in lines
        if (match := _PAGE_NUMBER.search(line)) and len(_NUMBER.findall(line)) <= _NUMBERS
    ]
    if not _is_many(len(set(endings)), lines):
        return False
    return sum(here <= following for here, following in pairwise(endings)) >= _ASCENDING * (len(endings) - 1)


def _is_many(entries: int, lines: Sequence[str]) -> bool:
    return entries >= _ENTRIES and entries >= _SHARE * len(lines)


LANGUAGES = ("en", "zh")
"""Languages in which questions are written."""
_LEAST_WORDS = 50
"""Of the 1,359 pages that OHRBench's first version asks about, 3 have fewer words, and 990 of its 9,036 pages."""
_LEAST_LETTERS = 0.2
"""Share of letters among all signs. 3 of those 1,359 pages have less, each of them a table of numbers without words."""
_RUNNING = 1
"""Lines at the top and the bottom of a page that may differ in a page that repeats another: title and number."""


class LeftOut(NamedTuple):
    """A page that no question is written about; `filter` names why in a word, `reason` in a sentence."""

    document: str
    page: int
    filter: str
    reason: str


def left_out(
    pages: Iterable[Page], languages: Mapping[str, str], copies: Mapping[str, str] = MappingProxyType({})
) -> Iterator[LeftOut]:
    """Yield the pages that no question is written about, each with the first filter that leaves it out.

    Args:
        pages: of all documents, in their order.
        languages: of documents, for pages whose own is not known.
        copies: documents with the text of another one, and that one.
    """
    firsts: dict[bytes, PageId] = {}
    for page in pages:
        if page.document in copies:
            yield LeftOut(page.document, page.index, "same_document", f"its document repeats {copies[page.document]}")
            continue
        plain = strip_markup(page.text)
        name, why = next(_reasons(page.text, plain, language(plain) or languages.get(page.document)), ("", ""))
        if not why:
            first = firsts.setdefault(_body(page.text), (page.document, page.index))
            if first != (page.document, page.index):
                name, why = "repeated", f"it repeats page {first[1] + 1} of {first[0]}"
        if why:
            yield LeftOut(page.document, page.index, name, why)


def _reasons(text: str, plain: str, code: str | None) -> Iterator[tuple[str, str]]:
    """Yield the filters that leave a page out, and why, from its text, that without markup, and its language."""
    number, signs = len(words(plain)), "".join(plain.split())
    if number < _LEAST_WORDS:
        yield "few_words", f"it has {counted(number, 'word')}"
    if (share := sum(map(str.isalpha, signs)) / len(signs)) < _LEAST_LETTERS:
        yield "few_letters", f"{share:.0%} of its signs are letters"
    if code not in (None, *LANGUAGES):
        yield "language", f"language {code} is not supported: questions are in {' and '.join(LANGUAGES)}"
    if kind := kind_of_list(text, number):
        yield "list", f"it is {kind}"


def _body(text: str) -> bytes:
    """Hash the letters and digits of a page without its first and last line, where it has others."""
    lines = [line for line in text.splitlines() if line.strip()]
    body = lines[_RUNNING:-_RUNNING] if len(lines) > 4 * _RUNNING else lines
    return sha256(re.sub(r"\W+", "", " ".join(body)).casefold().encode("utf-8", "surrogatepass")).digest()
