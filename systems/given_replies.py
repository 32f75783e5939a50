"""Replies of systems from what users give: text, a mapping, or a `SystemReply`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ohr.contracts import Context, SystemReply
from ohr.errors import DataError


def as_reply(given: Any) -> SystemReply:
    """Read what a Python class returned for a question.

    Args:
        given: the answer; or a mapping with `answer`, and perhaps `contexts` (texts, or mappings with `text`,
            `document`, `page`, `score`), `tokens_in`, `tokens_out`, `seconds`, of these `seconds_retrieval` and
            `seconds_generation`, and `version`; or a `SystemReply`.

    Raises:
        DataError: it is none of these.
    """
    if isinstance(given, SystemReply):
        return given
    if isinstance(given, str):
        return SystemReply(given)
    if not isinstance(given, Mapping):
        raise DataError(f"`ask` returned {type(given).__name__}: it must return text, a mapping or a SystemReply")
    known = [field.name for field in fields(SystemReply)]
    if odd := sorted(set(map(str, given)) - set(known)):
        raise DataError(f"`ask` returned a mapping with {odd[0]!r}: it may have {', '.join(known)}")
    if not isinstance(given.get("answer"), str):
        raise DataError(f"`ask` returned an `answer` that is {type(given.get('answer')).__name__}, not text")
    contexts = given.get("contexts")
    read = None if contexts is None else as_contexts(contexts)
    return SystemReply(**{**given, "contexts": read})


def as_contexts(given: Any) -> tuple[Context, ...]:
    """Read contexts: texts, mappings, or `Context` values, best first.

    Raises:
        DataError: one of them is none of these.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise DataError(f"contexts are {type(given).__name__}: they must be a list")
    return tuple(map(_context, given))


def _context(given: Any) -> Context:
    if isinstance(given, Context):
        return given
    if isinstance(given, str):
        return Context(given)
    if not isinstance(given, Mapping):
        raise DataError(f"a context is {type(given).__name__}: it must be text, or a mapping with `text`")
    known = [field.name for field in fields(Context)]
    if odd := sorted(set(map(str, given)) - set(known)):
        raise DataError(f"a context has {odd[0]!r}: it may have {', '.join(known)}")
    return Context(**{name: value for name, value in given.items() if value is not None})
