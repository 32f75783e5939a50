"""Tolerant reading of models' replies: the JSON object or the tagged text that a prompt asked for, after thoughts."""

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from ohr.text.thoughts import without_thoughts

_BRACE_OR_JSON_STRING = re.compile(r'[{}]|"(?:\\.|[^"\\])*+"?', re.DOTALL)
_BRACE_OR_PYTHON_STRING = re.compile(_BRACE_OR_JSON_STRING.pattern + r"|'(?:\\.|[^'\\])*+'?", re.DOTALL)


def json_object(reply: str, *, python: bool = False) -> dict[str, Any] | None:
    r"""Return the first JSON object after a reply's thoughts, or None where it has none.

    Words before and after it, code fences (` ```json `) and further objects are skipped; braces in its strings and
    objects in it are no end of it; line breaks in its strings are allowed, though JSON has them as `\n`.
    An object that is cut off, or not JSON, is none; no object inside of one is taken for it.

    Args:
        python: also take a dictionary in Python's words, as in `{'pages': [1], 'final': True}`.

    >>> json_object('Sure! ```json {"Answer": {"unit": "USD"}} ```')
    {'Answer': {'unit': 'USD'}}
    >>> json_object("{'text': 'a clue'}") is None
    True
    >>> json_object("{'text': 'a clue'}", python=True)
    {'text': 'a clue'}
    """
    for text in _in_braces(without_thoughts(reply), _BRACE_OR_PYTHON_STRING if python else _BRACE_OR_JSON_STRING):
        found = _json(text)
        if found is None and python:
            found = _literal(text)
        if isinstance(found, dict) and all(isinstance(key, str) for key in found):
            return found
    return None


def tagged(reply: str, tag: str) -> str | None:
    """Return the text in the first `<tag>…</tag>` after thoughts, with its blanks, or None where it does not open.

    The text of a tag that does not close goes to the end of the reply: a model that stops at `</tag>` does not say it.

    >>> tagged("<think><answer>7</answer>?</think><answer> 42 </answer> or <answer>43</answer>", "answer")
    ' 42 '
    >>> tagged("<answer>42", "answer")
    '42'
    """
    _, opened, rest = without_thoughts(reply).partition(f"<{tag}>")
    return rest.partition(f"</{tag}>")[0] if opened else None


def first_tagged(reply: str, tags: Sequence[str]) -> tuple[str, str] | None:
    """Return the tag that opens first after a reply's thoughts, and its text as `tagged` does; None where none opens.

    >>> first_tagged("so <search>net debt</search> <answer>42</answer>", ("answer", "search"))
    ('search', 'net debt')
    """
    reply = without_thoughts(reply)
    opened = re.search("|".join(f"<({re.escape(tag)})>" for tag in tags), reply)
    if not opened:
        return None
    tag = next(name for name in opened.groups() if name)
    return tag, reply[opened.end() :].partition(f"</{tag}>")[0]


def _in_braces(reply: str, token: re.Pattern[str]) -> Iterator[str]:
    """Yield each text from a brace to the one that closes it; strings in it are skipped whole."""
    start = reply.find("{")
    while start >= 0:
        end = _closing(reply, start, token)
        if end is None:
            return
        yield reply[start:end]
        start = reply.find("{", end)


def _closing(reply: str, start: int, token: re.Pattern[str]) -> int | None:
    depth = 0
    for match in token.finditer(reply, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):  # ValueError: also a number of more than 4,300 digits
        return None


def _literal(text: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # '\d' in a reply is no fault of ohr's source
            found = ast.literal_eval(text)
        repr(found)  # a ValueError for a number that is too long to print, which only other bases than 10 can write
        return found
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # as its documentation lists them
        return None
