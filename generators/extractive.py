"""A baseline without a model: the best span of the best sentence."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from typing import Literal

from ohr.contracts import Completion, Generator, Prompt
from ohr.sentences import sentence_spans
from ohr.text import words

_NUMERIC = re.compile(
    r"\b(?:how (?:many|much|long|old|far|high|large|big|deep|wide|heavy|often)|what (?:year|percentage|share|number|amount|price|rate|value|total|fee|cost)|when)\b|多少|几|何时"
)
_YES_NO = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should)\b|吗")
_NUMBER = re.compile(r"[-+]?[$€£¥]?\d[\d,]*(?:\.\d+)?(?:\s?(?:%|[A-Za-z°µ]+(?:/[A-Za-z]+)?|[元亿万年月日人]))?")
_STOP = frozenset(
    "what which who whom whose when where why how many much of in on at to for by from with and or is are was were do "
    "does did has have had be been it its that this these those as into per than then there".split()
)
_CELLS = re.compile(r"\s*(?:&|\\\\|\\hline|\t|\|)\s*")


class Extractive(Generator):
    """Picks the sentence (or table row) that shares most rare words with the question, and a span of it.

    A baseline, not a reader: questions of quantity get the number that stands nearest to the question's words, yes/no
    questions get `yes`, other questions the longest run of words that the question does not contain. It needs no model
    and answers thousands of questions a second, so noise curves can be drawn anywhere; its scores are low and say
    nothing about language models.
    """

    kind: Literal["extractive"] = "extractive"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt from its passages."""
        for prompt in prompts:
            answer = _answer(prompt.question, prompt.passages)
            yield Completion(answer, len(prompt.user.split()), len(answer.split()))


def _answer(question: str, passages: Sequence[str]) -> str:
    if _YES_NO.search(question.lower()):
        return "yes"
    units = [unit for passage in passages for unit in _units(passage)]
    asked = {word for word in words(question) if word not in _STOP}
    if not units or not asked:
        return ""
    bags = [Counter(words(unit)) for unit in units]
    spread = Counter(word for bag in bags for word in bag)
    rarity = {word: log(1 + len(units) / spread[word]) for word in asked if word in spread}
    scores = [sum(rarity.get(word, 0.0) for word in bag) / (1 + 0.01 * bag.total()) for bag in bags]
    best = max(range(len(units)), key=scores.__getitem__)
    if _NUMERIC.search(question.lower()):
        return _nearest_number(units[best], asked) or _longest_new_run(units[best], asked)
    return _longest_new_run(units[best], asked)


def _units(passage: str) -> Iterator[str]:
    """Cut a passage into sentences and table rows."""
    for start, end in sentence_spans(passage):
        sentence = passage[start:end]
        if "&" in sentence or "\\\\" in sentence:
            yield from (row for row in sentence.split("\n") if row.strip())
        else:
            yield " ".join(sentence.split())


def _nearest_number(unit: str, asked: set[str]) -> str:
    """Give the number whose neighbours share most words with the question; the first of equals."""
    best, answer = -1.0, ""
    for match in _NUMBER.finditer(unit):
        if set(words(match[0])) <= asked:
            continue
        around = words(unit[max(0, match.start() - 60) : match.end() + 40])
        score = sum(word in asked for word in around)
        if score > best:
            best, answer = score, match[0].strip()
    return answer


def _longest_new_run(unit: str, asked: set[str]) -> str:
    """Give the longest run of at most eight words without a word of the question; in a table, of whole cells."""
    if "&" in unit:
        cells = [cell for cell in _CELLS.split(unit) if cell.strip() and not set(words(cell)) & asked]
        return max(cells, key=len, default="").strip()
    runs: list[list[str]] = [[]]
    for token in unit.split():
        if set(words(token)) & asked:
            runs.append([])
        else:
            runs[-1].append(token)
    best = max(runs, key=lambda run: sum(word.lower() not in _STOP for word in run))
    while best and best[0].lower() in _STOP:
        best = best[1:]
    return " ".join(best[:8]).strip(" ,;:.。，")
