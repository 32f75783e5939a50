"""A baseline without a model: the best span of the best sentence or table row."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Literal

from ohr.contracts import Completion, Generator, Prompt
from ohr.text import HAS_HAN, strip_markup

from . import passages, spans
from .passages import Unit

_NAME_POWER, _ROWC, _SENTC, _LEN, _HEAD = 1, 0.8, 0.25, 0.01, 0.5
_NODIG, _FORM = 0.8, 1.6
_FORMULA = re.compile(
    r"formula|equation|rule|comput|calculat|worked out|multipl|subtract|divid|weight|factor|power|exponent|公式|计算|乘|除"
)
_AUXILIARY = "(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should)"
_QUANTITIES = (
    "percentage|share|proportion|number|amount|price|rate|ratio|value|total|fee|cost|sum|level|limit|charge|weight|factor"
    "|power|exponent|yield|age|speed|temperature|width|length|height|depth|distance|area|volume|size|figure|score|mark"
    "|slope|error|mean|average|pressure|release|royalty|payment|fine|rent|capacity|population|tonnage|draught|budget|tax"
)
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("closed", rf"^{_AUXILIARY}\b|^(?!.*\b(?:what|which|who\w*|how|why|where)\b).*, {_AUXILIARY}\b"),
        ("closed", "吗|是否|是不是|有没有|能否|可否|会不会"),
        (
            "date",
            r"\b(?:what|which) (?:\w+ )?(?:year|date|day|month|time)\b|\bhow early\b|哪一?[年月天日]|几[月日号点时]|[何什]么?时候?",
        ),
        ("number", r"\bhow (?:many|much|long|old|far|high|large|big|deep|wide|heavy|often|tall|thick|fast|strong)\b"),
        ("number", rf"\b(?:what|which) (?:[\w'’-]+ ){{0,4}}?(?:{_QUANTITIES})\b|多[少大高长久远深宽重]|几"),
        (
            "number",
            r"\bin per ?cent\b|\bwhat (?:do|does|did|would|will|must) .*\b(?:pay|cost|owe|charge|come to|earn|weigh|measure)\b",
        ),
        ("list", r"\b(?:which|what) (?:two|three|four|five|six|other)\b|哪些|哪[两三四五]|分别"),
        ("list", r"\b(?:which|what) (?!of\b|happens)(?:\w+ )?\w{3,}[^s\W]s\b(?!['’])|^(?:name|list)\b"),
        ("date", r"\bwhen\b"),
        ("name", r"\bwho\w*\b|\bwhich (?:person|man|woman|company|country|city|town|employee|judge|author)|谁"),
        ("place", r"\bwhere\b|哪里|哪儿|何处"),
        ("name", r"\bwhich \w"),
        ("reason", r"\bwhy\b|what condition|为什么|为何"),
    )
)
_PLACE = re.compile(
    r"\bwhere [^,;:.]{5,60}|\b(?:in|at|on|near|by|to|from|along|outside|behind|under) [^,;:.()]{3,50}|[在于至][^，。；]{2,12}"
)
_REASON = re.compile(
    r"\b(?:because|since|as|so that|provided that|if|unless|for) ([^,;:.()]{8,70})|(?:因为?|由于)[^，。；]+"
)
_PIECE = re.compile(r"[^,;:.()，。；：（）“”—]+(?:(?<=\d)[.,]\d+[^,;:.()，。；]*)*")
_NEGATION = re.compile(r"\b(?:no|not|nor|never|neither|none|without|except\w*|only|unless)\b|n't\b|[不无未没非]|免")
_WORKED_OUT = re.compile(
    r"=\s*(-?\d[\d.,]*\d|\d)((?:\s|\\[ ,~])*(?:\\mu)?\\text\{[^}]*\})?[\s.,]*(?:\\tag\{[^}]*\})?\s*(?:\$\$|$)"
)
_OPERATIONS = (
    (re.compile(r"what power|exponent"), re.compile(r"\^\{?\s*(\d[\d.]*)")),
    (re.compile(r"subtract|deduct|take[ns]? off|减"), re.compile(r"[-−]\s*(\d[\d.]*)")),
    (
        re.compile(r"what (?:weight|factor)|multipl|weighted|乘"),
        re.compile(r"\\times\s*(\d[\d.]*)|(\d[\d.]*)\s*(?:\\times|\\cdot|\\?[A-Za-z(])"),
    ),
    (re.compile(r"divi[ds]|除"), re.compile(r"\{\s*(\d[\d.]*)\s*\}")),
)
_MOST = re.compile(
    r"\b(?:most|largest|highest|greatest|longest|thickest|heaviest|deepest|biggest|maximum)\b|最[高大多长重]"
)
_LEAST = re.compile(r"\b(?:least|fewest|smallest|lowest|shortest|lightest|thinnest|minimum)\b|最[低小少短轻]")
_OVER = re.compile(
    r"(?:more than|above|over|exceed\w*|at least|than|超过|高于|大于)\D{0,12}?(\d[\d.,]*)(?! ?%?年)|(\d[\d.,]*)%?以上"
)
_UNDER = re.compile(
    r"(?:less than|fewer than|below|under|lower than|低于|少于|小于)\D{0,12}?(\d[\d.,]*)|(\d[\d.,]*)%?以下"
)

_DOWN = re.compile(r"\b(?:less|fewer|lower|smaller|shorter|cheaper|below|fall|fell|decrease\w*)\b|比.*[低少小短]")
_UP = re.compile(r"\b(?:more|larger|higher|greater|longer|exceed\w*|above|increase\w*|rise|rose)\b|比.*[高多大长]")
_THAN = re.compile(r"\bthan\b|比")


class Extractive(Generator):
    """Picks the sentence (or table row) that shares most rare words with the question, and a span of it.

    A baseline, not a reader: questions of quantity get the number that stands nearest to the question's words, of a
    table the cell under the head that the question names; of a series the extreme or what passes a threshold; yes/no
    questions get `yes` unless a negation or two figures speak against it; other questions a name, an enumeration or a
    clause. It needs no model and answers hundreds of questions a second, so noise curves can be drawn anywhere; it
    cannot calculate, its scores are low, and they say nothing about language models.
    """

    kind: Literal["extractive"] = "extractive"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt from its passages."""
        for prompt in prompts:
            answer = _answer(prompt.question, prompt.passages)
            yield Completion(answer, len(prompt.user.split()), len(answer.split()))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question: its text in lower case, the type of its answer, and the weights of its words by stem."""

    text: str
    kind: str
    weights: Mapping[str, float]


def _answer(question: str, texts: Sequence[str]) -> str:
    units = [unit for text in texts for unit in passages.units(text)]
    lower = question.lower()
    kind = next((kind for kind, pattern in _KINDS if pattern.search(lower)), "other")
    order = passages.stems(question)
    if not units or not order:
        return ""
    asked = _Asked(lower, kind, _weights(question, order, units))
    pairs = set(pairwise(order))
    scores = [_score(unit, asked.weights, pairs) * _promise(unit, asked) for unit in units]
    ranked = sorted(range(len(units)), key=scores.__getitem__, reverse=True)[:3]
    best = [units[place] for place in ranked if scores[place] >= 0.6 * scores[ranked[0]]]
    if kind == "closed":
        return _closed(best[0], asked)
    found = (_find(unit, asked) for unit in best)
    answer = next((answer for answer in found if answer), "") or _clause(strip_markup(best[0].text), asked)
    return answer.strip(" *_`$,;:，。；：")


def _weights(question: str, order: Sequence[str], units: Sequence[Unit]) -> dict[str, float]:
    """Weigh the question's stems by their rarity; the words of a name share the weight of about one."""
    spread = Counter(stem for unit in units for stem in set(unit.stems))
    weights = {stem: log(1 + (len(units) + 1) / (spread[stem] + 1)) for stem in order}
    for name in dict.fromkeys(spans.NAME.findall(question)):
        parts = passages.stems(name)
        for stem in weights.keys() & parts:
            weights[stem] /= len(parts) ** _NAME_POWER
    return weights


def _score(unit: Unit, weights: Mapping[str, float], pairs: set[tuple[str, str]]) -> float:
    own = {*unit.stems}
    score = sum(weights.get(stem, 0.0) for stem in own)
    score += 0.5 * sum(min(weights[a], weights[b]) for a, b in pairs.intersection(pairwise(unit.stems)))
    # a row says what it is about in its table's caption and heads, a sentence partly in the one before
    score += (_ROWC if unit.cells else _SENTC) * sum(weights[stem] for stem in weights.keys() & unit.around - own)
    return score / (1 + _LEN * len(unit.stems))


def _promise(unit: Unit, asked: _Asked) -> float:
    """Give a factor for what a unit is likely to hold: a number for a question of quantity, a formula, no heading."""
    factor = _HEAD if unit.title else 1
    if asked.kind == "number" and not re.search(r"\d", unit.text):
        factor *= _NODIG
    if "$$" in unit.text and _FORMULA.search(asked.text):
        factor *= _FORM
    return factor


def _find(unit: Unit, asked: _Asked) -> str:
    """Give the answer of the asked kind in a unit, or nothing."""
    if unit.cells:
        return _from_series(_series(unit, asked), asked) or _cell(unit, asked)
    if "$" in unit.text and (figure := _formula(unit.text, asked)):
        return figure
    text = strip_markup(unit.text)
    return _FINDERS[asked.kind](text, asked)


def _formula(text: str, asked: _Asked) -> str:
    """Give a formula's figure that the question's operation concerns, else its result where it is worked out."""
    for question, operand in _OPERATIONS:
        if question.search(asked.text) and (found := operand.search(text[text.index("$") :])):
            return str(next(filter(None, found.groups())))
    result = _WORKED_OUT.search(text) if asked.kind == "number" else None
    return strip_markup(result[1] + (result[2] or "")) if result else ""


def _number(text: str, asked: _Asked) -> str:
    wanted = "%|per ?cent" if re.search("percentage|per ?cent|share|yield|inflation|interest|百分", asked.text) else ""
    return spans.nearest(spans.undated(text), spans.NUMBER, asked.weights, wanted)


def _date(text: str, asked: _Asked) -> str:
    return spans.nearest(text, spans.DATE, asked.weights) or _reason(text, asked)


def _name(text: str, asked: _Asked) -> str:
    return spans.nearest(spans.undated(text), spans.NAME, asked.weights)


def _place(text: str, asked: _Asked) -> str:
    return _clause(spans.nearest(text, _PLACE, asked.weights), asked)


def _reason(text: str, asked: _Asked) -> str:
    found = _REASON.search(text)
    return " ".join((found[1] or found[0]).split()[:14]) if found else ""


def _list(text: str, asked: _Asked) -> str:
    return spans.enumeration(text, asked.weights)


def _clause(text: str, asked: _Asked) -> str:
    """Give the run of at most eight words between words of the question that says most, nearest to those words."""
    return spans.clause(text, asked.weights)


_FINDERS: Mapping[str, Callable[[str, _Asked], str]] = {
    "number": _number,
    "date": _date,
    "name": _name,
    "place": _place,
    "reason": _reason,
    "list": _list,
    "other": _clause,
}


def _fit(head: str, asked: _Asked) -> float:
    return sum(asked.weights.get(stem, 0.0) for stem in {*passages.stems(head)})


def _type_fit(cell: str, asked: _Asked) -> float:
    if asked.kind == "date":
        return 2 if spans.DATE.search(cell) else 0
    if asked.kind == "number":
        return 2 if passages.is_figure(cell) else 1.5 if re.search(r"\d", cell) else 0
    return 0 if passages.is_figure(cell) else 2


def _cell(unit: Unit, asked: _Asked) -> str:
    """Give the cell under the head that shares most with the question, of the kind that is asked for."""
    best, answer, head = 0.0, "", ""
    for place, cell in enumerate(unit.cells):
        if not cell or all(stem in asked.weights for stem in passages.stems(cell)):
            continue
        score = 1 + _type_fit(cell, asked) + _fit(passages.head(unit, place), asked) - 0.01 * place
        if score > best:
            best, answer, head = score, cell, passages.head(unit, place)
    if asked.kind == "number":
        return _with_unit(answer, head, asked)
    return answer


def _with_unit(cell: str, head: str, asked: _Asked) -> str:
    """Give the figure of a cell with the unit that its head or, in Chinese, the question names."""
    if len(cell.split()) > 3:
        return spans.nearest(cell, spans.NUMBER, asked.weights) or cell
    unit = re.search(r"\(([^()\d]{1,4}|[^() ]*/[^() ]*)\)", head)
    counted = re.search("多少(公[里斤顷]|分钟|[元人名个次天件座条米吨岁家户辆分])", asked.text)
    if not cell[-1:].isdigit() or not (unit or counted):
        return cell
    return cell + (counted[1] if counted else " " + unit[1] if unit else "")


_Series = list[tuple[str, float, str]]


def _value(cell: str) -> float | None:
    found = re.search(r"\d[\d,]*(?:\.\d+)?", cell)
    if not found or not passages.is_figure(cell):
        return None
    return float(found[0].replace(",", "")) * (-1 if cell[: found.start()].strip()[:1] in ("-", "–", "−") else 1)


def _series(unit: Unit, asked: _Asked) -> _Series:
    """Give the labels and figures of the column, or of the row, that the question is about."""
    rows = unit.table.rows if unit.table else []
    if len(rows) <= 2 and len(unit.cells) > 4:
        return [
            (h, v, c)
            for h, c in zip(unit.table.heads[1:] if unit.table else (), unit.cells[1:], strict=False)
            if (v := _value(c)) is not None
        ]
    columns = [place for place, cell in enumerate(unit.cells) if place and _value(cell) is not None]
    if not columns:
        return []
    column = max(columns, key=lambda place: (_fit(passages.head(unit, place), asked), -place))
    found = []
    for row in rows:
        value = _value(row.cells[column]) if column < len(row.cells) else None
        label = next((cell for cell in row.cells[:column] if cell and not passages.is_figure(cell)), row.cells[0])
        if value is not None and not re.search("total|together|合计|总计|average", label.lower()):
            found.append((label, value, row.cells[column]))
    return found


def _from_series(series: _Series, asked: _Asked) -> str:
    """Give the extreme of a series, or what lies beyond a threshold, where the question asks for either."""
    if len(series) < 3:
        return ""
    over, under = _OVER.search(asked.text), _UNDER.search(asked.text)
    if limit := under or over:
        bound = float((limit[1] or limit[2]).replace(",", "").rstrip("."))
        kept = [label for label, value, _ in series if (value < bound if under else value > bound)]
        if kept and asked.kind == "number" and len(kept) < len(series):
            return str(len(kept)) if re.search("how many|多少|几", asked.text) else ""
        return ", ".join(kept) if kept and len(kept) < len(series) else ""
    if _MOST.search(asked.text) or _LEAST.search(asked.text):
        pick = max if _MOST.search(asked.text) else min
        label, _, cell = pick(series, key=lambda item: item[1])
        return cell if asked.kind == "number" else label
    return ""


def _closed(unit: Unit, asked: _Asked) -> str:
    yes, no = ("是", "否") if HAS_HAN.search(asked.text) else ("yes", "no")
    holds = _compared(unit.table.rows if unit.table else (), asked)
    if holds is None and not unit.cells:
        holds = bool(_NEGATION.search(unit.text.lower())) == bool(_NEGATION.search(asked.text))
    return no if holds is False else yes


def _compared(rows: Sequence[Unit], asked: _Asked) -> bool | None:
    """Tell whether the question's comparison of two cells of a table holds; None where it makes or finds none."""
    down, up = _DOWN.search(asked.text), _UP.search(asked.text)
    sides = _THAN.split(asked.text, maxsplit=1)
    if not sides[1:] and " from " in asked.text and " to " in asked.text:
        sides = asked.text.split(" from ", 1)[1].split(" to ", 1)[::-1]
    if not (down or up) or len(sides) < 2:
        return None
    first = _figure_for(rows, passages.stems(sides[0]), asked)
    second = _figure_for(rows, passages.stems(sides[1]), asked)
    if first is None or second is None or first == second:
        return None
    return first < second if down else first > second


def _figure_for(rows: Sequence[Unit], side: Sequence[str], asked: _Asked) -> float | None:
    """Give the figure of the cell whose row and head say most of one side of a comparison, and then of the question."""
    best, answer = 0, None
    for row in rows:
        label = {stem for cell in row.cells if not passages.is_figure(cell) for stem in passages.stems(cell)}
        for place, cell in enumerate(row.cells):
            about = label | {*passages.stems(passages.head(row, place))}
            score = 3 * len(about.intersection(side)) + len(about & asked.weights.keys())
            if score > best and (value := _value(cell)) is not None:
                best, answer = score, value
    return answer
