"""Replies of models: verdicts in one word of a few, and agreement with the accepted answers of a question."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.questions.number_readings import numbers
from ohr.questions.truth_texts import letters, stems
from ohr.text.chinese import HAN, HAS_HAN, without_spacing
from ohr.text.porter import stem
from ohr.text.words import normalise

Words = Mapping[str, tuple[str, ...]]
"""Verdicts, each with the words that models write for it."""

YES_NO: Words = {
    "yes": ("yes", "true", "yeah", "yep", "是", "是的", "能", "可以", "对", "会", "有", "需要"),
    "no": ("no", "nope", "false", "not", "否", "不", "不是", "不能", "不可以", "不对", "不会", "没有", "未", "无"),
}
RIGHT_WRONG: Words = {
    "right": ("right", "correct", "yes", "true", "对", "正确", "是", "是的"),
    "wrong": ("wrong", "incorrect", "not correct", "not right", "no", "false", "错", "错误", "不对", "不正确", "不是"),
}
TASKS: Words = {
    "understanding": ("understanding", "understand", "extraction", "lookup", "look up", "理解", "查找", "摘录"),
    "reasoning": ("reasoning", "reason", "inference", "推理", "计算", "推断"),
}

_KEYS = ("verdict", "answer", "judgment", "judgement", "label", "result", "conclusion", "判断", "结论", "答案")
_MARK = re.compile(
    rf"(?:{'|'.join(_KEYS)})[\s*_`\"]*(?:is\b|[:：=]|[是为](?!否))[\s*_`\"]*", re.IGNORECASE
)  # fmt: skip
_OPENING = " \t\r\n*_`\"'“”‘’「」『』【】[](){}<>#>-.:："
_OBJECT = re.compile(r"\{[^{}]*\}")
_CHOICE = re.compile(r"[\s\"'`*]*(?:or\b|/|\||或|还是|否|,\s*no\b)")
"""Signs after the first of several words of which none is chosen: `yes or no`, 是否."""
_NO_NAME = re.compile(
    r"\W*(?:(?:names?|名称)\s*[:：]\W*)?(?:none|no\b(?!\. ?\d)|nothing|n/?a\b|无|没有|沒有)", re.IGNORECASE
)
_NAME = re.compile(f"[^\\W_{HAN}]+")
_QUESTION_WORDS = """
    what which who whom whose when where why how is are was were do does did has have had can must should if
    in on at by for from to of since until after before the a an
"""
_ASKING = frozenset(_QUESTION_WORDS.split())
"""Words that begin a question."""
_BETWEEN_NAMES = re.compile(r"[\s*_`、，,;；。“”\"'《》]+")
_COMMON = re.compile(
    r"(?:这|该|本|此|上|下)?[张个篇份段幅]?(?:表格?|公司|文章?|文档|段落|图表?|页面?|企业|集团|报告|作者|他们?|她们?|它们?)"
)
"""Chinese words that are a name of nothing; in English, names have capitals."""
_READ = 4000
"""Characters of a reply that are read: its beginning, and as many of its end."""


def verdict(reply: str, words: Words) -> str:
    """Return the verdict of a reply, "" where it has none or several.

    It is taken from the value of a JSON object, else after marks such as `Answer:`, else from the beginning, the last
    line, or the only place at which an English word of one verdict alone is.
    """
    text = unicodedata.normalize("NFKC", reply if len(reply) <= 2 * _READ else reply[:_READ] + reply[-_READ:])
    return next(filter(None, (_begins(place, words) for place in _places(text))), "") or _only(text, words)


def yes_or_no(text: str) -> bool | None:
    """Return whether a text says yes or no; None where it says neither."""
    return {"yes": True, "no": False}.get(verdict(text, YES_NO))


def named_in(question: str, reply: str) -> str:
    """Return `names` if a reply copies a name from a question, `none` if it finds none, "" if it copies nothing.

    A name has a capital in the question, or is Chinese; `table` and 该公司 are none. Chinese may be spaced.
    """
    text = unicodedata.normalize("NFKC", (value_in(reply) or after_mark(reply) or reply)[:_READ]).strip()
    if not text or _NO_NAME.match(text):
        return "none" if text else ""
    asked = unicodedata.normalize("NFKC", question)
    said = {word.lower() for word in _NAME.findall(text)}
    copied = [word for word in _NAME.findall(asked) if word.isascii() and word.lower() in said]
    parts = {part for each in (text, without_spacing(text)) for part in _BETWEEN_NAMES.split(each)}
    held = without_spacing(asked)
    chinese = [part for part in parts if len(part) > 1 and HAS_HAN.search(part) and part in held]
    if any(word != word.lower() and word.lower() not in _ASKING for word in copied) or not all(
        map(_COMMON.fullmatch, chinese)
    ):
        return "names"
    return "none" if copied or chinese else ""


def value_in(text: str) -> str:
    """Return the answer or verdict in a text's JSON object; "" where there is none."""
    for match in _OBJECT.finditer(text):
        try:
            found: Any = json.loads(match[0])
        except (ValueError, RecursionError):
            continue
        values = [found[name] for name in _KEYS if name in found] or list(found.values())[: len(found) == 1]
        if values and isinstance(values[0], bool):
            return "yes" if values[0] else "no"
        if values and isinstance(values[0], (str, int, float)):
            return str(values[0])
        if values and isinstance(values[0], list):
            return ", ".join(map(str, values[0]))
    return ""


def after_mark(text: str) -> str:
    """Return what follows the last mark such as `Answer:`; "" where there is none."""
    places = [match.end() for match in _MARK.finditer(text)]
    return text[places[-1] :] if places else ""


def _places(text: str) -> Iterator[str]:
    """Yield the places of a reply at which a verdict may begin, the surest first."""
    yield value_in(text)
    yield after_mark(text)
    yield text
    yield text.strip().rpartition("\n")[2]


def _begins(text: str, words: Words) -> str:
    text = text.lstrip(_OPENING).lower()
    spelled = [(word, name) for name, those in words.items() for word in those if _starts(text, word)]
    if not spelled:
        return ""
    word, name = max(spelled, key=lambda pair: len(pair[0]))
    return "" if _CHOICE.match(text[len(word) :]) else name


def _starts(text: str, word: str) -> bool:
    after = text[len(word) : len(word) + 1]
    return text.startswith(word) and not (word.isascii() and after.isascii() and after.isalnum())


def _only(text: str, words: Words) -> str:
    found = {
        name
        for name, those in words.items()
        for word in those
        if word.isascii() and re.search(rf"(?<![A-Za-z]){word}(?![A-Za-z])", text, re.IGNORECASE)
    }
    return found.pop() if len(found) == 1 else ""


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY, _YEAR = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?\b(?![0-9:.%])", r"(?P<year>[12][0-9]{3})\b"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>[12][0-9]{3})-(?P<number>[01]?[0-9])-(?P<day>[0-3]?[0-9])\b",
        r"(?:(?P<year>[12][0-9]{3})\s*年\s*)?(?P<number>[01]?[0-9])\s*月(?:份|\s*(?P<day>[0-3]?[0-9])\s*[日号])",
        r"(?P<year>[12][0-9]{3})\s*年\s*(?P<number>[01]?[0-9])\s*月",
        rf"\b{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH},?\s+{_YEAR}",
    )
)
_CLOCK = re.compile(r"\b(1[0-2]|0?[1-9])(?:[:.]([0-5][0-9]))?\s*([ap])\.?m\b\.?", re.IGNORECASE)
_SHARE = re.compile(
    r"(?P<before>[-−]?[0-9][0-9,]*(?:\.[0-9]+)?)\s*(?:\\?[%％]|per ?cent\b(?!age)|percentage points?\b)"
    r"|百分之(?P<after>[0-9]+(?:\.[0-9]+)?)",
    re.IGNORECASE,
)
_UNITS: Mapping[str, str] = {
    form: forms.split()[0]
    for forms in (
        "second seconds sec s 秒", "minute minutes min mins 分钟", "hour hours h hr hrs 小时", "day days 天",
        "week weeks 周", "month months 个月", "year years yr yrs 年",
        "mm millimetre millimetres millimeter millimeters 毫米",
        "cm centimetre centimetres centimeter centimeters 厘米", "m metre metres meter meters 米",
        "km kilometre kilometres kilometer kilometers 公里 千米", "g gram grams 克", "kg kilogram kilograms 公斤 千克",
        "t ton tons tonne tonnes 吨", "byte bytes 字节", "kb kilobyte kilobytes", "mb megabyte megabytes",
        "gb gigabyte gigabytes", "euro euros eur", "dollar dollars usd 美元", "yuan rmb cny 元",
    )
    for form in forms.split()
}  # fmt: skip
_UNIT = re.compile(
    r"(?<=[0-9])\s*(?:个月|分钟|小时|毫米|厘米|公里|千米|公斤|千克|字节|美元|[秒天周米克吨元]|[A-Za-z]{1,2}\b)"
    r"|\b[A-Za-z]{3,}\b"
)
"""A word that may be a unit: a short one only after a number."""


class Number(NamedTuple):
    """A number of a text.

    Attributes:
        readings: as of `ohr.questions.number_readings`: 1.2 million is 1,200,000 or 1.2.
        is_share: a percent sign or its word follows.
    """

    readings: frozenset[Decimal]
    is_share: bool = False

    def is_same(self, other: "Number", digits: int) -> bool:
        """Report whether another number is this one, exactly or rounded to this one's digits after the point, if any.

        12.5% is 12.5 where a sign was left out, and 0.125; without a sign, 12.5 is not 0.125.
        """
        if self.is_share is not other.is_share:
            share, plain = (self, other) if self.is_share else (other, self)
            equal = {value / 100 for value in share.readings} | (share.readings if self.is_share else frozenset())
            return not equal.isdisjoint(plain.readings)
        own, others = self.readings, other.readings
        if len(own) > 1 and len(others) > 1:  # 1.2 million is not 1.2 billion
            own, others = frozenset({max(own)}), frozenset({max(others)})
        half = Decimal(5).scaleb(-digits - 1) if digits else Decimal(0)
        return any(abs(value - read) <= half for value in own for read in others)


class Amounts(NamedTuple):
    """Numbers of a text, with what else is compared of them.

    Attributes:
        numbers: years of dates with a month are not among them.
        months: of dates.
        years: of these dates.
        units: known ones, percent among them.
        digits: places after the point in the number that has most.
        text: without months and years of dates, and with times of 24 hours.
    """

    numbers: frozenset[Number]
    months: frozenset[str]
    years: frozenset[str]
    units: frozenset[str]
    digits: int
    text: str

    def lack(self, accepted: "Amounts") -> bool:
        """Report whether one of the wanted numbers is not here, or has another unit or year."""
        other_unit = bool(accepted.units and self.units) and not accepted.units & self.units
        missing = any(not any(each.is_same(own, accepted.digits) for own in self.numbers) for each in accepted.numbers)
        return other_unit or missing or not (accepted.years <= self.years and accepted.months <= self.months)

    def exceed(self, accepted: "Amounts", asked: "Amounts") -> bool:
        """Report whether a number here is neither accepted nor in the question; a one that is a word is none."""
        known = [(each, side.digits) for side in (accepted, asked) for each in side.numbers]
        known += [(ONE, 0)] * ("1" not in self.text)
        other_year = bool(accepted.years) and not self.years <= accepted.years | asked.years
        return other_year or any(not any(each.is_same(own, digits) for each, digits in known) for own in self.numbers)


ONE = Number(frozenset({Decimal(1)}))


def amounts(text: str) -> Amounts:
    """Read the numbers of a text."""
    months, years = set[str](), set[str]()
    for pattern in _DATES:
        text = pattern.sub(lambda match: _date(match, months, years), text)
    text = _CLOCK.sub(_clock, text)
    shares = [match["before"] or match["after"] for match in _SHARE.finditer(text)]
    read = {Number(frozenset({Decimal(share.replace(",", "").replace("−", "-"))}), is_share=True) for share in shares}
    read |= {Number(readings) for readings in numbers(_SHARE.sub(" ", text))}
    units = {_UNITS[word] for match in _UNIT.finditer(text) if (word := match[0].strip().lower()) in _UNITS}
    units |= {"%"} if shares else set()
    digits = max(map(len, re.findall(r"[0-9]\.([0-9]+)", text)), default=0)
    return Amounts(frozenset(read), frozenset(months), frozenset(years), frozenset(units), digits, text)


def _date(match: re.Match[str], months: set[str], years: set[str]) -> str:
    """Write a date as its day, and keep its month and year."""
    parts = match.groupdict()
    years |= {parts["year"]} if parts.get("year") else set()
    months.add(f"{int(parts['number']) if parts.get('number') else _MONTHS.index(parts['month'][:3].lower()) + 1}")
    return f" {int(parts['day'])} " if parts.get("day") else " "


def _clock(match: re.Match[str]) -> str:
    """Write a time of the morning or afternoon with 24 hours."""
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
    return f"{hour}:{match[2] or '00'}"


_LEAST = 0.6
"""F1 of content words, those of the question left out, from which on a text says the same as another: between 0.57, the
best wrong, and 0.67, the worst right one of the pairs in tests/questions/judging/test_answer_agreement.py."""
_LEAST_OF_ITEM = 0.5
"""Share of the content words of each item of a list: some items are named by a part."""
_FEW, _SHORT = 2, 4
"""Content words: up to which numbers decide about an answer, and up to which a part between commas is an item."""
_LONGEST = 1500
"""Characters of a reply that are compared; the questions ask for a few words."""

_YES_NO_FORMS = frozenset({"yesno", "boolean", "bool"})
_NUMBER_FORMS = frozenset({"numeric", "integer", "float", "number"})
_CLOSED_CHINESE = frozenset({"是", "否", "对", "不是", "能", "不能"})
_UNKNOWN = re.compile(
    r"\W*(?:unknown|i (?:do not|don'?t) know|(?:it |this )?(?:is )?not (?:known|stated|given|mentioned|specified)|"
    r"n/?a\b|(?:it )?cannot be (?:determined|answered)|(?:i'?m )?not sure|"
    r"不知道|未知|无法|不清楚|没有提[到及]|未提[到及]|不确定)",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|no|never|none|neither|nor|cannot|without)\b|n't\b|不|没|未", re.IGNORECASE)
_OR = re.compile(r"\bor\b|或|还是", re.IGNORECASE)
_ASKS_SHARE, _BARE = re.compile(r"per ?cent|%|百分", re.IGNORECASE), re.compile(r"\s*[-−]?[0-9][0-9,.]*\s*")
_BETWEEN = re.compile(r"[,;，；、\n|]|\band\b|&|和|与|以及|及", re.IGNORECASE)
_LIST_BETWEEN = re.compile(r"[,;，；、\n|]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_MARKUP = re.compile(r"\\(?:boxed|text(?:bf|it)?|mathrm)\b|\\[()\[\]]|[*_`#{}]|\\(?=[%$])|\$")
_ENGLISH = """
    of in on at by for to from with and or as than that this it its be is are was were been has have had do does did
    which who what there they he she their his her will would can could about approximately answer some
"""
_CHINESE = "的 是 在 了 和 与 及 为 有 这 那 个 等 于 被 把 将 也 都 答案"
_FUNCTION = frozenset(map(stem, _ENGLISH.split())) | frozenset(_CHINESE.split())
"""Words without a meaning of their own."""


def agrees(given: str, answers: Sequence[str], form: str = "String", question: str = "") -> bool:
    """Report whether a reply gives one of the accepted answers.

    Numbers are compared by their value in any notation, with their sign and unit, and may be more exact than accepted;
    dates and times in any notation; lists in any order, but with no further item; yes and no by their word; other texts
    by their content words, of which Chinese ones are cut as by jieba. A reply may repeat the question, and explain
    itself in other sentences. `unknown` is no answer.

    Args:
        given: a reply without thoughts.
        answers: accepted ones, any of which will do.
        form: as in `Candidate.answer_form`.
        question: whose words and numbers a reply may repeat.
    """
    text = stated(given)
    if not text or _UNKNOWN.match(text):
        return False
    asked = amounts(question)
    return any(_agrees(text, answer, form, asked) for answer in answers)


def stated(reply: str) -> str:
    """Return what a reply gives as its answer: the value of a JSON object, what follows `Answer:`, or all of it."""
    text = reply.strip()[:_LONGEST]
    return _MARKUP.sub("", value_in(text) or after_mark(text) or text).strip()


def yes_or_no_of(answers: Sequence[str], form: str) -> bool | None:
    """Return whether the answer to a question that is answered by yes or no is yes; None for other questions."""
    said = (yes_or_no(answer) for answer in answers if normalise(form) in _YES_NO_FORMS or _is_word(answer))
    return next((value for value in said if value is not None), None)


def _is_word(answer: str) -> bool:
    return normalise(answer) in CLOSED_ANSWERS or answer.strip("。. ") in _CLOSED_CHINESE


def _agrees(text: str, answer: str, form: str, asked: Amounts) -> bool:
    if (expected := yes_or_no_of([answer], form)) is not None:
        return yes_or_no(text) is expected
    answer = _MARKUP.sub("", answer)
    accepted = amounts(f"{answer}%" if _ASKS_SHARE.search(asked.text) and _BARE.fullmatch(answer) else answer)
    content = _content(accepted.text)
    if content and "1" not in accepted.text:  # `one` and 一 are seldom a count
        accepted = accepted._replace(numbers=accepted.numbers - {ONE})
    if not (content or accepted.numbers or accepted.months):
        return letters(text).text == letters(answer).text != ""
    is_list = normalise(form) == "list"
    return any(_says(amounts(part), accepted, content, asked, form, is_list=is_list) for part in _parts(text))


def _parts(text: str) -> Iterator[str]:
    """Yield where a reply may state its answer: all of it, its first and last sentence, its last equation."""
    sentences = [part for part in _SENTENCE_END.split(text) if part.strip()]
    yield from dict.fromkeys((text, *sentences[:1], *sentences[-1:], text.rpartition("=")[2]))


def _says(
    given: Amounts, accepted: Amounts, content: frozenset[str], asked: Amounts, form: str, *, is_list: bool
) -> bool:
    """Report whether a text says what is accepted."""
    if any(sign.search(given.text) and not sign.search(accepted.text + asked.text) for sign in (_NOT, _OR)):
        return False
    if _NOT.search(accepted.text) and not _NOT.search(given.text):
        return False
    others = _content(asked.text) - content
    own = _content(given.text) - others
    is_number = bool(accepted.numbers or accepted.months) and (normalise(form) in _NUMBER_FORMS or len(content) <= _FEW)
    if accepted.numbers or accepted.months:
        contradicts = given.exceed(accepted, asked)
        if contradicts or ((is_number or given.numbers) and given.lack(accepted)):
            return False
    is_dated = is_list and all(map(numbers, filter(str.strip, _LIST_BETWEEN.split(accepted.text))))
    items = _items(accepted.text, _LIST_BETWEEN) if is_list and not is_dated else ()
    if any(len(own & item) < _LEAST_OF_ITEM * len(item) for item in items):
        return False
    if _has_further_item(given.text, content, others):
        return False
    if is_number and not is_list:
        return not content or not own or bool(content & own) or normalise(form) in _NUMBER_FORMS
    if is_dated:  # its numbers, which are all there, tell the items apart
        return True
    shared = len(content & own)
    return content <= own or (len(content) > 1 and 2 * shared >= _LEAST * (len(content) + len(own)))


def _content(text: str) -> frozenset[str]:
    """Return the words of a text that carry its meaning, by their stem, without numbers."""
    return frozenset(word for word in stems(text) if word not in _FUNCTION and not numbers(word))


def _items(text: str, between: re.Pattern[str]) -> Iterator[frozenset[str]]:
    return filter(None, map(_content, between.split(text)))


def _has_further_item(text: str, content: frozenset[str], others: frozenset[str]) -> bool:
    """Report whether most words of one of several short parts of a text are not of the answer or the question."""
    items, known = list(_items(text, _BETWEEN)), content | others
    return len(items) > 1 and any(len(item) <= _SHORT and 2 * len(item - known) > len(item) for item in items)
