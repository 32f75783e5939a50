"""A system behind HTTP: a request for a question, with the answer and the contexts somewhere in the reply."""

import atexit
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from ohr import extras
from ohr.contracts import Server, SystemReply, execution
from ohr.contracts.system import SPLIT, System
from ohr.errors import DataError, PermanentError
from ohr.messages.secrets import without_key, without_passwords
from ohr.messages.variables import VARIABLE, fill
from ohr.models.chat_server import announce, check_variable
from ohr.models.reach import CONNECT, origin
from ohr.models.tries import Backoff, Failure, Retries, Tries

from .http_reply import (
    ContextPaths,
    JsonPath,
    contexts_of,
    count_of,
    excerpt,
    read_reply,
    searched,
    seconds_of,
    text_of,
)
from .ingesting import Ingest, Method, Steps, Wait
from .templates import (
    checked_headers,
    checked_url,
    filled,
    filled_url,
    places,
    plain,
    refuse_secret_urls,
    refuse_secrets,
    refuse_unknown,
    with_preset,
)

_LARGEST = 16 << 20
"""Bytes of a reply after unpacking; one with 30 pages of text has some 100,000."""
_IDLE = 8
"""Idle connections that are kept: at each request the pool looks at every one."""
_SECONDS = (*SPLIT, "seconds_unit")
_lock = Lock()


Parts = Callable[[ExitStack], Any]
"""Opens the files of an upload."""


class Reply(NamedTuple):
    """A reply: its status, headers and text."""

    status_code: int
    headers: Mapping[str, str]
    text: str

    @property
    def media_type(self) -> str:
        """The type of its content, such as `application/json`; "" where it states none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Http(System, kind="http"):
    """Sends each question to a URL, and finds the answer and the contexts in the reply by JMESPath.

    Texts of the request may hold `{question}`, `{handle}` (what `ingest` found, else the name), `{name}` of the
    knowledge base, `{plain}` (its letters and digits), `{top_k}`, and what steps of `ingest` keep. A system without
    `answer` retrieves only: use `evaluate: [retrieval]`.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    asking: ClassVar[tuple[str, ...]] = (
        *("top_k", "first_page", "url", "method", "params", "body", "answer", "contexts", "context", "may_be_empty"),
        *("error", "tokens_in", "tokens_out", "version_path", "stream", *_SECONDS),
    )
    extra: ClassVar[str | None] = "openai"
    preset: Annotated[
        str | None, Field(description="Fields for a service, such as ragflow: docs/add-a-system.md lists them.")
    ] = None
    base_url: Annotated[
        Annotated[str, AfterValidator(checked_url)] | None, Field(description="The service's root, for a preset.")
    ] = None
    url: Annotated[str, Field(description="Where a question is sent."), AfterValidator(checked_url)] = ""
    method: Annotated[Method, Field(description="How.")] = "POST"
    params: Annotated[dict[str, Any], Field(default_factory=dict, description="What is added to the URL after `?`.")]
    body: Annotated[dict[str, Any] | None, Field(description="The request, which is sent as JSON.")] = None
    headers: Annotated[
        dict[str, str],
        execution("Values come from environment variables: `Bearer ${MY_API_KEY}`."),
        AfterValidator(checked_headers),
    ] = Field(default_factory=dict)
    answer: Annotated[JsonPath | None, Field(description="The answer in the reply; without, it retrieves only.")] = None
    contexts: Annotated[JsonPath | None, Field(description="The list of contexts in the reply, best first.")] = None
    context: Annotated[ContextPaths, Field(description="`text`, `document`, `page`, `score` in a context.")] = (
        ContextPaths()
    )
    may_be_empty: Annotated[bool, Field(description="An empty list of contexts is no failure: nothing was found.")] = (
        False
    )
    error: Annotated[JsonPath | None, Field(description="What is there, and true, where a reply reports an error.")] = (
        None
    )
    stream: Annotated[
        JsonPath | None, Field(description="The reply is a stream of events; this is true in one that ends it.")
    ] = None
    tokens_in: Annotated[JsonPath | None, Field(description="Count of prompt tokens in the reply.")] = None
    tokens_out: Annotated[JsonPath | None, Field(description="Count of tokens of the answer in the reply.")] = None
    version_path: Annotated[
        JsonPath | None, Field(alias="version", description="The service's version in the reply.")
    ] = None
    seconds_retrieval: Annotated[JsonPath | None, Field(description="Time that the search took, in the reply.")] = None
    seconds_generation: Annotated[JsonPath | None, Field(description="Time that the model took, in the reply.")] = None
    seconds_unit: Annotated[Literal["s", "ms", "ns"], Field(description="Unit of these two in the reply.")] = "s"
    ingest_steps: Annotated[
        Steps, Field(alias="ingest", description="A step, or a list of steps, that bring the documents.")
    ] = ()
    wait: Annotated[Wait | None, execution("Where to look, after `ingest`, until the documents can be searched.")] = (
        None
    )
    timeout: Annotated[float, execution("Seconds for one whole reply.", gt=0)] = 120.0
    ingest_timeout: Annotated[float, execution("Seconds for a step of `ingest`.", gt=0)] = 3600.0
    retries: Retries = 4
    backoff: Backoff = 1.0

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        fields = with_preset(given)
        return fields if "ingest" in fields or "ingest_steps" in fields else {**fields, "ingest": None}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.url:
            raise ValueError("needs `url`, where a question is sent, or a `preset`")
        refuse_secret_urls(self.url, self.base_url)
        if self.answer is None and self.contexts is None:
            raise ValueError("needs `answer` or `contexts`, or both: where they are in the reply")
        request = [self.url, self.params, self.body]
        refuse_secrets(request[1:])
        known = {"name", "plain", "handle"}
        for step in self.ingest_steps:
            refuse_unknown(step.template, known | step.own_places | {"files"})
            if self.documents != "text" and "text" in places(step.template):
                raise ValueError("{text} in `ingest` is the text of a file: it needs `documents: text`")
            known |= step.kept.keys()
        refuse_unknown(self.wait.url if self.wait else "", known | {"files"})
        refuse_unknown(request, known | {"question", "top_k"})
        if "question" not in places(request):
            raise ValueError('nothing in `body`, `params` or `url` is "{question}": every question would be the same')
        return self

    def __hash__(self) -> int:  # mappings have none
        return hash((self.kind, self.url, self.answer, self.contexts))

    def identity(self) -> Mapping[str, object]:
        """Leave out what older replies in the store do not have, where it is not used: their keys stay the same."""
        younger = ("stream", *_SECONDS)
        unused = {name for name in younger if getattr(self, name) == type(self).model_fields[name].default}
        return {name: value for name, value in super().identity().items() if name not in unused}

    @property
    def answers(self) -> bool:
        """Whether it gives answers, and not contexts alone."""
        return self.answer is not None

    def check(self) -> None:
        """Raise when a library or a key is missing; asks the service nothing."""
        extras.require("httpx", "openai")
        for name in _variables(self.headers):
            check_variable(f"system {self.kind}", name)

    def servers(self) -> tuple[Server, ...]:
        """Return the addresses of the service; none where a command may start it."""
        urls = [step.url for step in self.ingest_steps] + [self.wait.url if self.wait else self.url, self.url]
        return () if None in urls else tuple(map(Server, dict.fromkeys(origin(url) for url in urls if url)))

    def ingest(self, folder: Path, name: str) -> Any:
        """Upload the files, or run the command; returns what questions need."""
        steps = Ingest(self._text, self._masked, self.error, self.ingest_timeout)
        return steps.ingest(self.ingest_steps, self.wait, folder, name)

    def ask(self, question: str, handle: Any) -> SystemReply:
        """Ask the service."""
        values = {"plain": plain(handle["name"]), **handle, "question": question, "top_k": self.top_k}
        url, parts = filled_url(self.url, values), {"params": filled(self.params, values)} if self.params else {}
        if self.body is not None:
            parts["json"] = filled(self.body, values)
        try:
            sent = self._sent(self.method, url, self.timeout, **parts)
            reply = read_reply(self._hidden(sent.text), sent.media_type, self.stream, self.error)
            # once more: a secret may come in pieces
            answer = self._hidden(text_of("answer", self.answer, reply)) if self.answer else ""
            contexts = (
                contexts_of(self.contexts, self.context, reply, may_be_empty=self.may_be_empty)
                if self.contexts
                else None
            )
            version = searched("version", self.version_path, reply) if self.version_path else None
            counts = count_of("tokens_in", self.tokens_in, reply), count_of("tokens_out", self.tokens_out, reply)
            split = [seconds_of(name, getattr(self, name), reply, self.seconds_unit) for name in SPLIT]
        except Failure as error:
            raise (PermanentError if error.permanent else DataError)(str(error)) from None
        return SystemReply(answer, contexts, *counts, None, "" if version is None else str(version), *split)

    def _text(self, method: str, url: str, seconds: float, **request: Any) -> str:
        """Send a request; returns the text of the reply, without the secrets that were sent."""
        return self._hidden(self._sent(method, url, seconds, **request).text)

    def _sent(
        self,
        method: str,
        url: str,
        seconds: float,
        *,
        repeatable: bool = True,
        parts: Parts | None = None,
        **request: Any,
    ) -> Reply:
        """Send a request.

        Raises:
            Failure: there is no reply, or one with another status than 2xx.
        """
        place = without_passwords(url.partition("?")[0])[:200]
        for name in _variables(self.headers):
            check_variable(f"system {self.kind}", name)
            announce(f"system {self.kind}", name, place)
        headers = {"Content-Type": "application/x-ndjson"} if "content" in request else {}
        headers |= {name: fill(value) for name, value in self.headers.items()}
        send = partial(_once, method, url, seconds, headers, parts, request)
        asked = (place, "", " ".join(headers.values()))
        tries = Tries(place, asked, self.retries, self.backoff, self._masked)
        end = monotonic() + seconds * (self.retries + 1)
        reply: Reply = tries.sent(send, end, repeatable=repeatable)
        return reply

    def _hidden(self, text: str) -> str:
        for name in _variables(self.headers):
            text = without_key(text, os.environ.get(name, ""))
        return text

    def _masked(self, text: str) -> str:
        return excerpt(self._hidden(text)) if text.strip() else ""


def _variables(headers: Mapping[str, str]) -> list[str]:
    return [name for value in headers.values() for name in VARIABLE.findall(value)]


def _once(
    method: str, url: str, seconds: float, headers: Mapping[str, str], parts: Parts | None, request: Mapping[str, Any]
) -> Reply:
    """Send a request once.

    Raises:
        Failure: the whole reply takes too long, or is too large.
        httpx.RequestError: the connection failed.
    """
    httpx = extras.load("httpx", "openai")
    late = Failure(f"no whole reply within {seconds:g} s from {without_passwords(url.partition('?')[0])[:200]}")
    end, body = monotonic() + seconds, bytearray()
    limit = httpx.Timeout(seconds, connect=min(seconds, CONNECT))
    with _lock:  # threads that begin together share one client
        client = _client(os.getpid())
    try:
        with ExitStack() as stack:
            more = {"files": parts(stack)} if parts else {}
            reply = stack.enter_context(client.stream(method, url, headers=headers, timeout=limit, **request, **more))
            for part in reply.iter_bytes():
                body += part
                if len(body) > _LARGEST:
                    raise Failure(f"the reply is larger than {_LARGEST >> 20} MB")
                if monotonic() > end:
                    raise late
            return Reply(reply.status_code, reply.headers, body.decode("utf-8-sig", "replace"))
    except (httpx.ReadTimeout, httpx.WriteTimeout):
        raise late from None


@cache
def _client(process: int) -> Any:  # noqa: ARG001 # a forked process must not use the sockets of its parent
    httpx = extras.load("httpx", "openai")
    client = httpx.Client(limits=httpx.Limits(max_connections=None, max_keepalive_connections=_IDLE))
    atexit.register(client.close)
    return client
