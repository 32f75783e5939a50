"""A baseline without a model: the best span of the best sentence or table row."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from ohr.contracts import Completion, Generator, Prompt
from ohr.markup.strip import strip_markup
from ohr.text.chinese import HAS_HAN

from . import spans, tables
from .passages import NAME, Asked, Unit, stems, units, weigh

_AUXILIARY = "(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should)"
_QUANTITIES = (
    "percentage|share|proportion|number|amount|price|rate|ratio|value|total|fee|cost|sum|level|limit|charge|weight|factor"
    "|power|exponent|yield|age|speed|temperature|width|length|height|depth|distance|area|volume|size|figure|score|mark"
    "|slope|error|mean|average|pressure|royalty|payment|fine|rent|capacity|population|budget|tax"
)
# the first that matches decides
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("closed", rf"^{_AUXILIARY}\b|^(?!.*\b(?:what|which|who\w*|how|why|where)\b).*, {_AUXILIARY}\b"),
        ("closed", "吗|是否|是不是|有没有|能否|可否|会不会"),
        ("date", r"\b(?:what|which) (?:\w+ )?(?:year|date|day|month|time)\b|\bhow early\b"),
        ("date", "哪一?[年月天日]|几[月日号点时]|何时|什么时候?"),
        ("number", r"\bhow (?:many|much|long|old|far|high|large|big|deep|wide|heavy|often|tall|thick|fast|strong)\b"),
        (
            "number",
            rf"\b(?:what|which) (?:[\w'’-]+ ){{0,4}}?(?:{_QUANTITIES})\b|多[少大高长久远深宽重]|几|\bin per ?cent\b",
        ),
        ("number", r"\bwhat (?:do|does|did|would|will|must) .*\b(?:pay|cost|owe|charge|come to|earn|weigh|measure)\b"),
        ("list", r"\b(?:which|what) (?:two|three|four|five|six|other)\b|哪些|哪[两三四五]|分别"),
        ("list", r"\b(?:which|what) (?!of\b|happens)(?:\w+ )?\w{3,}[^s\W]s\b(?!['’])|^(?:name|list)\b"),
        ("date", r"\bwhen\b"),
        ("place", r"\bwhere\b|哪里|哪儿|何处"),
        ("reason", r"\bwhy\b|what condition|为什么|为何"),
        ("other", r"^(?:\w+ )?what\b"),
        ("name", r"\bwho\w*\b|\bwhich \w|谁"),
    )
)
_PLACE = re.compile(
    r"\bwhere [^,;:.]{5,60}|\b(?:in|at|on|near|by|to|from|along|outside|behind|under) [^,;:.()]{3,50}"
    "|[在于至][^，。；]{2,12}"
)
_REASON = re.compile(
    r"\b(?:because|since|as|so that|provided that|if|unless|for) ([^,;:.()]{8,70})|(?:因为?|由于)[^，。；]+"
)
_NEGATION = re.compile(r"\b(?:no|not|nor|never|neither|none|without|except\w*|only|unless)\b|n't\b|[不无未没非免]")
_PER_CENT = re.compile("percentage|per ?cent|share|yield|inflation|interest|百分")
_FORMULA = re.compile(
    "formula|equation|rule|comput|calculat|worked out|multipl|subtract|divid|weight|factor|power|exponent"
    "|公式|计算|乘|除"
)
_WORKED_OUT = re.compile(r"=\s*(-?\d[\d.,]*\d|\d)((?:\s|\\[ ,~])*(?:\\mu)?\\text\{[^}]*\})?[\s.,]*(?:\$\$|$)")
_FACTOR = re.compile(r"\\times\s*(\d[\d.]*)|(\d[\d.]*)\s*(?:\\times|\\cdot|\\?[A-Za-z(])")
_OPERATIONS = (
    (re.compile(r"what power|exponent"), re.compile(r"\^\{?\s*(\d[\d.]*)")),
    (re.compile(r"subtract|deduct|take[ns]? off|减"), re.compile(r"[-−]\s*(\d[\d.]*)")),
    (re.compile(r"what (?:weight|factor)|multipl|weighted|乘"), _FACTOR),
    (re.compile(r"divi[ds]|除"), re.compile(r"\{\s*(\d[\d.]*)\s*\}")),
)


class Extractive(Generator):
    """Picks the sentence (or table row) that shares most rare words with the question, and a span of it.

    A baseline, not a reader. A question of quantity gets the number that stands nearest to the question's words, or in
    a table the cell under the head that the question names, the extreme of a column, or what passes a threshold; a
    yes/no question gets `yes` unless a negation or two figures speak against it; any other a name, an enumeration or
    a clause. It needs no model and answers hundreds of questions a second, so noise curves can be drawn anywhere. It
    does not calculate; its scores are low, and say nothing about language models.
    """

    kind: Literal["extractive"] = "extractive"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt from its passages."""
        for prompt in prompts:
            answer = _answer(prompt.question, prompt.passages)
            yield Completion(answer, len(prompt.user.split()), len(answer.split()))


def _answer(question: str, passages: Sequence[str]) -> str:
    found = [unit for passage in passages for unit in units(passage)]
    order = stems(question)
    if not found or not order:
        return ""
    lower = question.lower()
    kind = next((kind for kind, pattern in _KINDS if pattern.search(lower)), "other")
    asked = Asked(lower, kind, weigh(question, order, found))
    pairs = tuple(dict.fromkeys(pairwise(order)))
    scores = [_score(unit, asked, pairs) * _promise(unit, asked) for unit in found]
    ranked = sorted(range(len(found)), key=scores.__getitem__, reverse=True)[:3]
    best = [found[place] for place in ranked if scores[place] >= 0.6 * scores[ranked[0]]]
    if kind == "closed":
        return _closed(best[0], asked)
    # a sentence without an answer of the kind leaves the question to the next
    answer = next(filter(None, (_span(unit, asked) for unit in best)), "")
    answer = answer or spans.clause(strip_markup(best[0].text), asked.weights)
    return answer.strip(" *_`,;:，。；：").rstrip(" $")


def _score(unit: Unit, asked: Asked, pairs: Sequence[tuple[str, str]]) -> float:
    """Sum the weights of the shared words, half again for neighbours, per length."""
    score = asked.fit(unit.stems)
    score += 0.5 * sum(min(asked.weights[a], asked.weights[b]) for a, b in pairs if (a, b) in unit.pairs)
    # a row says what it is about in its table's caption and heads, a sentence partly in the one before
    score += (0.8 if unit.cells else 0.25) * asked.fit(unit.around - unit.stems)
    return score / (1 + 0.01 * len(unit.stems))


def _promise(unit: Unit, asked: Asked) -> float:
    """Give a factor for what a unit is likely to hold: no heading; a number or a formula where one is asked for."""
    factor = 0.5 if unit.title else 1.0
    if asked.kind == "number" and not re.search(r"\d", unit.text):
        factor *= 0.8
    if "$$" in unit.text and _FORMULA.search(asked.text):
        factor *= 1.6
    return factor


def _closed(unit: Unit, asked: Asked) -> str:
    """Answer yes or no: by the table's figures, else by a negation in one of question and sentence."""
    yes, no = ("是", "否") if HAS_HAN.search(asked.text) else ("yes", "no")
    holds = tables.compared(unit.table.rows if unit.table else (), asked)
    if holds is None and not unit.cells:
        holds = bool(_NEGATION.search(unit.text.lower())) == bool(_NEGATION.search(asked.text))
    return no if holds is False else yes


def _span(unit: Unit, asked: Asked) -> str:
    """Give the answer of the asked kind in a unit, or nothing."""
    if unit.cells:
        return tables.answer(unit, asked)
    if "$" in unit.text and (figure := _from_formula(unit.text, asked)):
        return figure
    text, weights = strip_markup(unit.text), asked.weights
    match asked.kind:
        case "number":
            wanted = "%|per ?cent" if _PER_CENT.search(asked.text) else ""
            return spans.nearest(spans.undated(text), spans.NUMBER, weights, wanted)
        case "date":
            return spans.nearest(text, spans.DATE, weights) or _reason(text)
        case "name":
            return spans.nearest(spans.undated(text), NAME, weights)
        case "place":
            return spans.nearest(text, _PLACE, weights)
        case "reason":
            return _reason(text)
        case "list":
            return spans.enumeration(text, weights)
        case _:
            return spans.clause(text, weights)


def _reason(text: str) -> str:
    found = _REASON.search(text)
    return " ".join((found[1] or found[0]).split()[:14]) if found else ""


def _from_formula(text: str, asked: Asked) -> str:
    """Give a formula's figure that the question's operation concerns, else its result where it is worked out."""
    for question, operand in _OPERATIONS:
        if question.search(asked.text) and (found := operand.search(text[text.index("$") :])):
            return str(next(filter(None, found.groups())))
    result = _WORKED_OUT.search(text) if asked.kind == "number" else None
    return strip_markup(result[1] + (result[2] or "")) if result else ""
