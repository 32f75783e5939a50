"""Queries for pages that have none: known items, written from the ground truth without a model.

Of each page the sentences, and the rows of its tables, whose rarest words are in the fewest pages, though in two at
least: what is in one alone is mostly a slip of the truth. The query is those words in the order of the page, the
evidence is the sentence or row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import log
from typing import Literal, NamedTuple

from ohr.markup.convert import with_tables_in
from ohr.markup.strip import strip_markup
from ohr.text.chinese import HAS_HAN
from ohr.text.sentences import sentence_spans
from ohr.text.words import words

Source = Literal["text", "table"]

QUERY = 4
"""Words of a query."""
_MOST: Mapping[Source, int] = {"text": 3, "table": 4}
"""Queries of a page."""
_LEAST, _LONGEST = {"text": 8, "table": 4}, 60
"""Words of a sentence or row: shorter ones have too little to look for, longer ones are more than a passage."""


class KnownItem(NamedTuple):
    """A passage to be found, and the words to look for; `number` counts those of a page and source."""

    page: str
    source: Source
    number: int
    query: str
    passage: str


def known_items(pages: Mapping[str, str]) -> Iterator[KnownItem]:
    """Yield the queries of some pages, by name, in Markdown; tables may have any notation."""
    texts = {name: with_tables_in(text, "markdown") for name, text in pages.items()}
    spread = Counter(word for text in texts.values() for word in set(words(strip_markup(text))))

    def rarest(passage: str) -> list[str]:
        known = {word for word in words(passage) if len(word) > 2 - _is_han(word) and word.isalnum()}
        chosen = sorted((word for word in known if spread[word] > 1), key=lambda word: (spread[word], word))[:QUERY]
        return [word for word in dict.fromkeys(words(passage)) if word in chosen]

    for name, text in texts.items():
        for source, most in _MOST.items():
            different = dict.fromkeys(passage for kind, passage in _passages(text) if kind == source)
            fitting = [
                passage
                for passage in different
                if _LEAST[source] <= _length(passage) <= _LONGEST and len(rarest(passage)) == QUERY
            ]
            fitting.sort(key=lambda passage: sum(log(spread[word]) for word in rarest(passage)))
            for number, passage in enumerate(fitting[:most]):
                yield KnownItem(name, source, number, " ".join(rarest(passage)), passage)


def _is_han(word: str) -> bool:
    return HAS_HAN.match(word) is not None


def _length(passage: str) -> int:
    return len(words(passage)) if HAS_HAN.search(passage) else len(passage.split())


def _passages(text: str) -> Iterator[tuple[Source, str]]:
    """Yield the rows of a page's tables, and the sentences around them, without markup."""
    rows = [line for line in text.splitlines() if line.startswith("|") and any(map(str.isalnum, line))]
    yield from (("table", strip_markup(row.replace("|", " "))) for row in rows)
    around = "\n".join("" if line.startswith("|") else line for line in text.splitlines())
    yield from (("text", strip_markup(around[start:end])) for start, end in sentence_spans(around))
