"""Changes between two texts of the same pages: counts by which noises differ.

Each count is a sum over the pages of a document, with the size that it is divided by: pages, characters or words of the
clean text, which no noise changes. So counts of several documents add up.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from rapidfuzz.distance import LCSseq

from ohr.contracts import Page
from ohr.markup.strip import strip_markup
from ohr.metrics.commands import KINDS, formatting_commands
from ohr.metrics.dose import Floats
from ohr.metrics.trust import compared
from ohr.text.distance import edits_between
from ohr.text.words import normalise, words

PAGES = ("pages absent", "pages added", "pages with another's text", "pages changed", "pages emptied")
_CHARACTERS = ("edit distance", "edit distance of the content")
_WORDS = (
    "words lost in order", "words lost as scored", "words moved", "words misread", "words invented",
    "single words lost", "words lost in runs of 10", "numbers lost",
)  # fmt: skip
_SIGNS = {
    "backslashes": "\\", "stars": "*", "hashes": "#", "underscores": "_", "dollars": "$", "line breaks": "\n",
    "bars": "|", "ampersands": "&", "tags": "<",
}  # fmt: skip
_COUNTED = (*(f"{kind} commands" for kind in KINDS), *_SIGNS, "capitals")
FEATURES = (
    *PAGES,
    *_CHARACTERS,
    *_WORDS,
    *(f"{name} added" for name in _COUNTED),
    *(f"{name} removed" for name in _COUNTED),
)
"""Names of the counts, in the order of the columns."""

LEAST = np.array([0.5] * len(PAGES) + [20.0] * len(_CHARACTERS) + [2.0] * (len(FEATURES) - len(PAGES) - 2))
"""Counts that a difference of two or three edits comes to: smaller differences count for nothing."""

_LONG = 10
"""Words of a long run, as in the profile of a channel."""


@dataclass(frozen=True)
class CleanPage:
    """A page of the clean text, with what it is compared by."""

    index: int
    text: str

    @cached_property
    def content(self) -> str:
        """The text without markup."""
        return strip_markup(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the content."""
        return words(self.content)

    @cached_property
    def scored(self) -> list[str]:
        """The words as the published scores have them: a command glues to its word."""
        return normalise(self.text).split()

    @cached_property
    def counted(self) -> Floats:
        """How many commands and signs the page has."""
        return _counted(self.text)


def changes(clean: Sequence[CleanPage], noisy: Mapping[int, str]) -> Floats:
    """Count what changed in the pages of a document: (len(FEATURES),).

    Args:
        clean: the document's pages.
        noisy: the text of each page that the noisy side has. A text that is another page's of the clean side, sign by
            sign, counts as that only.
    """
    known = {page.text: page.index for page in reversed(clean)}
    total = np.zeros(len(FEATURES))
    total[1] = len(noisy.keys() - {page.index for page in clean})
    for page in clean:
        text = noisy.get(page.index)
        if text is None:
            total[0] += 1
        elif text != page.text:
            total[3] += 1
            total[4] += not text.strip()
            if text.strip() and text in known:
                total[2] += 1
            else:
                total[len(PAGES) :] += _of_page(page, text)
    return total


def sizes(clean: Sequence[CleanPage]) -> Floats:
    """Return what the counts of a document are divided by: (len(FEATURES),)."""
    characters = [sum(len(page.text) for page in clean), sum(len(page.content) for page in clean)]
    count = sum(len(page.words) for page in clean)
    return np.array([len(clean)] * len(PAGES) + characters + [count] * (len(FEATURES) - len(PAGES) - 2), dtype=float)


def _of_page(page: CleanPage, text: str) -> Floats:
    content = strip_markup(text)
    distances = [edits_between(page.text, text), edits_between(page.content, content)]
    apart = _counted(text) - page.counted
    return np.array([*distances, *_words(page, text, content), *np.maximum(apart, 0), *np.maximum(-apart, 0)])


def _words(page: CleanPage, text: str, content: str) -> list[float]:
    read, lost = words(content), np.ones(len(page.words), dtype=bool)
    for start, _, size in LCSseq.editops(page.words, read).as_matching_blocks():
        lost[start : start + size] = False
    scored = len(page.scored) - LCSseq.similarity(page.scored, normalise(text).split())
    gone = [word for word, is_lost in zip(page.words, lost.tolist(), strict=True) if is_lost]
    # what stays is in order in both; so more of a word than that was read elsewhere
    spare = Counter(read) - (Counter(page.words) - Counter(gone))
    runs = [len(list(run)) for is_lost, run in groupby(lost.tolist()) if is_lost]
    fates = Counter(compared(read, page.words).fates) if gone or len(read) != len(page.words) else Counter[str]()
    return [
        len(gone),
        scored,
        (Counter(gone) & spare).total(),
        fates["misread"],
        fates[""],
        runs.count(1),
        sum(run for run in runs if run >= _LONG),
        sum(any(map(str.isdigit, word)) for word in gone),
    ]


def _counted(text: str) -> Floats:
    commands = formatting_commands(text)
    signs = (text.count(sign) for sign in _SIGNS.values())
    return np.array([*(commands[kind] for kind in KINDS), *signs, sum(map(str.isupper, text))], dtype=float)


def clean_pages(pages: Sequence[Page]) -> list[CleanPage]:
    """Return a document's pages that did not fail."""
    return [CleanPage(page.index, page.text) for page in pages if page.error is None]
