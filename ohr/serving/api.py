"""`ohr serve`: a run's pipeline as an external knowledge API (`/retrieval`, as Dify defines it) and as a chat API.

https://docs.dify.ai/en/use-dify/knowledge/external-knowledge-api defines the first, with its errors;
https://platform.openai.com/docs/api-reference/chat the second, of which one answer to the last question is served.
"""

import hmac
import json
from http import HTTPStatus
from math import inf
from time import time
from typing import Annotated, Any, TypeVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ohr.files.json_input import parse_json
from ohr.messages.blame import fault_of
from ohr.messages.variables import hidden
from ohr.registry import choices
from ohr.serving.http import Handler, Refusal
from ohr.serving.pipeline import Pipeline

B = TypeVar("B", bound=BaseModel)


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


_Words = Annotated[str, Field(pattern=r"\S")]


class _Setting(_Body):
    top_k: Annotated[int | None, Field(gt=0)] = None
    score_threshold: float | None = None


class _Retrieval(_Body):
    knowledge_id: str
    query: _Words
    retrieval_setting: _Setting = _Setting()
    metadata_condition: dict[str, Any] | None = None


class _Part(_Body):
    type: str
    text: str = ""


class _Message(_Body):
    role: str
    content: str | list[_Part] | None = None


class _Chat(_Body):
    model: str
    messages: Annotated[list[_Message], Field(min_length=1)]
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    n: int | None = None


class Api(Handler):
    """Answers the requests of both APIs."""

    pipeline: Pipeline
    token: str | None
    """The bearer token of every request; without one only requests under a name of this machine are served."""
    timeout = 60  # seconds without a byte of a request

    def do_GET(self) -> None:
        """Answer a request."""
        try:
            self._answer(self.body() if self.command == "POST" else b"")
        except Refusal as refusal:
            self._refuse(refusal)
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:  # retrievers, generators and benchmarks may raise anything
            self._refuse(Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, hidden(fault_of(error))))

    do_POST = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Refuse what is no request, or has another verb."""
        self._refuse(Refusal(HTTPStatus(code), message or HTTPStatus(code).phrase))

    def _answer(self, body: bytes) -> None:
        self._admit()
        routes = {
            ("POST", "/retrieval"): self._retrieve,
            ("POST", "/v1/chat/completions"): self._chat,
            ("GET", "/v1/models"): self._models,
        }
        path = self.path.partition("?")[0].rstrip("/")
        if (self.command, path) not in routes:
            listed = ", ".join(map(" ".join, routes))
            raise Refusal(HTTPStatus.NOT_FOUND, f"{self.command} {path}: there is nothing here, only {listed}")
        routes[self.command, path](body)

    def _admit(self) -> None:
        """Refuse strangers, and pages in a browser here that send what they may send to any address unasked."""
        if self.token is None:
            if not self.is_for_this_machine:
                raise Refusal(HTTPStatus.FORBIDDEN, "this address is for this machine only")
        else:
            scheme, _, given = self.headers.get("Authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not given:
                message = "Invalid Authorization header format. Expected 'Bearer <token>'."
                raise Refusal(HTTPStatus.UNAUTHORIZED, message, 1001, "invalid_api_key")
            if not hmac.compare_digest(given.strip().encode("latin-1"), self.token.encode()):  # bytes as they were sent
                raise Refusal(HTTPStatus.UNAUTHORIZED, "The token is not the server's.", 1002, "invalid_api_key")
        if self.command == "POST" and self.headers.get_content_type() != "application/json":
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json")

    def _retrieve(self, body: bytes) -> None:
        asked = _parsed(body, _Retrieval)
        setting = asked.retrieval_setting
        self._need("knowledge_id", asked.knowledge_id, 2001)
        if (asked.metadata_condition or {}).get("conditions"):
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

    def _models(self, body: bytes) -> None:  # noqa: ARG002 # as of the other routes
        self._need_generator()
        about = {"object": "model", "created": int(time()), "owned_by": "ohr"}
        self._send({"object": "list", "data": [{"id": name, **about} for name in self.pipeline.names]})

    def _chat(self, body: bytes) -> None:
        self._need_generator()
        asked = _parsed(body, _Chat)
        self._need("model", asked.model, code="model_not_found")
        if asked.n not in (None, 1):
            raise Refusal(HTTPStatus.BAD_REQUEST, "n must be 1: the run's generator answers once")
        reply, answer = self.pipeline.answer(asked.model, _question(asked.messages))
        about = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time()), "model": asked.model}
        counts = {"prompt_tokens": reply.tokens_in, "completion_tokens": reply.tokens_out}
        usage = {**counts, "total_tokens": sum(counts.values())}
        message = {"role": "assistant", "content": answer}
        if not asked.stream:
            choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
            self._send({**about, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        pieces: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
            for delta, finish in ((message, None), ({}, reply.finish))
        ]
        if (asked.stream_options or {}).get("include_usage"):
            pieces.append({"choices": [], "usage": usage})
        lines = [json.dumps({**about, "object": "chat.completion.chunk", **piece}) for piece in pieces]
        stream = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
        self.send(HTTPStatus.OK, "text/event-stream", stream.encode())

    def _need(self, key: str, name: str, number: int = 0, code: str | None = None) -> None:
        if name not in (names := self.pipeline.names):
            message = f"no {key} {name[:200]!r}. {choices(name, names)}"
            raise Refusal(HTTPStatus.NOT_FOUND, message, number, code)

    def _need_generator(self) -> None:
        if self.pipeline.generator is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "the run has no generator: only POST /retrieval is served")

    def _refuse(self, refusal: Refusal) -> None:
        if getattr(self, "path", "").startswith("/retrieval"):
            self._send({"error_code": refusal.number, "error_msg": str(refusal)}, refusal.status)
            return
        kind = "server_error" if refusal.status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
        error = {"message": str(refusal), "type": kind, "param": None, "code": refusal.code}
        self._send({"error": error}, refusal.status)

    def _send(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send(status, "application/json", json.dumps(value).encode())


def _parsed(body: bytes, model: type[B]) -> B:
    try:
        return model.model_validate(parse_json(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the request"
        reason = {"string_pattern_mismatch": "must not be empty", "missing": "is required"}.get(first["type"])
        message = f"{place}: {reason or first['msg'].replace('Input should be', 'must be')}"
        raise Refusal(HTTPStatus.BAD_REQUEST, message) from None
    except ValueError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"the request is not JSON: {error}") from None


def _question(messages: list[_Message]) -> str:
    """Return the text of the user's last message."""
    content = next((message.content for message in reversed(messages) if message.role == "user"), None)
    if isinstance(content, list):
        if other := next((part.type for part in content if part.type != "text"), None):
            raise Refusal(HTTPStatus.BAD_REQUEST, f"messages: a part is {other[:50]!r}, and only text is read")
        content = "\n".join(part.text for part in content)
    if not content or content.isspace():
        raise Refusal(HTTPStatus.BAD_REQUEST, "messages: the last message of the user is the question; there is none")
    return content
