"""A baseline without a model: the sentence that shares the most words with the question, or a figure in it."""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import ClassVar

from ohr.contracts import Completion, Generator, Prompt
from ohr.markup.strip import strip_markup
from ohr.text.chinese import HAN, HAS_HAN
from ohr.text.sentences import sentence_spans
from ohr.text.words import IN_WORD, words

_ROW_END = re.compile(r"\\\\|</tr>|\n(?=[|#$])|(?<=\|)\n")
"""Ends a table row, a heading, or a formula: no full stop does."""
_YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should)\b"
    "|吗|是否|是不是|有没有|能否|可否|会不会"
)
_NEGATION = re.compile(r"\b(?:no|not|never|none|neither|nor|without)\b|n't\b|[不无未没非]")
_DATE_ASKED = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:\w+ )?(?:year|date|day|month|time)\b|哪一?[年月天日]|几[月日]|何时|什么时"
)
_NUMBER_ASKED = re.compile(
    r"\bhow (?:many|much|long|old|far|high|large|big|deep|wide|heavy|often|tall|fast)\b|percentage"
    r"|\b(?:share|proportion|number|amount|price|rate|ratio|value|total|fee|cost|sum|level|limit|weight|length|height"
    r"|depth|area|size)\b|多[少大高长久远深宽重]|几"
)
_MONTH = r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATE = re.compile(
    rf"(?:\d\d? )?{_MONTH}(?: \d\d?\b)?(?:,? \d{{4}}\b)?|\b(?:1\d|20)\d\d\b(?![,.]\d)"
    r"|(?:\d{4}年)?\d\d?月(?:\d\d?日)?|\d{4}年"
)
_WORDED = (
    "(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?|(?:thir|four|fif|six|seven|eigh|nine)teen"
    "|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|hundred)"
)
_NO_UNIT = "per|of|in|and|to|on|for|by|at|or|the|with|as|from|is|are|was|were|a"
_NUMBER = re.compile(
    rf"(?:(?<![A-Za-z0-9_.])[€£$¥]?\s?\d+(?:[.,:]\d+)*|\b{_WORDED}\b)(?: (?:million|billion|thousand))?"
    rf"(?:\s?%| per ?cent| (?!(?:{_NO_UNIT})\b)[a-z]+|[{HAN}])?"
)
"""A number in figures or words, with the sign of its currency or the word of its unit."""
_WITHOUT_FIGURE = 0.7
"""Weight of a sentence without a digit where a figure is asked for: few of them answer, in words."""


class Extractive(Generator, kind="extractive"):
    """Answers with the sentence (or table row) that shares the most rare words with the question.

    A baseline, not a reader. A question about a time gets the date in that sentence that is nearest to a word of the
    question, one about a quantity the nearest number, and a yes/no question `yes`, or `no` where the sentence has a
    negation. It needs no model and answers hundreds of questions a second, so that noise curves can be drawn anywhere.
    Its scores are low and say nothing about language models.
    """

    version: ClassVar[int] = 4

    def size_of(self, prompt: Prompt) -> int:
        """Return the words of the user's message."""
        return len(prompt.user.split())

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt from its passages."""
        for prompt in prompts:
            answer = _answer(prompt.question, prompt.passages)
            yield Completion(answer, self.size_of(prompt), len(answer.split()))


def _answer(question: str, passages: Sequence[str]) -> str:
    lower = question.lower()
    figure = _DATE if _DATE_ASKED.search(lower) else _NUMBER if _NUMBER_ASKED.search(lower) else None
    asked = dict.fromkeys(words(question))  # in the question's order, so that sums agree between processes
    found = [sentence for passage in passages for sentence in _sentences(passage)]
    if not asked or not found:
        return ""
    best = _best(asked, found, wants_figure=figure is not None)
    if _YES_NO.search(lower):
        yes, no = ("是", "否") if HAS_HAN.search(question) else ("yes", "no")
        return no if _NEGATION.search(best.lower()) else yes
    return (_nearest(figure, best, asked) if figure else "") or best


def _sentences(passage: str) -> Iterator[str]:
    for start, end in sentence_spans(passage):
        yield from filter(None, map(strip_markup, _ROW_END.split(passage[start:end])))


def _best(asked: Mapping[str, None], sentences: Sequence[str], *, wants_figure: bool) -> str:
    """Return the sentence whose words in common with the question have the largest sum of inverse frequencies."""
    shared = [asked.keys() & words(sentence) for sentence in sentences]
    frequency = Counter(word for held in shared for word in held)
    weights = {word: log(1 + len(sentences) / (1 + frequency[word])) for word in asked}
    scores = [
        sum(weight for word, weight in weights.items() if word in held)
        * (_WITHOUT_FIGURE if wants_figure and not re.search(r"\d", sentence) else 1)
        for sentence, held in zip(sentences, shared, strict=True)
    ]
    return sentences[scores.index(max(scores))]


def _nearest(figure: re.Pattern[str], sentence: str, asked: Mapping[str, None]) -> str:
    """Return the figure that is nearest to a word of the question and not in the question itself, if there is one."""
    anchors = [
        each.start() for each in re.finditer(rf"{IN_WORD}+", sentence) if not asked.keys().isdisjoint(words(each[0]))
    ]

    def distance(match: re.Match[str]) -> float:
        middle = sum(match.span()) / 2
        after = bisect(anchors, middle)
        return min((abs(middle - anchor) for anchor in anchors[max(after - 1, 0) : after + 1]), default=0.0)

    found = [each for each in figure.finditer(sentence) if not asked.keys() >= {*words(each[0])}]
    return min(found, key=distance)[0].strip() if found else ""
