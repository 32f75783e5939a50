"""Reads the questions in a model's reply: JSON, broken JSON, or lines such as `Question: ...`."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ohr.text.thoughts import without_thoughts

_NAMES = {
    "question": "question|问题|問題",
    "answer": "answers?|答案|回答",
    "evidence": "evidences?|evidence[_ ]context|quotes?|证据|依据|原文",
    "about": "about|主题",
    "form": "answer[_ ](?:form|format|type)|答案形式|答案类型",
}
_ANY = "|".join(f"(?P<{name}>{words})" for name, words in _NAMES.items())
_NUMBER = r"[ _]?(?:[0-9]{1,2}|[ab])?"
_KEY = re.compile(rf"(?<![\w\"'])[\"'“](?:{_ANY}){_NUMBER}[\"'”][ \t]*[:：]", re.IGNORECASE)
_LINE = re.compile(rf"^[\s>*#\-.\d]*(?:{_ANY}){_NUMBER}[ \t]*\**[ \t]*[:：]\**", re.IGNORECASE | re.MULTILINE)
_OTHER_KEY = re.compile(r"[\"'”][ \t]*,\s*[\"'“]\w{1,30}[\"'”][ \t]*[:：]")
_LATEX = (
    "begin|beta|bar|bf|big|binom|bullet|boldsymbol|frac|forall|footnote|neq|nabla|nu|newline|nonumber|rho|right|rightarrow|"
    "rm|rangle|tau|text|textbf|textit|textrm|times|theta|tan|tfrac|tilde|top|triangle|underline|upsilon|uparrow"
)
"""Commands whose first letter makes an escape of JSON with the backslash."""
_BARE_BACKSLASH = re.compile(
    rf"(?<!\\)((?:\\\\)*)\\(?=(?:{_LATEX})(?![A-Za-z])|u(?![0-9A-Fa-f]{{4}})|[^\"\\/bfnrtu]|\Z)"
)
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")
_AFTER = re.compile(r"\s*(?:[,}\]`;]|\Z)")
_SURROUNDING = "\"'“”‘’`,;[]{} \t\r\n"
_READER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


class Item(NamedTuple):
    """One question of a reply; "", () or None where the reply has nothing of the kind.

    Args:
        answer: a text, or a JSON value.
        about: what the model says that the evidence is about.
        whole: the reply closes it, or has another one after it.
    """

    question: str
    answer: Any
    evidence: tuple[str, ...]
    form: str
    about: str
    whole: bool


def items_in(reply: str, opening: str = "") -> list[Item]:
    """Return the questions of a reply without its thoughts, in order; [] where there is no sign of one.

    Args:
        opening: words that the reply may continue: where more can be read with them, they belong to it.
    """
    text = clean(without_thoughts(reply))
    versions = (text, opening + text) if _KEY.search(text) else ()  # what continues an opening has further keys
    readings = [list(_items(_repaired(version), _KEY)) for version in versions]
    return max(readings, key=_content, default=[]) or list(_items(text, _LINE))


def _content(items: Sequence[Item]) -> tuple[int, int]:
    """Count the questions with an answer, and the passages."""
    return sum(bool(item.question and item.answer) for item in items), sum(len(item.evidence) for item in items)


def plain(value: Any, comma: str, said: tuple[str, str]) -> str:
    """Return a JSON value as a text.

    Args:
        comma: parts the elements of a list.
        said: words for true and false.
    """
    if isinstance(value, bool):
        return said[0] if value else said[1]
    if isinstance(value, list):
        return comma.join(filter(None, (plain(each, comma, said) for each in value)))
    if isinstance(value, dict):
        return comma.join(f"{name}: {plain(each, comma, said)}" for name, each in value.items())
    return "" if value is None else clean(str(value))


def clean(text: str) -> str:
    """Return a text without control characters and halves of characters, which no file could hold."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", " ", text).strip()


def _repaired(text: str) -> str:
    return _BARE_BACKSLASH.sub(r"\1\\\\", text.replace("\\'", "'"))


def _items(text: str, keys: re.Pattern[str]) -> Iterator[Item]:
    """Yield the questions that keys mark. An object, or a key that comes again, begins the next one."""
    values: dict[str, Any] = {}
    evidence: list[str] = []
    place = 0
    while match := keys.search(text, place):
        name = str(match.lastgroup)
        opens = "{" in text[place : match.start()] and keys is _KEY
        if values and (opens or (name != "evidence" and name in values)):
            yield _item(values, evidence, True)
            values, evidence = {}, []
        value, place = _value(text, match.end(), keys)
        if name == "evidence":
            evidence += [text for text in map(_text, value if isinstance(value, list) else [value]) if text]
        values[name] = value
    if values:
        yield _item(values, evidence, keys is _LINE or "}" in text[place:])


def _text(value: Any) -> str:
    return plain(value, "\n", ("true", "false"))


def _item(values: dict[str, Any], evidence: list[str], whole: bool) -> Item:
    question, about, form = (_text(values.get(name)) for name in ("question", "about", "form"))
    return Item(question, values.get("answer"), tuple(evidence), form, about, whole)


def _value(text: str, start: int, keys: re.Pattern[str]) -> tuple[Any, int]:
    """Read a key's value, and return it with its end; what is no JSON reaches to the next key, or line."""
    place = start + len(text[start : start + 200]) - len(text[start : start + 200].lstrip())
    following = keys.search(text, start)
    end = following.start() if following else len(text)
    if keys is _LINE:
        return text[start:end].split("\n\n", 1)[0].strip(_SURROUNDING), end
    if decoded := _decoded(text, place):
        return decoded
    other = _OTHER_KEY.search(text, place, end)
    end = other.start() if other else end
    closed = text.rfind("}", place, end)
    stop = closed if closed >= 0 else end
    if text.startswith("[", place) and (last := text.rfind("]", place, stop)) > 0:
        inner = _TRAILING_COMMA.sub("", text[place : last + 1])
        if decoded := _decoded(inner, 0):
            return decoded[0], last + 1
    return text[place:stop].strip(_SURROUNDING).replace("\\\\", "\\"), stop


def _decoded(text: str, place: int) -> tuple[Any, int] | None:
    """Read a JSON value that something of JSON follows, or the end; return it with its end."""
    try:
        value, stop = _READER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None
    return (value, stop) if _AFTER.match(text, stop) else None
