"""The ground truth as rules search it: where a passage is on a page, and how many documents have a word."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from ohr.contracts import Page, PageId, Span
from ohr.markup.regions import Region, regions
from ohr.text.chinese import HAS_HAN
from ohr.text.porter import stem
from ohr.text.unspaced import HAS_UNSPACED
from ohr.text.whole_words import whole_words
from ohr.text.words import words

_RARE_SHARE, _RARE = 0.1, 2
"""A word is rare if at most this share of the documents has it, or this many where there are few documents."""
_KEY = 24
"""Letters at the beginning of a passage by which all documents are searched for it at once."""

_NUMBER = re.compile(r"(?:(?<![\w.,)])[-\u2212])?\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?!\d))")
_NUMBER_BEFORE, _NUMBER_AFTER = re.compile(r"[0-9][.,]?\Z"), re.compile(r"[.,]?[0-9]")


class Letters(NamedTuple):
    """Letters and digits of a text without case, accents composed or not, and the place of each in the text."""

    text: str
    places: Sequence[int]


def letters(text: str) -> Letters:
    """Return what is compared of a text: white space, punctuation, line ends and signs of markup do not count."""
    signs = [(form, place) for place, sign in enumerate(text) for form in _forms(sign)]
    return Letters("".join(form for form, _ in signs), [place for _, place in signs])


@cache
def _forms(sign: str) -> str:
    plain = unicodedata.normalize("NFKD", sign).casefold()
    return "".join(form for form in plain if form.isalnum() or unicodedata.category(form)[0] == "M")


def numbers(text: str) -> list[str]:
    """Return the numbers of a text with their points and signs; those of thousands do not count."""
    return [_THOUSANDS.sub("", number).replace("\u2212", "-") for number in _NUMBER.findall(text)]


def firsts(truth: Mapping[str, Sequence[Page]]) -> dict[str, str]:
    """Map each document to the first one with the same text on all pages, often itself; white space does not count."""
    by_text: dict[object, str] = {}
    first = {}
    for name in truth:
        pages = [(page.index, "" if page.error else "".join(page.text.split())) for page in truth[name]]
        has_text = any(text for _, text in pages)
        first[name] = by_text.setdefault(tuple(pages), name) if has_text else name
    return first


class Texts:
    """Searches the ground truth.

    Args:
        truth: pages by document; a failed page has no text.
    """

    def __init__(self, truth: Mapping[str, Sequence[Page]]) -> None:
        self.truth = truth
        self.pages: dict[PageId, str] = {
            (name, page.index): "" if page.error else page.text for name in truth for page in truth[name]
        }
        self._regions: dict[PageId, list[Region]] = {}

    @cached_property
    def letters(self) -> Mapping[PageId, Letters]:
        """The letters of each page."""
        return {page: letters(text) for page, text in self.pages.items()}

    @cached_property
    def firsts(self) -> Mapping[str, str]:
        """Of documents with the same text, the first one, by each of them: whoever finds one has found the others."""
        return firsts(self.truth)

    @cached_property
    def different(self) -> int:
        """How many documents have a text of their own."""
        return len(set(self.firsts.values()))

    @cached_property
    def documents(self) -> Mapping[str, str]:
        """The letters of each document; pages are parted by a line end, over which no passage reaches."""
        return {
            name: "\n".join(self.letters[name, page.index].text for page in self.truth[name]) for name in self.truth
        }

    @cached_property
    def holders(self) -> Mapping[str, frozenset[str]]:
        """The documents that have each word, by its stem; of documents with the same text the first one."""
        names: dict[str, set[str]] = {}
        for (name, _), text in self.pages.items():
            for word in stems(text) if self.firsts[name] == name else ():
                names.setdefault(word, set()).add(name)
        return {word: frozenset(those) for word, those in names.items()}

    def is_rare(self, word: str) -> bool:
        """Report whether few of the documents, but at least one, have a word; it is given as its stem."""
        return 0 < len(self.holders.get(word, ())) <= max(_RARE, _RARE_SHARE * self.different)

    def span(self, document: str, page: int, passage: str) -> Span | None:
        """Return the characters of a page that hold a passage, the first ones where several do; None where none does.

        A passage is there if its letters and digits are, one after the other, and neither end is between two letters of
        a word. The signs at its ends belong to the span where the page has the same ones. Where an end is inside a
        word or number nevertheless, as `1.` of `1.2`, the span has all of it.
        """
        text = self.pages.get((document, page), "")
        if not text or not letters(passage).text:
            return None
        first = None
        for place in _occurrences(self.letters[document, page], letters(passage).text):
            if any(_inside_word(text, end) for end in place):
                continue
            span = _with_signs(text, place, passage)
            whole = whole_words(text, *span)
            if whole == span:
                return span
            first = first or whole
        return first

    def regions(self, document: str, page: int) -> Sequence[Region]:
        """Return the regions of a page's markup."""
        place = (document, page)
        if place not in self._regions:
            self._regions[place] = regions(self.pages.get(place, ""))
        return self._regions[place]

    def documents_with(self, passages: Sequence[str]) -> Sequence[frozenset[str]]:
        """Return for each passage the documents that have its letters on one page; each text is read once for all."""
        wanted = [letters(passage).text for passage in passages]
        keys = {text[:_KEY] for text in wanted if len(text) >= _KEY}
        begun: dict[str, set[str]] = {key: set() for key in keys}
        for name, text in self.documents.items():
            for key in {text[at : at + _KEY] for at in range(len(text) - _KEY + 1)} & keys:
                begun[key].add(name)
        return [
            frozenset(name for name in begun.get(text[:_KEY], self.documents) if text and text in self.documents[name])
            for text in wanted
        ]


def stems(text: str) -> Iterator[str]:
    """Yield the words of a text as they are compared: in lower case, without English endings."""
    return map(stem, words(text))


def holds_number(text: str, part: str) -> bool:
    """Report whether a text has another one's letters where no number continues at an end of them: 1.2 has no 1."""
    places = _occurrences(letters(text), letters(part).text)
    return any(
        not any(_NUMBER_BEFORE.search(text[:end][-2:]) and _NUMBER_AFTER.match(text, end) for end in place)
        for place in places
    )


def _occurrences(held: Letters, wanted: str) -> Iterator[Span]:
    """Yield the characters of a text that have the wanted letters, from the first letter to the last."""
    at = held.text.find(wanted) if wanted else -1
    while at >= 0:
        yield held.places[at], held.places[at + len(wanted) - 1] + 1
        at = held.text.find(wanted, at + 1)


def _with_signs(text: str, span: Span, passage: str) -> Span:
    """Return the characters of a passage's letters with the signs at its ends, where the text has the same ones."""
    (start, end), places = span, letters(passage).places
    before, after = passage[: places[0]].lstrip(), passage[places[-1] + 1 :].rstrip()
    start -= len(before) if text[:start].endswith(before) else 0
    return start, end + (len(after) if text.startswith(after, end) else 0)


def _inside_word(text: str, place: int) -> bool:
    """Report whether a place parts a word or number; in scripts without spaces none does."""
    if not 0 < place < len(text):
        return False
    around = text[place - 1 : place + 1]
    return around.isalnum() and not (HAS_HAN.search(around) or HAS_UNSPACED.search(around))
