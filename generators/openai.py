"""Any server with an OpenAI-style chat API: vLLM, llama.cpp, Ollama, or a hosted one."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from io import BytesIO
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, JsonValue, Strict

from ohr.contracts import Completion, Conversation, Generator, Image, Notes, Prompt, execution
from ohr.files.images import bounded
from ohr.models.batch_server import open_server
from ohr.models.batches import Batch, Batches, BatchNotes
from ohr.models.chat_client import ChatClient, fields_of
from ohr.models.chat_server import ChatServer

from .turns import Said, spoken

_SET_ELSEWHERE = {
    **{name: f"use the field `{name}`" for name in ("model", "max_tokens", "temperature", "stop")},
    "messages": "they are the prompt",
    "stream": "replies are read whole",
}
"""Fields of a request that `body` must not have, and the reason."""


class Body(dict[str, JsonValue]):
    """Further fields of a request: a mapping that a stage can hold, since it has a hash."""

    def __hash__(self) -> int:  # type: ignore[override] # of the names alone: 1 and 1.0 are equal, and values may nest
        return hash(frozenset(self))


def _body(given: dict[str, JsonValue]) -> Body:
    for name in given:
        if name in _SET_ELSEWHERE:
            raise ValueError(f"must not set `{name}`: {_SET_ELSEWHERE[name]}")
    return Body(given)


class OpenAI(ChatServer, Generator, kind="openai"):
    """Sends each prompt to `<base_url>/chat/completions`, several at once; tries a failing one again, later.

    Where 20 prompts in a row fail for one reason, the others fail at once; the next run asks them again.
    """

    version: ClassVar[int] = 2
    extra: ClassVar[str | None] = "openai"
    max_tokens: Annotated[
        int | None, Field(gt=0, description="Longest reply; not sent where null, or `body` has max_completion_tokens.")
    ] = 1280
    temperature: Annotated[
        float | None, Field(ge=0, description="0 decodes greedily; null sends none, for models that refuse it.")
    ] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    opening: Annotated[
        Literal["assistant", "vllm", "none"],
        Field(description="How a prompt's opening is sent: as the assistant's words, also marked for vLLM, or not."),
    ] = "assistant"
    body: Annotated[
        dict[str, JsonValue],
        AfterValidator(_body),
        Field(
            default_factory=Body,
            description="Further fields of each request, such as top_p, seed or max_completion_tokens.",
        ),
    ]

    batch: Annotated[
        Annotated[bool, Strict()] | Batch,
        execution("Send prompts in files, for replies within a day: true, or a mapping of its fields."),
    ] = False

    @property
    def posts(self) -> int:
        """The most prompts of a file; 0 where each is sent by itself."""
        return self._batch.largest_requests if self.batch else 0

    def identity(self) -> Mapping[str, object]:
        """Leave out later fields that are not used, so that replies from before them are found again."""
        made = super().identity()
        return {name: value for name, value in made.items() if value or name not in ("body", "detail")}

    def check(self) -> None:
        """Raise when a library or the key is missing, or when the key cannot be one; asks the server nothing."""
        self.check_server(f"generator {self.kind}")

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt, in order; a request that keeps failing is a completion with an error."""
        yield from self.in_order(f"generator {self.kind}", prompts, self._ask)

    def post(
        self,
        prompts: Mapping[str, Prompt],
        notes: Notes,
        say: Callable[[int, int, int], None],
        *,
        again: bool = False,
    ) -> Iterator[dict[str, Completion]]:
        """Answer prompts in batch files; see Generator."""
        with open_server(f"generator {self.kind}", self) as server:
            yield from Batches(server, BatchNotes(notes, self.model), self._batch, say, again).replies(
                prompts, self._asked
            )

    @property
    def _batch(self) -> Batch:
        return self.batch if isinstance(self.batch, Batch) else Batch()

    def chat(self, conversations: Sequence[Conversation]) -> Iterator[Completion]:
        """Continue each conversation, in order, as `answer` does; a turn without pictures is sent as one text."""
        yield from self.in_order(f"generator {self.kind}", conversations, self._continue)

    def conversing(self) -> AbstractContextManager[Callable[[Conversation], Future[Completion]]]:
        """Open what continues one conversation; `concurrency` requests are under way at once."""
        return self.asking(f"generator {self.kind}", self._continue)

    async def _ask(self, client: ChatClient, prompt: Prompt) -> Completion:
        return await client.ask(partial(self._asked, prompt), prompt.opening, slow=self.reads_images)

    async def _continue(self, client: ChatClient, conversation: Conversation) -> Completion:
        if conversation.has_pictures and not self.reads_images:
            return Completion("", finish="error", error=f"generator {self.kind} reads text, and got an image")
        return await client.ask(partial(self._continued, conversation), "", slow=conversation.has_pictures)

    def _asked(self, prompt: Prompt) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": self._shown(prompt)}]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        marks = {}
        if prompt.opening and self.opening != "none":  # llama.cpp continues such a message; vLLM does if it is marked
            messages.append({"role": "assistant", "content": prompt.opening})
            marks = {"continue_final_message": True, "add_generation_prompt": False} if self.opening == "vllm" else {}
        return self._request(messages, prompt.attempt) | marks

    def _continued(self, conversation: Conversation) -> dict[str, Any]:
        messages = [{"role": role, "content": self._content(said)} for role, said in spoken(conversation)]
        return self._request(messages, conversation.attempt)

    def _request(self, messages: list[dict[str, Any]], attempt: int) -> dict[str, Any]:
        stops = {"stop": list(self.stop)} if self.stop else {}
        plain = {"max_tokens": self.max_tokens, "temperature": self.temperature}
        request = fields_of({"model": self.model, "messages": messages, **plain, **stops}, self.body)
        if attempt and isinstance(seed := self.body.get("seed"), int):  # else a server would repeat its reply
            request["seed"] = seed + attempt
        return request

    def _shown(self, prompt: Prompt) -> Any:
        return prompt.user

    def _content(self, said: Said) -> Any:
        return said


class OpenAIVision(OpenAI, kind="openai_vision"):
    """Sends page images to a server with an OpenAI-style chat API, as PNG; the chunks' text is not sent."""

    reads_images: ClassVar[bool] = True
    max_pixels: Annotated[int, Field(gt=783, description="Larger pages are made smaller.")] = 1_003_520

    detail: Annotated[
        Literal["auto", "low", "high"] | None,
        Field(description="How closely images are looked at, on servers that know it; by default it is not sent."),
    ] = None

    def _shown(self, prompt: Prompt) -> Any:
        return [*(self._part(image) for image in prompt.images), self._part(prompt.user)]

    def _content(self, said: Said) -> Any:
        return said if isinstance(said, str) else [self._part(part) for part in said]

    def _part(self, part: str | Image) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        file = BytesIO()
        bounded(part, self.max_pixels).save(file, "PNG")
        url = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
        return {"type": "image_url", "image_url": {"url": url, **({"detail": self.detail} if self.detail else {})}}
