"""A request of the chat API: each of its fields is heeded, is said to change nothing, or is refused."""

import json
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ohr.serving.requests import Refusal

_UNUSED = (
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "presence_penalty",
    "frequency_penalty", "repetition_penalty", "seed", "reasoning_effort", "verbosity", "parallel_tool_calls", "user",
    "metadata", "safety_identifier", "prompt_cache_key", "service_tier",
)  # fmt: skip
"""Fields that chat clients send unasked: the run's generator has settings of its own. The answer's form is the same."""

_NO_TOOLS = "the run's generator calls no tools"
_REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "n": ((1,), "the run's generator answers once"),
    "tools": (([],), _NO_TOOLS),
    "tool_choice": (("none", "auto"), _NO_TOOLS),
    "functions": (([],), _NO_TOOLS),
    "function_call": (("none", "auto"), _NO_TOOLS),
    "response_format": (({"type": "text"},), "the run's prompt decides the form of an answer"),
    "logprobs": ((False,), "generators report no probabilities"),
    "top_logprobs": ((0,), "generators report no probabilities"),
    "logit_bias": (({},), "the run's generator has settings of its own"),
    "modalities": ((["text"],), "answers are text"),
    "store": ((False,), "no question or answer is kept"),
}
"""Fields that ask for another answer, with the values that do not, and the reason why no other value is served."""


class Body(BaseModel):
    """Part of a request's JSON."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Part(Body):
    type: str
    text: str = ""


class _Message(Body):
    role: str
    content: str | list[_Part] | None = None


class _StreamOptions(Body):
    model_config = ConfigDict(extra="forbid")

    include_usage: bool | None = None
    include_obfuscation: Literal[False] | None = None


class Chat(Body):
    """A conversation to continue."""

    model_config = ConfigDict(extra="allow")

    model: str
    messages: Annotated[list[_Message], Field(min_length=1)]
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    stop: str | list[str] | None = None

    def unused(self) -> list[str]:
        """Return the fields that change nothing.

        Raises:
            Refusal: a field asks for what is not served, or is not known.
        """
        given = {name: value for name, value in (self.model_extra or {}).items() if value is not None}
        for name, value in given.items():
            plain, reason = _REFUSED.get(name, ((), ""))
            if name in _UNUSED or any(type(value) is type(each) and value == each for each in plain):  # True is not 1
                continue
            served = " or ".join(map(json.dumps, plain))
            message = f"must be {served}, or left out: {reason}" if plain else "is not served: leave it out"
            raise Refusal(HTTPStatus.BAD_REQUEST, f"{name[:60]} {message}")
        return [name for name in given if name in _UNUSED]

    def question(self) -> str:
        """Return the text of the user's last message.

        Raises:
            Refusal: there is none, or it has other parts than text.
        """
        content = next((message.content for message in reversed(self.messages) if message.role == "user"), None)
        if isinstance(content, list):
            if other := next((part.type for part in content if part.type != "text"), None):
                raise Refusal(HTTPStatus.BAD_REQUEST, f"messages: a part is {other[:50]!r}, and only text is read")
            content = "\n".join(part.text for part in content)
        if not content or content.isspace():
            message = "messages: the last message of the user is the question; there is none"
            raise Refusal(HTTPStatus.BAD_REQUEST, message)
        return content

    def cut(self, answer: str) -> str:
        """Cut an answer before the first of the words at which it is to stop."""
        words = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return answer[: min((place for word in words if word and (place := answer.find(word)) >= 0), default=None)]
