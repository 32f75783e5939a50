"""Agreement of a model's reply with the accepted answers of a question."""

import re
from collections.abc import Iterator, Sequence

from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.questions.numbers import numbers
from ohr.questions.texts import letters, stems
from ohr.text.porter import stem
from ohr.text.words import normalise

from .amounts import ONE, Amounts, amounts
from .verdicts import after_mark, value_in, yes_or_no

_LEAST = 0.6
"""F1 of content words, those of the question left out, from which on a text says the same as another: between 0.57, the
best wrong, and 0.67, the worst right one of the pairs in tests/questions/judging/test_agreement.py."""
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
    wanted = amounts(f"{answer}%" if _ASKS_SHARE.search(asked.text) and _BARE.fullmatch(answer) else answer)
    content = _content(wanted.text)
    if content and "1" not in wanted.text:  # `one` and 一 are seldom a count
        wanted = wanted._replace(numbers=wanted.numbers - {ONE})
    if not (content or wanted.numbers or wanted.months):
        return letters(text).text == letters(answer).text != ""
    is_list = normalise(form) == "list"
    return any(_says(amounts(part), wanted, content, asked, form, is_list=is_list) for part in _parts(text))


def _parts(text: str) -> Iterator[str]:
    """Yield where a reply may state its answer: all of it, its first and last sentence, its last equation."""
    sentences = [part for part in _SENTENCE_END.split(text) if part.strip()]
    yield from dict.fromkeys((text, *sentences[:1], *sentences[-1:], text.rpartition("=")[2]))


def _says(
    given: Amounts, wanted: Amounts, content: frozenset[str], asked: Amounts, form: str, *, is_list: bool
) -> bool:
    """Report whether a text says what is wanted."""
    if any(sign.search(given.text) and not sign.search(wanted.text + asked.text) for sign in (_NOT, _OR)):
        return False
    if _NOT.search(wanted.text) and not _NOT.search(given.text):
        return False
    others = _content(asked.text) - content
    own = _content(given.text) - others
    is_number = bool(wanted.numbers or wanted.months) and (normalise(form) in _NUMBER_FORMS or len(content) <= _FEW)
    if wanted.numbers or wanted.months:
        contradicts = given.exceed(wanted, asked)
        if contradicts or ((is_number or given.numbers) and given.lack(wanted)):
            return False
    is_dated = is_list and all(map(numbers, filter(str.strip, _LIST_BETWEEN.split(wanted.text))))
    if is_list and not is_dated and not all(_holds(own, item) for item in _items(wanted.text, _LIST_BETWEEN)):
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


def _holds(own: frozenset[str], item: frozenset[str]) -> bool:
    return len(own & item) >= _LEAST_OF_ITEM * len(item)


def _has_further_item(text: str, content: frozenset[str], others: frozenset[str]) -> bool:
    """Report whether most words of one of several short parts of a text are not of the answer or the question."""
    items, known = list(_items(text, _BETWEEN)), content | others
    return len(items) > 1 and any(len(item) <= _SHORT and 2 * len(item - known) > len(item) for item in items)
