"""Replies of the chat API as completions, and what is known of a request that has none."""

import json
from typing import Any, Literal

from ohr.contracts import Completion

_WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"})
_WHOLE |= {"tool_calls", "tool_use", "function_call"}
_CUT = frozenset({"length", "max_tokens", "model_length", "max_length", "max_output_tokens"})
_FILTERED = frozenset({"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"})
"""Names of the end of a reply that is whole, was cut at its longest, or was filtered; any other is an error, and where
a server says nothing the reply is whole."""
LARGEST = 4 << 20
"""Bytes of a reply after unpacking; a reply of 10,000 tokens has some 60,000."""


class Failure(Exception):
    """A request without an answer.

    Args:
        reason: for people.
        series: what failures of the same cause have in common; empty where the prompt itself may be the cause.
        wait: seconds before another try; None if another try would fail the same way.
        refused: the key is refused, whatever it is asked.
        status: of the server's reply; 0 where there was none.
    """

    def __init__(
        self, reason: str, series: str = "", wait: float | None = None, *, refused: bool = False, status: int = 0
    ) -> None:
        super().__init__(reason)
        self.series, self.wait, self.refused, self.status = series, wait, refused, status


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
        choice = reply["choices"][0]
        reason = choice.get("finish_reason")
        ending = reason.lower() if isinstance(reason, str) else ""
        message = choice.get("message", {} if ending in _CUT else None)
        content, refusal = _text(message.get("content")), message.get("refusal") or ending in _FILTERED
        usage = reply.get("usage")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Failure(f"not a chat completion: {excerpt(text)}", "not a chat completion", 0.0) from error
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
