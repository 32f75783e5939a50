"""Answers to TableQuest: read from a reply, and compared with the gold answer without a judge.

The paper reports an accuracy for the levels easy and medium and does not say how it was measured; the rules here are
our choice. They decide what can be decided safely, name the rule that did, and leave the rest to a judge.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from json import JSONDecoder, dumps
from math import nan
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from .figures import Figure, agree, figures

Correctness = Literal["correct", "wrong", "undecided"]
Rule = Literal["empty", "equality", "number", "yes_no", "containment", "judge"]
"""The rule that decided: an empty answer is wrong; equal texts; the last figure; yes or no; the gold words within the
answer. `judge` leaves the verdict open."""

FEW_WORDS = 4
"""Most words beside its only figure in a gold answer that is compared as a number; longer ones are sentences, whose
words count too. Our choice: the paper asks for "a number or a few words"."""

_MOST_BROKEN = 100
"""Broken objects of a reply after which no more are looked for; each may cost a pass over all of it. Our choice."""

_DOWN = re.compile(r"\b(?:decreas|declin|drop|fell|fall|lower|loss|reduc|down|negativ|outflow)", re.IGNORECASE)
_UP = re.compile(r"\b(?:increas|rose|rise|rais|grew|grow|gain|higher|up\b|positiv|inflow|profit)", re.IGNORECASE)
_NUMBER_WORDS = re.compile(
    r"\b(?:zero|none|nil|no|one|two|three|four|five|six|seven|eight|nine|ten|half|doubled?|tripled?)\b|^\W*[-\u2014]\W*$",
    re.IGNORECASE,
)
_NEGATIONS = frozenset({"not", "no", "never", "neither", "nor", "without", "cannot"})
_ARTICLES = frozenset({"a", "an", "the"})
_MINUS = re.compile("[\u2010-\u2013\u2212]")
_IN_PARENTHESES = re.compile(r"\(\s?([$€£¥]?\s?[0-9][0-9.,]*\s?%?)\s?\)")
_MINUS_CURRENCY = re.compile(r"(?<!\w)-\s?([$€£¥])")
_WORD = re.compile(r"(?:(?<![\w)])-)?[^\W_]+(?:[.,'][^\W_]+)*|[%$€£¥]")
_OBJECT = re.compile(r'\{[ \t\r\n]*["}]')
_DECODER = JSONDecoder(strict=False)  # models write line feeds inside strings


class Verdict(NamedTuple):
    """The result of one comparison, and the rule that decided."""

    outcome: Correctness
    rule: Rule

    @property
    def score(self) -> float:
        """1, 0, or nan where a judge is needed."""
        return {"correct": 1.0, "wrong": 0.0}.get(self.outcome, nan)


def parse_answer(reply: str) -> str:
    """Return the answer in a reply: the value of `answer` in the last JSON object, fenced or bare, that has one.

    A value that is not text is written as compact JSON. A reply without such an object is the answer itself: the
    paper's appendix C.3 judges one. No reply, or the value null, is the empty answer, which is wrong.
    """
    found = [made["answer"] for made in json_objects(reply) if "answer" in made]
    if not found:
        return reply.strip()
    value = found[-1]
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, in order, each as a whole: those inside another are not yielded.

    What follows the hundredth broken object is not read.
    """
    start, broken = _OBJECT.search(text), 0
    while start and broken < _MOST_BROKEN:
        try:
            made, place = _DECODER.raw_decode(text, start.start())
            yield made
        except (ValueError, RecursionError):  # not JSON from here on, or nested too deeply
            place, broken = start.start() + 1, broken + 1
        start = _OBJECT.search(text, place)


def deterministic_accuracy(answer: str, gold: str) -> Verdict:
    """Compare an answer with the gold one.

    Rules: an empty answer is wrong, and equal texts are correct, in any case and with any punctuation. A gold answer
    with one figure and few words is compared with the answer's last figure (see `figures.agree`). Where only another
    figure agrees, or the sign is in words ("a decrease of 5%"), or one is a share and the other percent, a judge must
    see it. Any other gold answer is `yes` or `no`, or must occur in the answer word by word; else a judge must see it.
    """
    if not answer.strip():
        return Verdict("wrong", "empty")
    said, wanted = _words(answer), _words(gold)
    if said == wanted and said:
        return Verdict("correct", "equality")
    gold_figures = figures(gold)
    if len(gold_figures) == 1 and _is_short(gold):
        return _compare_figures(answer, gold, gold_figures[0])
    return _compare_words(said, wanted)


def _compare_figures(answer: str, gold: str, wanted: Figure) -> Verdict:
    found = figures(answer)
    if not found:
        # "no change" may be right where the gold answer is 0
        return Verdict("undecided", "judge") if _NUMBER_WORDS.search(answer) else Verdict("wrong", "number")
    last = found[-1]
    directions = _direction(answer), _direction(gold)
    if agree(last, wanted):
        opposed = directions[0] * directions[1] < 0
        return Verdict("undecided", "judge") if opposed else Verdict("correct", "number")
    # "a decrease of 5%" may be -5%
    turned = any(directions) and agree(replace(last, value=-last.value), wanted)
    if turned or _is_share_of(last, wanted) or any(agree(one, wanted) for one in found):
        return Verdict("undecided", "judge")
    return Verdict("wrong", "number")


def _is_share_of(answer: Figure, gold: Figure) -> bool:
    """Report whether one of two figures is the other in percent: 0.15 and 15%."""
    if answer.percent == gold.percent:
        return False
    factor = Decimal(100) if gold.percent else Decimal("0.01")
    return agree(replace(answer, value=answer.value * factor), gold)


def _direction(text: str) -> int:
    """Return -1 for a text with words of decrease only, 1 for one with words of increase only, else 0."""
    return bool(_UP.search(text)) - bool(_DOWN.search(text))


def _compare_words(said: tuple[str, ...], wanted: tuple[str, ...]) -> Verdict:
    if wanted in (("yes",), ("no",)):
        if said[:1] in (("yes",), ("no",)):
            return Verdict("correct" if said[:1] == wanted else "wrong", "yes_no")
        return Verdict("undecided", "judge")
    places = range(len(said) - len(wanted) + 1)
    # a gold answer without a word, such as "$", is a defect that no rule can judge
    contained = any(map(str.isalnum, "".join(wanted))) and any(
        said[place : place + len(wanted)] == wanted for place in places
    )
    denied = not _NEGATIONS.isdisjoint(said) and _NEGATIONS.isdisjoint(wanted)
    return Verdict("correct", "containment") if contained and not denied else Verdict("undecided", "judge")


def _words(text: str) -> tuple[str, ...]:
    """Cut a text into words in lower case, without articles and punctuation; figures keep their sign."""
    signed = _IN_PARENTHESES.sub(r" -\1", _MINUS.sub("-", normalize("NFKC", text).casefold()))
    cut = _WORD.findall(_MINUS_CURRENCY.sub(r"\1-", signed))
    return tuple(word for word in cut if word not in _ARTICLES)


def _is_short(gold: str) -> bool:
    return sum(word.isalpha() for word in _words(gold)) <= FEW_WORDS
