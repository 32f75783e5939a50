"""Tokens of a request before it is sent, as far as they can be known."""

from collections.abc import Iterator, Mapping
from typing import Any

from ohr.text.tokens import count_tokens

_PICTURE = 1000
"""Tokens of a picture: a page of some 1,000 x 1,000 pixels has 765 to 1,300 in the published rules of hosted models.
The mean of what the server counts corrects it."""
_MESSAGE = 4
"""Tokens that a chat format adds to a message."""


def size_of(body: Mapping[str, Any], *, counted: bool) -> tuple[int, int | None]:
    """Return the tokens of a request's messages, and the most that its reply may have; None where it does not say.

    Args:
        counted: count them, which takes a millisecond for 10,000 characters; else they are 0.
    """
    longest = body.get("max_completion_tokens") or body.get("max_tokens")
    size = sum(_MESSAGE + sum(map(_tokens, _parts(message))) for message in body["messages"]) if counted else 0
    return size, longest if isinstance(longest, int) else None


def _parts(message: Mapping[str, Any]) -> Iterator[Any]:
    content = message.get("content")
    yield from content if isinstance(content, list) else (content,)


def _tokens(part: Any) -> int:
    text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
    return _PICTURE if text is None else count_tokens(str(text))
