"""Any server with an OpenAI-style chat API: vLLM, llama.cpp, Ollama, or a hosted one."""

import logging
import os
from base64 import b64encode
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import cache, partial
from io import BytesIO
from ipaddress import ip_address
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Image, Prompt, execution
from ohr.errors import PluginError
from ohr.files.images import bounded

from .chat_client import ChatClient

_log = logging.getLogger(__name__)
_AHEAD = 16
"""Prompts handed out per request under way: results come in order, and a slow one must not hold up the others."""


class OpenAI(Generator):
    """Sends each prompt to `<base_url>/chat/completions`, several at once; tries a failing one again, later.

    Where 20 prompts in a row fail for one reason, the others fail at once; the next run asks them again.
    """

    kind: Literal["openai"] = "openai"
    extra: ClassVar[str | None] = "openai"
    base_url: Annotated[
        str, Field(pattern=r"^https?://", description="The API's root, such as http://localhost:8000/v1.")
    ]
    model: Annotated[str, Field(description="The model's name on the server.")]
    api_key_env: Annotated[str | None, execution("Environment variable that holds the key.")] = None
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    opening: Annotated[
        Literal["assistant", "vllm", "none"],
        Field(description="How a prompt's opening is sent: as the assistant's words, also marked for vLLM, or not."),
    ] = "assistant"
    concurrency: Annotated[int, execution("Requests under way at once.", gt=0)] = 8
    timeout: Annotated[float, execution("Seconds for one whole reply.", gt=0)] = 120.0
    retries: Annotated[int, execution("Further tries of a failing request.", ge=0)] = 4
    backoff: Annotated[float, execution("Seconds before the first further try; doubled each time.", ge=0)] = 1.0

    def check(self) -> None:
        """Raise when a library or the key is missing, or when the key cannot be one; asks the server nothing."""
        extras.require("httpx", "openai")
        if "@" in urlsplit(self.base_url).netloc:
            raise PluginError(f"generator {self.kind}: base_url holds a user name or a key; use `api_key_env` instead")
        if not self.api_key_env:
            return
        key = os.environ.get(self.api_key_env, "")
        if not key:
            raise PluginError(f"generator {self.kind}: environment variable {self.api_key_env} is not set")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise PluginError(
                f"generator {self.kind}: environment variable {self.api_key_env} has a space, a line end, or another "
                "character that cannot be part of a key"
            )

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt, in order; a request that keeps failing is a completion with an error."""
        if not prompts:
            return
        httpx, anyio = extras.load("httpx", "openai"), extras.load("anyio.from_thread", "openai")
        key = os.environ.get(self.api_key_env, "") if self.api_key_env else ""
        if self.api_key_env and key:
            _announce(self.kind, self.api_key_env, self.base_url)
        # the portal cancels what is under way when this generator is closed, also on Ctrl-C
        with anyio.start_blocking_portal() as portal:
            http = httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_connections=None))
            client = ChatClient(http, self.base_url, key, self.api_key_env, self.timeout, self.retries, self.backoff)
            with portal.wrap_async_context_manager(http):
                limit = portal.call(partial(extras.load("anyio", "openai").CapacityLimiter, self.concurrency))
                waiting: deque[Future[Completion]] = deque()
                for prompt in prompts:
                    waiting.append(portal.start_task_soon(self._ask, client, limit, prompt))
                    if len(waiting) >= _AHEAD * self.concurrency:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()

    async def _ask(self, client: ChatClient, limit: Any, prompt: Prompt) -> Completion:
        async with limit:
            return await client.ask(partial(self._body, prompt), prompt.opening)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": self._shown(prompt)}]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        marks = {}
        if prompt.opening and self.opening != "none":  # llama.cpp continues such a message; vLLM does if it is marked
            messages.append({"role": "assistant", "content": prompt.opening})
            marks = {"continue_final_message": True, "add_generation_prompt": False} if self.opening == "vllm" else {}
        stops = {"stop": list(self.stop)} if self.stop else {}
        plain = {"max_tokens": self.max_tokens, "temperature": self.temperature}
        return {"model": self.model, "messages": messages, **plain, **stops, **marks}

    def _shown(self, prompt: Prompt) -> Any:
        return prompt.user


class OpenAIVision(OpenAI):
    """Sends page images to a server with an OpenAI-style chat API, as PNG; the chunks' text is not sent."""

    kind: Literal["openai_vision"] = "openai_vision"  # type: ignore[assignment] # a plugin of its own
    reads_images: ClassVar[bool] = True
    max_pixels: Annotated[int, Field(gt=783, description="Larger pages are made smaller.")] = 1_003_520

    def _shown(self, prompt: Prompt) -> Any:
        pages = [{"type": "image_url", "image_url": {"url": self._encoded(image)}} for image in prompt.images]
        return [*pages, {"type": "text", "text": prompt.user}]

    def _encoded(self, image: Image) -> str:
        file = BytesIO()
        bounded(image, self.max_pixels).save(file, "PNG")
        return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


@cache  # once per process and server
def _announce(kind: str, variable: str, url: str) -> None:
    """Warn where a key goes that leaves this machine: the spec that names both may be a stranger's."""
    host = urlsplit(url).hostname or url
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name
        is_here = False
    if not is_here:
        _log.warning("generator %s: sends the key in %s to %s", kind, variable, url)
