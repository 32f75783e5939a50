"""Floors: the scores of a text or an answer that knows nothing of the question."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from ohr.contracts import Page, Question
from ohr.metrics.dose import evidence_text
from ohr.metrics.lcs import lcs_of_words
from ohr.text.chinese import HAS_HAN
from ohr.text.words import words

CONSTANTS = (("yes", "是"), ("no", "否"))


class OtherPages:
    """The ground truth's pages that have text, from which read floors are drawn.

    Args:
        pages: by document, in order; a document's name starts with its domain and a slash.
    """

    def __init__(self, pages: Mapping[str, Sequence[Page]]) -> None:
        texts = {name: [page.text for page in pages[name] if page.text.strip()] for name in sorted(pages)}
        self.texts = {name: found for name, found in texts.items() if found}
        self._names = list(self.texts)
        self._domains: dict[str, list[str]] = defaultdict(list)
        for name in self.texts:
            self._domains[name.split("/")[0]].append(name)

    def near(self, question: Question) -> Sequence[str]:
        """Name the other documents of the question's domain; those of every domain where it has none."""
        return _Without(self._domains.get(question.domain, ()), question.document) or _Without(
            self._names, question.document
        )


class _Without(Sequence[str]):
    """Sorted names without one of them; no copy is made, since each question leaves another one out."""

    def __init__(self, names: Sequence[str], left_out: str) -> None:
        place = bisect_left(names, left_out)
        is_there = place < len(names) and names[place] == left_out
        self._names, self._place = names, place if is_there else len(names)
        self._size = len(names) - is_there

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        if not 0 <= place < self._size:
            raise IndexError(place)
        return self._names[place + (place >= self._place)]


def read_floor(
    question: Question,
    pages: OtherPages,
    noisy_length: int,
    rng: np.random.Generator,
    segment_chinese: bool = True,
) -> float:
    """Score text that the question is not about: the overlap that any text of the length of the retrieved one has.

    A page is drawn from another document of the same domain, else of any domain, and filled up with the pages that
    follow it (from the document's start again after its end). Blank pages are passed over. It is no chance level of a
    retriever: it takes for granted that the right page was found, and is 0 where it was not.

    Args:
        question: whose evidence is looked for.
        pages: the ground truth's.
        noisy_length: words (as `ohr.text.words` cuts them) that were retrieved of the question's own pages; the drawn
            text is cut to them.
        rng: the question's own draws, the same at every noise level, so that floors are coupled.
        segment_chinese: as in `lcs`.

    Edge cases: no other document has text, or evidence without a word -> nan; `noisy_length` 0 -> 0.
    """
    near = pages.near(question)
    if not near:
        return nan
    drawn = pages.texts[near[int(rng.integers(len(near)))]]
    start = int(rng.integers(len(drawn)))
    found: list[str] = []
    for step in range(len(drawn)):
        if len(found) >= noisy_length:
            break
        found += words(drawn[(start + step) % len(drawn)], segment_chinese)
    return lcs_of_words(found[:noisy_length], words(evidence_text(question), segment_chinese))


def constant_answers(questions: Sequence[Question], score: Callable[[str, Question], float]) -> list[str]:
    """Return the constant answer, yes or no, that does best over all questions, in each question's language.

    One choice for all questions: the best for each question would fit noise and be above what anyone could score.

    Args:
        questions: to be answered.
        score: of an answer to a question; nan where it is undefined, which counts for neither answer.

    Edge cases: `yes` where both do equally well, or where no score is defined.
    """
    choices = [[chinese if HAS_HAN.search(q.text) else english for q in questions] for english, chinese in CONSTANTS]
    return max(choices, key=lambda words: _mean([score(word, q) for word, q in zip(words, questions, strict=True)]))


def _mean(scores: Sequence[float]) -> float:
    defined = [score for score in scores if not np.isnan(score)]
    return sum(defined) / len(defined) if defined else -np.inf
