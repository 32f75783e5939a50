"""Replies of the chat API as completions."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from ohr.contracts import Completion
from ohr.models.tries import Failure, is_too_long, passes

_WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"})
_WHOLE |= {"tool_calls", "tool_use", "function_call"}
_CUT = frozenset({"length", "max_tokens", "model_length", "max_length", "max_output_tokens"})
_FILTERED = frozenset({"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"})
"""Names of the end of a reply that is whole, was cut at its longest, or was filtered; any other is an error, and where
a server says nothing the reply is whole."""
_STREAM = re.compile(r"\s*(data|event|id|retry)?:")
"""How an event stream begins."""
LARGEST = 4 << 20
"""Bytes of a reply after unpacking; a reply of 10,000 tokens has some 60,000."""


def completion_of(text: str, seconds: float, opening: str) -> Completion:
    """Read a reply of the chat API.

    Args:
        opening: what the reply begins with, which is left out.

    Raises:
        Failure: it is none, or not a whole one.
    """
    try:
        text.encode()  # not UTF-8 where this fails
        reply = json.loads(text)
    except (ValueError, RecursionError) as error:
        is_stream = bool(_STREAM.match(text))
        what = "an event stream, which was not asked for: " if is_stream else ""
        raise _no_completion(text, what, permanent=is_stream) from error
    if isinstance(reply, dict) and not reply.get("choices"):  # an error may pass, a reply without one is as it is
        raise _no_completion(text, permanent=_is_permanent(reply))
    try:
        choice = reply["choices"][0]
        if "message" not in choice and (isinstance(choice.get("text"), str) or "delta" in choice):
            what = "a part of a stream" if "delta" in choice else "a completion of text, from an API without chat"
            raise _no_completion(text, f"{what}: ", permanent=True)
        reason = choice.get("finish_reason")
        ending = reason.lower() if isinstance(reason, str) else ""
        message = choice.get("message", {} if ending in _CUT else None)
        content, refusal = _text(message.get("content")), message.get("refusal") or ending in _FILTERED
        usage = reply.get("usage")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise _no_completion(text) from error
    if refusal:
        why = refusal if isinstance(refusal, str) else "content filter"
        raise Failure(f"the model refused to answer: {excerpt(why)}")
    if choice.get("error") or (ending and ending not in _WHOLE | _CUT):
        why = f"the server ended the reply early ({reason})"
        raise Failure(f"{why}: {excerpt(json.dumps(choice.get('error') or content))}", why, 0.0)
    finish: Literal["stop", "length"] = "length" if ending in _CUT else "stop"
    counts = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    model = reply.get("model")
    named = model if isinstance(model, str) else ""
    return Completion(content.removeprefix(opening), *counts, seconds, finish, model=named)


def _no_completion(text: str, what: str = "", *, permanent: bool = False) -> Failure:
    series = "not a chat completion"
    return Failure(f"{series}: {what}{excerpt(text)}", series, None if permanent else 0.0, permanent=permanent)


_OF_A_FAULT = re.compile("err|fail|detail|message|msg|status|code|resp|reason", re.IGNORECASE)
"""Names of what a reply says of a fault, which may pass."""


def _is_permanent(reply: Mapping[str, Any]) -> bool:
    """Report whether a reply without choices will not be another one: nothing in it speaks of a fault that may pass."""
    said = {name for name, value in reply.items() if value is not None and _OF_A_FAULT.search(name)}
    fault = reply.get("error")
    code = str(fault.get("code")) if isinstance(fault, Mapping) else ""
    if said == {"error"} and not (code.isdecimal() and passes(int(code))):
        return is_too_long(json.dumps(fault))
    return not said and "choices" in reply


def _text(content: Any) -> str:
    """Return the content of a message: a text, or the texts among its parts; nothing where a model only thought.

    Raises:
        TypeError, AttributeError: it is something else.
    """
    if content is None or isinstance(content, str):
        return content or ""
    parts = [content] if isinstance(content, dict) else content
    if not isinstance(parts, list):
        raise TypeError("content is neither text nor parts")
    return "".join(part.get("text") or "" for part in parts if part.get("type", "text") in ("text", "output_text"))


def _count(usage: Any, name: str) -> int:
    """Read a token count; some servers leave it out, or write something else."""
    value = usage.get(name) if isinstance(usage, dict) else 0
    return value if isinstance(value, int) else 0


def excerpt(text: str) -> str:
    """Return the beginning of a text in one line, for a message."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line[:200] or "(empty)"
