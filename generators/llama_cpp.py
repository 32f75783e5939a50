"""Local GGUF models through llama.cpp in this process (xllamacpp's prebuilt wheels)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt, execution
from ohr.errors import PluginError

from . import checkpoints
from .replies import check_room

_TOO_LONG = re.compile(r"request \((\d+) tokens\) exceeds the available context size")


class LlamaCpp(Generator):
    """Answers with llama.cpp, greedily by default; a model is one GGUF file, which may be quantised."""

    kind: Literal["llama_cpp"] = "llama_cpp"
    extra: ClassVar[str | None] = "llama_cpp"
    packages: ClassVar[tuple[str, ...]] = ("xllamacpp",)
    model: Annotated[str, Field(description="A .gguf file, or smollm2-135m-instruct.")] = "smollm2-135m-instruct"
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    context: Annotated[int, Field(gt=0, description="Tokens of prompt and reply.")] = 8192
    threads: Annotated[int | None, execution("By default llama.cpp's own choice.", gt=0)] = None
    gpu_layers: Annotated[int, execution("Layers on the GPU; 0 runs on the CPU, -1 all.", ge=-1)] = 0

    def check(self) -> None:
        """Raise when xllamacpp or the model is missing."""
        extras.require("xllamacpp", "llama_cpp")
        checkpoints.check("generator llama_cpp", self.model)
        if not checkpoints.location(self.model).endswith(".gguf"):
            raise PluginError(f"generator llama_cpp: {self.model} is not a .gguf file")
        check_room("generator llama_cpp", self.context, self.max_tokens)

    def identity(self) -> Mapping[str, object]:
        """Identify the model by its file's content."""
        return {**super().identity(), "model": checkpoints.identity(self.model)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer one prompt after the other; threads share each."""
        if not prompts:
            return
        engine = _load(checkpoints.location(self.model), self.context, self.threads, self.gpu_layers)
        for prompt in prompts:
            yield self._reply(engine, prompt)

    def _reply(self, engine: Any, prompt: Prompt) -> Completion:
        """Ask; documents that are too long lose their end until the prompt fits."""
        began, asked = perf_counter(), prompt
        room = max(self.context - self.max_tokens, 1)
        while True:
            try:
                found = engine.handle_chat_completions(self._body(asked))
            except RuntimeError as error:
                found = {"error": {"message": str(error)}}
            told = _fault(found)
            length = _length(found, told)
            if length <= room or not "".join(asked.passages):
                break
            asked = _shortened(asked, min(room / length, 0.95))  # tokens are of different lengths: perhaps not enough
        seconds = round(perf_counter() - began, 4)
        if told is not None:
            return Completion("", seconds=seconds, finish="error", error=told)
        choice, usage = found["choices"][0], found["usage"]
        finish: Literal["stop", "length"] = "length" if choice["finish_reason"] == "length" else "stop"
        text = (choice["message"]["content"] or "").removeprefix(prompt.opening)
        cut = asked is not prompt
        return Completion(text, usage["prompt_tokens"], usage["completion_tokens"], seconds, finish, truncated=cut)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        if prompt.opening:  # llama.cpp goes on with a last message that is the assistant's
            messages.append({"role": "assistant", "content": prompt.opening})
        return {
            "messages": messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stop": list(self.stop),
            "seed": 0,
            "cache_prompt": False,  # else a reply may depend on the prompt before
        }


def _length(found: Any, told: str | None) -> int:
    """Read how many tokens a prompt has, from its reply or from the fault."""
    if told is None:
        return int(found["usage"]["prompt_tokens"])
    excess = _TOO_LONG.search(told)
    return int(excess[1]) if excess else 0


def _fault(found: Any) -> str | None:
    """Read what llama.cpp says about a request that it could not answer."""
    if not isinstance(found, dict) or not ("choices" in found or "error" in found or "message" in found):
        return f"not a chat completion: {str(found)[:200]}"
    if "choices" in found:
        return None
    fault = found.get("error", found)
    return str(fault.get("message", fault) if isinstance(fault, dict) else fault)


def _shortened(prompt: Prompt, share: float) -> Prompt:
    """Keep this share of the passages' characters, from the start."""
    documents = "\n\n".join(prompt.passages)
    kept = documents[: int(len(documents) * share)]
    user = (
        prompt.user.replace(documents, kept, 1)
        if documents in prompt.user
        else prompt.user[: int(len(prompt.user) * share)]
    )
    return replace(prompt, user=user, passages=(kept,))


@lru_cache(maxsize=1)
def _load(model: str, context: int, threads: int | None, gpu_layers: int) -> Any:
    library = extras.load("xllamacpp", "llama_cpp")
    settings = library.CommonParams()
    settings.model.path = str(Path(model).resolve())
    settings.n_ctx, settings.n_parallel = context, 1
    settings.n_gpu_layers, settings.verbosity = gpu_layers, -1
    settings.hostnames, settings.port = ["127.0.0.1"], 0  # it listens, though nobody asks it from outside
    if threads:
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    try:
        return library.Server(settings)
    except RuntimeError as error:
        raise PluginError(f"generator llama_cpp: cannot load {model!r}: {error}") from error
