"""Any server with an OpenAI-style chat API: vLLM, llama.cpp, Ollama, or a hosted one."""

import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from threading import Event
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Image, Prompt, execution
from ohr.errors import PluginError
from ohr.files.images import bounded

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Status codes that are worth another try."""


class OpenAI(Generator):
    """Sends each prompt to `<base_url>/chat/completions`, several at once; a failing one is tried again, later."""

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
    timeout: Annotated[float, execution("Seconds to wait for one reply.", gt=0)] = 120.0
    retries: Annotated[int, execution("Further tries of a failing request.", ge=0)] = 4
    backoff: Annotated[float, execution("Seconds before the first further try; doubled each time.", ge=0)] = 1.0

    def check(self) -> None:
        """Raise when httpx or the key is missing; the server is first asked when there are prompts."""
        extras.require("httpx", "openai")
        if self.api_key_env and not os.environ.get(self.api_key_env):
            raise PluginError(f"generator openai: environment variable {self.api_key_env} is not set")

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt, in order; a request that keeps failing is a completion with an error."""
        httpx = extras.load("httpx", "openai")
        key = os.environ.get(self.api_key_env, "") if self.api_key_env else ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        stop = Event()
        threads = ThreadPoolExecutor(self.concurrency)
        with httpx.Client(headers=headers, timeout=self.timeout) as client:
            futures = [threads.submit(self._ask, client, prompt, stop) for prompt in prompts]
            try:
                for future in futures:
                    yield future.result()
            finally:  # also on Ctrl-C: whoever waits for another try is woken, and nothing new is sent
                stop.set()
                threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, client: Any, prompt: Prompt, stop: Event) -> Completion:
        began = perf_counter()
        error = ""
        for turn in range(self.retries + 1):
            completion, error, wait = self._try(client, prompt)
            error = self._masked(error)
            if completion is not None:
                return completion
            if wait is None or turn == self.retries or stop.wait(max(wait, self.backoff * 2**turn)):
                break
        return Completion("", seconds=perf_counter() - began, finish="error", error=error)

    def _about_key(self) -> str:
        if not self.api_key_env:
            return "it wants a key: name the variable that holds it, with `api_key_env`"
        return f"the key in {self.api_key_env} was refused"

    def _masked(self, message: str) -> str:
        """Take the key out of what a server says about it; messages go into the results."""
        key = os.environ.get(self.api_key_env, "") if self.api_key_env else ""
        return message.replace(key, "***") if key else message

    def _try(self, client: Any, prompt: Prompt) -> tuple[Completion | None, str, float | None]:
        """Ask once: a completion, or an error and the seconds to wait at least (None: do not try again)."""
        httpx = extras.load("httpx", "openai")
        try:
            body = self._body(prompt)
        except Exception as error:  # a benchmark or a noise may raise anything when it makes an image
            return None, f"no page image: {type(error).__name__}: {error}", None
        began = perf_counter()
        try:
            response = client.post(f"{self.base_url.rstrip('/')}/chat/completions", json=body)
        except httpx.TimeoutException:
            return None, f"no reply within {self.timeout:g} s from {self.base_url}", 0.0
        except httpx.RequestError as error:
            return None, f"cannot reach {self.base_url}: {error}", 0.0
        if response.status_code in _PASSING:
            return None, f"server answered {response.status_code}: {_excerpt(response.text)}", _retry_after(response)
        if response.status_code != 200:
            hint = "; " + self._about_key() if response.status_code in (401, 403) else ""
            return None, f"server answered {response.status_code}: {_excerpt(response.text)}{hint}", None
        return _completion(response, perf_counter() - began, prompt.opening)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": self._shown(prompt)}]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        marks = {}
        if prompt.opening and self.opening != "none":  # llama.cpp goes on with it; vLLM does when it is told to
            messages.append({"role": "assistant", "content": prompt.opening})
            marks = {"continue_final_message": True, "add_generation_prompt": False} if self.opening == "vllm" else {}
        stops = {"stop": list(self.stop)} if self.stop else {}
        plain = {"max_tokens": self.max_tokens, "temperature": self.temperature}
        return {"model": self.model, "messages": messages, **plain, **stops, **marks}

    def _shown(self, prompt: Prompt) -> Any:
        return prompt.user


class OpenAIVision(OpenAI):
    """Sends page images to a server with an OpenAI-style chat API, as PNG; the passages' text is not sent."""

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


def _completion(response: Any, seconds: float, opening: str) -> tuple[Completion | None, str, float | None]:
    try:
        reply = response.json()
        choice = reply["choices"][0]
        refusal = choice["message"].get("refusal") or choice.get("finish_reason") == "content_filter"
        text = choice["message"]["content"] or ""
        if not isinstance(text, str):
            raise TypeError("content is not text")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None, f"not a chat completion: {_excerpt(response.text)}", 0.0
    if refusal:
        reason = refusal if isinstance(refusal, str) else "content filter"
        return None, f"the model refused to answer: {_excerpt(reason)}", None
    finish: Literal["stop", "length"] = "length" if choice.get("finish_reason") == "length" else "stop"
    counts = _count(reply, "prompt_tokens"), _count(reply, "completion_tokens")
    return Completion(text.removeprefix(opening), *counts, round(seconds, 4), finish), "", None


def _count(reply: Any, name: str) -> int:
    """Read a token count; some servers leave it away, or write something else."""
    usage = reply.get("usage")
    value = usage.get(name) if isinstance(usage, dict) else 0
    return value if isinstance(value, int) else 0


def _retry_after(response: Any) -> float:
    try:
        return min(float(response.headers.get("retry-after", 0)), 60.0)
    except ValueError:
        return 0.0


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line[:200] or "(empty)"
