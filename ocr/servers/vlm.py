"""Vision-language models behind an OpenAI-style chat API: vLLM, SGLang, llama.cpp, Ollama, or a hosted one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr.contracts import Completion, Ending, Image, Recognition, execution
from ohr.keys import key
from ohr.models.chat_client import ChatClient, fields_of
from ohr.models.chat_server import ChatServer
from ohr.models.resident import resident
from ohr.text.loops import repeated_tail
from ohr.text.thoughts import without_thoughts

from ..structured import StructuredOcr
from .pictures import as_url, fitted, turned
from .preset import READERS, Preset, Reply, read_preset

_LOOP = 0.3  # of a reply that was cut: a repeated tail of this share is a loop, not a long table


class Vlm(ChatServer, StructuredOcr, kind="vlm"):
    """Sends each page image to `<base_url>/chat/completions` and reads the reply in the model's convention.

    A preset has the prompt, the order of image and text, pixels, sampling, and how the reply is read. A reply that is
    cut at its longest, or runs in a loop, is kept and counted; `olmocr` asks again first, as olmOCR does. The address
    is not part of the results' keys, the model's name is: where a reply names another model than the first one did,
    the page fails.
    """

    version: ClassVar[int] = 2
    extra: ClassVar[str | None] = "openai"
    counts_tokens: ClassVar[bool] = True
    base_url: Annotated[str, execution("The API's root, such as http://localhost:8000/v1.", pattern=r"^https?://")]
    preset: Annotated[str | Path, Field(description="ohrbench, olmocr, nanonets, ... or your own file.")] = "ohrbench"
    max_tokens: Annotated[int | None, Field(gt=0, description="Longest reply; by default the preset's.")] = None
    longest_side: Annotated[int | None, Field(gt=0, description="Pixels; by default the preset's.")] = None
    temperatures: Annotated[
        tuple[float, ...] | None, Field(min_length=1, description="One for each attempt; by default the preset's.")
    ] = None
    extra_body: Annotated[
        dict[str, Any], Field(default_factory=dict, description="Further fields of the request; null leaves one out.")
    ]
    batch_size: Annotated[int, execution("Pages handed out at once.", gt=0)] = 64
    timeout: Annotated[float, execution("Seconds for one whole reply.", gt=0)] = 300.0

    def __hash__(self) -> int:  # a mapping has none
        return hash((self.kind, self.base_url, self.model, self.preset, json.dumps(self.extra_body, sort_keys=True)))

    def check(self) -> None:
        """Raise when a library, the preset or the key is missing; asks the server nothing."""
        self._preset()
        self.check_server(f"ocr {self.kind}")

    def identity(self) -> Mapping[str, object]:
        """Identify the model by its name, and the preset by its content."""
        preset = self._preset()
        return {**super().identity(), "preset": key("preset", preset.model_dump(mode="json"), preset.words)}

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Read pages, several at once; results come in their order."""
        preset = self._preset()
        first: dict[str, str] = resident(("vlm", self.base_url, self.model), dict)
        ask = partial(self._page, preset, images, first)
        yield from self.in_order(f"ocr {self.kind}", range(len(images)), ask)

    def _preset(self) -> Preset:
        own = {"max_tokens": self.max_tokens, "longest_side": self.longest_side, "temperatures": self.temperatures}
        changed = {name: value for name, value in own.items() if value is not None}
        return _read(self.preset).model_copy(update=changed)

    async def _page(
        self, preset: Preset, images: Sequence[Image], first: dict[str, str], client: ChatClient, place: int
    ) -> Recognition:
        """Ask for a page until the reply is good, or the attempts are used up."""
        read, turn, spent = Recognition(error="never asked"), 0, Completion("")
        for temperature in preset.temperatures:
            body = partial(self._body, preset, images, place, temperature, turn)
            completion = await client.ask(body, "")
            spent = replace(
                completion,
                tokens_in=spent.tokens_in + completion.tokens_in,
                tokens_out=spent.tokens_out + completion.tokens_out,
                seconds=spent.seconds + completion.seconds,
            )
            if error := completion.error or _changed(first, completion.model):
                return Recognition(error=error, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)
            reply = READERS[preset.reply](without_thoughts(completion.text))
            read = _recognition(spent, reply)
            if reply.turn and not turn:
                turn = reply.turn
            elif not reply.problem and read.finish == "stop":
                break
        return read

    def _body(
        self, preset: Preset, images: Sequence[Image], place: int, temperature: float, turn: int
    ) -> dict[str, Any]:
        image = turned(images[place], turn)
        small = fitted(image, preset.longest_side, preset.max_pixels, preset.multiple)
        content = [
            {"type": "image_url", "image_url": {"url": as_url(small, preset.encoding)}},
            {"type": "text", "text": preset.words},
        ]
        messages: list[dict[str, Any]] = [{"role": "user", "content": content if preset.image_first else content[::-1]}]
        if preset.system != "":
            messages.insert(0, {"role": "system", "content": preset.system or ""})
        sampling = {"temperature": temperature, **({"top_p": preset.top_p} if preset.top_p else {})}
        lengths: dict[str, Any] = {preset.length_field: preset.max_tokens}
        request = {"model": self.model, "messages": messages, **lengths, **sampling}
        return fields_of(request, {**preset.extra_body, **self.extra_body})


def _changed(first: dict[str, str], model: str) -> str:
    """Explain that another model answers now than at first; empty where it is the same."""
    known = first.setdefault("model", model)
    return f"the server's model changed from {known!r} to {model!r}" if model != known else ""


@cache  # once per process
def _read(preset: str | Path) -> Preset:
    return read_preset(preset)


def _recognition(done: Completion, reply: Reply) -> Recognition:
    finish: Ending = "stop"
    if done.finish == "length":
        finish = "repeat" if repeated_tail(done.text) >= _LOOP else "length"
    return Recognition(
        blocks=reply.blocks,
        finish=finish,
        tokens_in=done.tokens_in,
        tokens_out=done.tokens_out,
        seconds=done.seconds,
        reader=done.model,
    )
