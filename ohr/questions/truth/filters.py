"""Pages that no question is written about: each filter has a name, and says why it leaves a page out."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from ohr.contracts import Page, PageId
from ohr.markup.strip import strip_markup
from ohr.messages.wording import counted
from ohr.text.language import language
from ohr.text.words import words

from .page_kinds import kind_of_list

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


class _Look(NamedTuple):
    """A page as filters look at it: its text as it is and without markup, and its number of words."""

    page: Page
    plain: str
    words: int
    language: str | None


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
        look = _Look(page, plain, len(words(plain)), language(plain) or languages.get(page.document))
        reasons = ((name, reason(look)) for name, reason in _FILTERS.items())
        name, why = next(((name, why) for name, why in reasons if why), ("", ""))
        if not why:
            first = firsts.setdefault(_body(page.text), (page.document, page.index))
            if first != (page.document, page.index):
                name, why = "repeated", f"it repeats page {first[1] + 1} of {first[0]}"
        if why:
            yield LeftOut(page.document, page.index, name, why)


def _few_words(look: _Look) -> str:
    return f"it has {counted(look.words, 'word')}" if look.words < _LEAST_WORDS else ""


def _few_letters(look: _Look) -> str:
    signs = "".join(look.plain.split())
    share = sum(map(str.isalpha, signs)) / len(signs)
    return f"{share:.0%} of its signs are letters" if share < _LEAST_LETTERS else ""


def _other_language(look: _Look) -> str:
    supported = look.language in (None, *LANGUAGES)
    return "" if supported else f"language {look.language} is not supported: questions are in {' and '.join(LANGUAGES)}"


def _list(look: _Look) -> str:
    kind = kind_of_list(look.page.text, look.words)
    return f"it is {kind}" if kind else ""


_FILTERS: Mapping[str, Callable[[_Look], str]] = {
    "few_words": _few_words,
    "few_letters": _few_letters,
    "language": _other_language,
    "list": _list,
}


def _body(text: str) -> bytes:
    """Hash the letters and digits of a page without its first and last line, where it has others."""
    lines = [line for line in text.splitlines() if line.strip()]
    body = lines[_RUNNING:-_RUNNING] if len(lines) > 4 * _RUNNING else lines
    return sha256(re.sub(r"\W+", "", " ".join(body)).casefold().encode("utf-8", "surrogatepass")).digest()
