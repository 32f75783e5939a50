"""Verdicts of models: one word of a few, in English or Chinese, plain, in JSON, or at the end of an explanation."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from ohr.text.chinese import HAN, HAS_HAN, without_spacing

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
_LONGEST = 4000
"""Characters of a reply that are read: its beginning, and as many of its end."""


def verdict(reply: str, words: Words) -> str:
    """Return the verdict of a reply, "" where it has none or several.

    It is taken from the value of a JSON object, else after marks such as `Answer:`, else from the beginning, the last
    line, or the only place at which an English word of one verdict alone is.
    """
    text = unicodedata.normalize("NFKC", reply if len(reply) <= 2 * _LONGEST else reply[:_LONGEST] + reply[-_LONGEST:])
    return next(filter(None, (_begins(place, words) for place in _places(text))), "") or _only(text, words)


def yes_or_no(text: str) -> bool | None:
    """Return whether a text says yes or no; None where it says neither."""
    return {"yes": True, "no": False}.get(verdict(text, YES_NO))


def named_in(question: str, reply: str) -> str:
    """Return `names` if a reply copies a name from a question, `none` if it finds none, "" if it copies nothing.

    A name has a capital in the question, or is Chinese; `table` and 该公司 are none. Chinese may be spaced.
    """
    text = unicodedata.normalize("NFKC", (value_in(reply) or after_mark(reply) or reply)[:_LONGEST]).strip()
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
