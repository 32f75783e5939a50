"""`ohr serve`: a run's pipeline as an external knowledge API (`/retrieval`, as Dify defines it) and as a chat API.

https://docs.dify.ai/en/use-dify/knowledge/external-knowledge-api defines the first, with its errors;
https://platform.openai.com/docs/api-reference/chat the second, of which one answer to the last question is served.
"""

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from math import inf
from time import time
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import unquote
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ohr.contracts import Completion
from ohr.registry import choices
from ohr.serving.http import Handler, Refusal, Verbs, json_of
from ohr.serving.pipeline import Pipeline

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


B = TypeVar("B", bound=BaseModel)

UNUSED = "X-Ohr-Unused"
"""The header of a chat's answer that names the fields of the request which changed nothing."""

_REASONS = {
    "string_pattern_mismatch": "must not be empty",
    "too_short": "must not be empty",
    "missing": "is required",
    "extra_forbidden": "is not known: leave it out",
    "model_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
}
"""Faults of a request in our words, by their kind."""
_HEADER = re.compile(r"[A-Za-z0-9-]{1,60}")
_USUAL = ("authorization", "content-type")
_PIECE = 40
"""Characters of a piece of a streamed answer."""


class _Setting(Body):
    model_config = ConfigDict(extra="forbid")

    top_k: Annotated[int | None, Field(gt=0)] = None
    score_threshold: float | None = None


class _Retrieval(Body):
    model_config = ConfigDict(extra="forbid")

    knowledge_id: str
    query: Annotated[str, Field(pattern=r"\S")]
    retrieval_setting: _Setting = _Setting()
    metadata_condition: dict[str, Any] | None = None


class Api(Handler):
    """Answers the requests of both APIs."""

    pipeline: Pipeline
    token: str | None
    """The bearer token of every request; without one only requests under a name of this machine are served."""
    origins: tuple[str, ...] = ()
    """Origins whose pages a browser may let read answers; `*` for all."""

    def routes(self) -> Verbs:
        """Return what answers at the address."""
        places: dict[str, Verbs] = {
            "/retrieval": {"POST": self._retrieve},
            "/v1/chat/completions": {"POST": self._chat},
            "/v1/models": {"GET": self._models},
            "/health": {"GET": self._health},
            "/": {"GET": self._health},
        }
        path = self.address.rstrip("/") or "/"
        if (name := path.removeprefix("/v1/models/")) != path:
            places[path] = {"GET": lambda _: self._model(unquote(name))}
        if path not in places:
            raise Refusal(HTTPStatus.NOT_FOUND, f"{path}: there is nothing here, only {', '.join(places)}")
        return {**places[path], "OPTIONS": self._preflight} if self.origins else places[path]

    def admit(self) -> None:
        """Refuse strangers, and pages in a browser here that send what they may send to any address unasked."""
        if self.token is None:
            super().admit()
        elif self.command != "OPTIONS":  # with which browsers send no token
            self._check_token(self.token)
        if self.command == "POST" and self.headers.get_content_type() != "application/json":
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json")

    def _check_token(self, token: str) -> None:
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        number, message = 1002, "The token is not the server's."
        if scheme.lower() != "bearer" or not given:
            number, message = 1001, "Invalid Authorization header format. Expected 'Bearer <token>'."
        elif hmac.compare_digest(given.strip().encode("latin-1"), token.encode()):  # bytes as they were sent
            return
        headers = {"WWW-Authenticate": "Bearer"}
        raise Refusal(HTTPStatus.UNAUTHORIZED, message, number, "invalid_api_key", headers)

    def _preflight(self, body: bytes) -> None:  # noqa: ARG002 # as of the other routes
        """Report to a browser that a page of another origin may ask."""
        if "Origin" in self.headers and not self._origin:
            raise Refusal(HTTPStatus.FORBIDDEN, "pages of this origin are not answered: --cors-origin names others")
        verbs = ", ".join(self.routes())
        headers = {"Allow": verbs, "Access-Control-Allow-Methods": verbs}
        self.begin(HTTPStatus.NO_CONTENT, {**headers, "Access-Control-Allow-Headers": self._asked_headers()})

    def _asked_headers(self) -> str:
        """Return the headers that a page would send, as clients in a browser add some of their own."""
        asked = self.headers.get("Access-Control-Request-Headers", "").lower().split(",")
        further = (name for each in asked if _HEADER.fullmatch(name := each.strip()) and name not in _USUAL)
        return ", ".join(["Authorization", "Content-Type", *further])

    @property
    def _origin(self) -> str:
        """The origin that may read the answer; "" for none."""
        origin = self.headers.get("Origin", "")
        return "*" if "*" in self.origins else origin if origin in self.origins else ""

    def end_headers(self) -> None:
        """End the head of an answer with who may read it."""
        if self.origins:
            self.send_header("Vary", "Origin")
        if self._origin:
            self.send_header("Access-Control-Allow-Origin", self._origin)
            self.send_header("Access-Control-Expose-Headers", UNUSED)
        super().end_headers()

    def _health(self, body: bytes) -> None:  # noqa: ARG002
        names = list(self.pipeline.names)
        models = names if self.pipeline.generator else []
        self._send({"status": "ok", "run": self.pipeline.run, "knowledge_ids": names, "models": models})

    def _retrieve(self, body: bytes) -> None:
        asked = _parsed(body, _Retrieval)
        setting = asked.retrieval_setting
        self._need("knowledge_id", asked.knowledge_id, 2001)
        if asked.metadata_condition and asked.metadata_condition.get("conditions", True):
            raise Refusal(HTTPStatus.BAD_REQUEST, "metadata_condition is not served: leave it out")
        found = self.pipeline.search(asked.knowledge_id, asked.query, setting.top_k or self.pipeline.retriever.top_k)
        least = setting.score_threshold or -inf  # 0 means none, as scores may be negative
        records = [
            {
                "content": hit.chunk.text,
                "score": hit.score,
                "title": hit.chunk.document,
                "metadata": {"document": hit.chunk.document, "page": hit.chunk.pages[0] + 1, "chunk": hit.chunk.id},
            }
            for hit in found
            if hit.score >= least
        ]
        self._send({"records": records})

    def _models(self, body: bytes) -> None:  # noqa: ARG002
        self._need_generator()
        self._send({"object": "list", "data": [_about_model(name) for name in self.pipeline.names]})

    def _model(self, name: str) -> None:
        self._need_generator()
        self._need("model", name, code="model_not_found")
        self._send(_about_model(name))

    def _chat(self, body: bytes) -> None:
        self._need_generator()
        asked = _parsed(body, Chat)
        self._need("model", asked.model, code="model_not_found")
        unused, question = asked.unused(), asked.question()
        headers = {UNUSED: ", ".join(unused)} if unused else {}
        about = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time()), "model": asked.model}
        if asked.stream:
            self._stream(asked, question, {**about, "object": "chat.completion.chunk"}, headers)
            return
        reply, answer = self._reply(asked, question)
        message = {"role": "assistant", "content": answer}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
        whole = {**about, "object": "chat.completion", "choices": [choice], "usage": _usage(reply)}
        self._send(whole, headers=headers)

    def _stream(self, asked: Chat, question: str, about: dict[str, Any], headers: dict[str, str]) -> None:
        """Send an answer in pieces; its head goes first, so that the client sees that it is being worked on."""

        def send(choices: list[dict[str, Any]], **more: Any) -> None:
            self.write(f"data: {json.dumps({**about, 'choices': choices, **more})}\n\n".encode())

        def send_piece(finish: str | None = None, **delta: str) -> None:
            send([{"index": 0, "delta": delta, "finish_reason": finish}])

        self.begin(HTTPStatus.OK, {"Content-Type": "text/event-stream", **headers})
        send_piece(role="assistant", content="")
        try:
            reply, answer = self._reply(asked, question)
        except (Exception, SystemExit) as error:  # plugins may raise anything
            self.write(f"data: {json.dumps(_error(Refusal.of(error)))}\n\n".encode())
        else:
            for start in range(0, len(answer), _PIECE):
                send_piece(content=answer[start : start + _PIECE])
            send_piece(reply.finish)
            if asked.stream_options and asked.stream_options.include_usage:
                send([], usage=_usage(reply))
        self.write(b"data: [DONE]\n\n")

    def _reply(self, asked: Chat, question: str) -> tuple[Completion, str]:
        reply, answer = self.pipeline.answer(asked.model, question)
        cut = asked.cut(answer)
        return reply if cut == answer else replace(reply, finish="stop"), cut

    def _need(self, key: str, name: str, number: int = 0, code: str | None = None) -> None:
        if name not in (names := self.pipeline.names):
            message = f"no {key} {name[:200]!r}. {choices(name, names)}"
            raise Refusal(HTTPStatus.NOT_FOUND, message, number, code)

    def _need_generator(self) -> None:
        if self.pipeline.generator is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "the run has no generator: only POST /retrieval is served")

    def refuse(self, refusal: Refusal) -> None:
        """Send the reason why a request is not served, in the form of the API."""
        of_knowledge = {"error_code": refusal.number, "error_msg": str(refusal)}
        error = of_knowledge if self.address.startswith("/retrieval") else _error(refusal)
        self._send(error, refusal.status, refusal.headers)

    def _send(self, value: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> None:
        self.send(status, "application/json", json.dumps(value).encode(), headers)


def _error(refusal: Refusal) -> dict[str, Any]:
    kind = "server_error" if refusal.status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    return {"error": {"message": str(refusal), "type": kind, "param": None, "code": refusal.code}}


def _about_model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": int(time()), "owned_by": "ohr"}


def _usage(reply: Completion) -> dict[str, int]:
    counts = {"prompt_tokens": reply.tokens_in, "completion_tokens": reply.tokens_out}
    return {**counts, "total_tokens": sum(counts.values())}


def _parsed(body: bytes, model: type[B]) -> B:
    try:
        return model.model_validate(json_of(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the request"
        reason = _REASONS.get(first["type"])
        message = f"{place}: {reason or first['msg'].replace('Input should be', 'must be')}"
        raise Refusal(HTTPStatus.BAD_REQUEST, message) from None
