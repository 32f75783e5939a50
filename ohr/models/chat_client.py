"""Requests to a chat server: one deadline for a whole reply, more tries, and nothing of the key in what comes back."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from ohr import extras
from ohr.contracts import Completion
from ohr.messages.secrets import without_key
from ohr.models.allowance import Allowance, Sent, new_turn, size_of
from ohr.models.reach import lose, lost, met, port_of
from ohr.models.tries import BUSY, Failure, Policy, is_too_long, noted, of_connection, of_reply, passes, refused
from ohr.models.waiting import waits

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


_SERIES = 20
"""Failed prompts in a row, for one reason, after which the server is not asked any more."""
_LOOK = 0.25
"""Most seconds between two looks for room in a limit per minute: a reply may give some back."""


@dataclass
class _Reply:
    """A reply as far as it is known, also where it is no completion."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    tokens: tuple[int, int] = (0, 0)


@dataclass
class ChatClient:
    """Asks one server; its state is how many prompts have failed in a row.

    Args:
        http: an httpx.AsyncClient.
        url: the API's root.
        model: its name on the server.
        key: sent as a bearer token, and removed from everything that comes back.
        key_name: the variable that holds the key.
        timeout: seconds for one try, from the first byte sent to the last one received. All tries of a prompt, and the
            waits between them, have `retries + 1` times as many.
        allowance: what may be asked in a minute; None for no limit. To wait for it counts in no time limit.
    """

    http: Any
    url: str
    model: str
    key: str
    key_name: str | None
    timeout: float
    policy: Policy
    allowance: Allowance | None = None
    series: str = field(default="", init=False)
    failed: int = field(default=0, init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)  # those that wait keep their order

    async def ask(self, body: Callable[[], Mapping[str, Any]], opening: str, *, slow: bool = True) -> Completion:
        """Return a reply without its opening, or a completion with an error; raises nothing.

        Args:
            slow: to make the body takes long, as page images are rendered and packed: a thread does it.
        """
        anyio = extras.load("anyio", "openai")
        began = anyio.current_time()
        if self.failed >= _SERIES:
            reason = f"not asked: {_SERIES} prompts in a row failed: {self.series}"
            return Completion("", finish="error", error=reason)
        asked = (self.url, self.model, self.key)
        if reason := refused(*asked) or lost(self.url):
            return Completion("", finish="error", error=reason)
        try:
            completion = await self._in_time(await self._made(body, slow=slow), opening)
        except Failure as failure:
            self.failed = self.failed + 1 if failure.series and failure.series == self.series else bool(failure.series)
            self.series, reason = failure.series, noted(*asked, failure.reason, refusal=failure.refused)
            if failure.unreached:
                reason = lose(self.url, failure.unreached, start_of(self.url, self.model))
            return Completion("", seconds=anyio.current_time() - began, finish="error", error=reason)
        self.series, self.failed = "", 0
        noted(*asked, "")
        return completion

    async def _made(self, body: Callable[[], Mapping[str, Any]], *, slow: bool) -> Mapping[str, Any]:
        try:
            made: Mapping[str, Any] = await extras.load("anyio", "openai").to_thread.run_sync(body) if slow else body()
            return made
        except Exception as error:  # a benchmark or a noise may raise anything while it makes an image
            raise Failure(f"no page image: {type(error).__name__}: {error}") from error

    async def _in_time(self, body: Mapping[str, Any], opening: str) -> Completion:
        """Ask until there is an answer, the tries are used up, or the time is."""
        anyio = extras.load("anyio", "openai")
        end = anyio.current_time() + self.timeout * (self.policy.retries + 1)
        for turn in count():
            try:
                began, sent = anyio.current_time(), await self._admitted(body)
                end += anyio.current_time() - began
                with anyio.fail_after(min(self.timeout, end - anyio.current_time())):
                    return await self._counted(body, opening, sent)
            except TimeoutError:
                failure = Failure(f"no whole reply within {self.timeout:g} s from {self.url}", "no reply in time", 0.0)
            except Failure as caught:
                failure = caught
            except Exception as error:  # an odd reply makes the libraries raise what they do not document
                failure = Failure(self._masked(f"{type(error).__name__}: {error}"), type(error).__name__)
            pause = self.policy.pause(turn, failure, end - anyio.current_time())
            if pause is None:
                raise failure
            await anyio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def _admitted(self, body: Mapping[str, Any]) -> Sent | None:
        """Wait until the limits per minute have room for a request; None where there are no limits."""
        if self.allowance is None:
            return None
        prompt, longest = size_of(body, counted=self.allowance.tokens is not None)
        async with self._turn:
            turn = new_turn()
            while not isinstance(sent := self.allowance.wait(prompt, longest, turn), Sent):
                waits()
                await asyncio.sleep(min(sent, _LOOK))
        return sent

    async def _counted(self, body: Mapping[str, Any], opening: str, sent: Sent | None) -> Completion:
        """Ask once, and count what it took of the limits per minute."""
        reply = _Reply()
        try:
            return await self._once(body, opening, reply)
        finally:
            if self.allowance and sent:
                self.allowance.settle(sent, reply.tokens, reply.headers, busy=reply.status == BUSY)

    async def _once(self, body: Mapping[str, Any], opening: str, reply: "_Reply") -> Completion:
        httpx, anyio = extras.load("httpx", "openai"), extras.load("anyio", "openai")
        began = anyio.current_time()
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            url = f"{self.url.rstrip('/')}/chat/completions"
            async with self.http.stream("POST", url, json=body, headers=headers) as response:
                text = self._masked((await _read(response)).decode("utf-8-sig", "surrogateescape"))
        except httpx.RequestError as error:
            raise of_connection(error, self.url, self._masked) from error
        met(self.url)
        status, reply.status, reply.headers = response.status_code, response.status_code, response.headers
        if status != 200:
            hint = "; " + self._about_key() if status in (401, 403) else ""
            raise of_reply(f"server answered {status}: {excerpt(text)}{hint}", status, text, response.headers)
        completion = completion_of(text, round(anyio.current_time() - began, 4), opening)
        reply.tokens = completion.tokens_in, completion.tokens_out
        return completion

    def _about_key(self) -> str:
        if not self.key_name:
            return "it requires a key: name the variable that holds it with `api_key_env`"
        return f"the key in {self.key_name} was refused"

    def _masked(self, text: str) -> str:
        """Remove the key from the messages of a server or a library, because they go into the results."""
        return without_key(text, self.key)


async def _read(response: Any) -> bytes:
    """Read a body as it comes, unpacked, up to the largest size."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > LARGEST:
            raise Failure(f"the reply is larger than {LARGEST >> 20} MB", "the reply is too large")
    return bytes(body)


def fields_of(request: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with further fields: null leaves one out, and `max_completion_tokens` replaces `max_tokens`."""
    made = {**request, **further}
    if further.get("max_completion_tokens") is not None:
        made.pop("max_tokens", None)
    return {name: value for name, value in made.items() if value is not None}


def start_of(url: str, model: str) -> str:
    """Return a command that starts a chat server with a model."""
    return f"vllm serve {model} --port {port_of(url)}"
