"""Queries for pages that have none: known items, written from the ground truth without a model.

Of each page the sentences, and the rows of its tables, whose rarest words are in the fewest pages, though in two at
least: what is in one alone is mostly a slip of the truth. The query is those words in the order of the page, the
evidence is the sentence or row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from operator import itemgetter
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
    """A passage to be found, and the words to look for.

    Args:
        number: counts those of a page and source.
        passage: without markup.
        written: the passage as the page has it; a row of a table in Markdown.
    """

    page: str
    source: Source
    number: int
    query: str
    passage: str
    written: str


def known_items(pages: Mapping[str, str]) -> Iterator[KnownItem]:
    """Yield the queries of some pages, by name, in Markdown; tables may have any notation."""
    texts = {name: with_tables_in(text, "markdown") for name, text in pages.items()}
    spread = Counter(word for text in texts.values() for word in set(words(strip_markup(text))))
    for name, text in texts.items():
        different = dict.fromkeys(_passages(text))
        for source, most in _MOST.items():
            fitting = []
            for written in (passage for kind, passage in different if kind == source):
                passage = strip_markup(written.replace("|", " ") if source == "table" else written)
                cut = words(passage)
                length = len(cut) if HAS_HAN.search(passage) else len(passage.split())
                query = _rarest(cut, spread) if _LEAST[source] <= length <= _LONGEST else []
                if len(query) == QUERY:
                    fitting.append((sum(log(spread[word]) for word in query), query, passage, written))
            fitting.sort(key=itemgetter(0))
            for number, (_, query, passage, written) in enumerate(fitting[:most]):
                yield KnownItem(name, source, number, " ".join(query), passage, written)


def _rarest(cut: Sequence[str], spread: Mapping[str, int]) -> list[str]:
    """Return the words that are in the fewest pages, but in two at least, in the order of the passage."""
    different = dict.fromkeys(cut)
    known = [word for word in different if spread[word] > 1 and len(word) > 2 - _is_han(word) and word.isalnum()]
    chosen = set(sorted(known, key=lambda word: (spread[word], word))[:QUERY])
    return [word for word in different if word in chosen]


def _is_han(word: str) -> bool:
    return HAS_HAN.match(word) is not None


def _passages(text: str) -> Iterator[tuple[Source, str]]:
    """Yield the rows of a page's tables, and the sentences around them."""
    yield from (("table", line) for line in text.splitlines() if line.startswith("|") and any(map(str.isalnum, line)))
    around = "\n".join("" if line.startswith("|") else line for line in text.splitlines())
    yield from (("text", around[start:end].strip()) for start, end in sentence_spans(around))
