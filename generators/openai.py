"""Any server with an OpenAI-style chat API: vLLM, llama.cpp, Ollama, or a hosted one."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Completion, Generator, Image, Prompt
from ohr.files.images import bounded
from ohr.models.chat_client import ChatClient
from ohr.models.chat_server import ChatServer


class OpenAI(ChatServer, Generator):
    """Sends each prompt to `<base_url>/chat/completions`, several at once; tries a failing one again, later.

    Where 20 prompts in a row fail for one reason, the others fail at once; the next run asks them again.
    """

    kind: Literal["openai"] = "openai"
    extra: ClassVar[str | None] = "openai"
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    opening: Annotated[
        Literal["assistant", "vllm", "none"],
        Field(description="How a prompt's opening is sent: as the assistant's words, also marked for vLLM, or not."),
    ] = "assistant"

    def check(self) -> None:
        """Raise when a library or the key is missing, or when the key cannot be one; asks the server nothing."""
        self.check_server(f"generator {self.kind}")

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt, in order; a request that keeps failing is a completion with an error."""
        yield from self.in_order(f"generator {self.kind}", prompts, self._ask)

    async def _ask(self, client: ChatClient, prompt: Prompt) -> Completion:
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
