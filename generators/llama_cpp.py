"""Local GGUF models through llama.cpp in this process (xllamacpp's prebuilt wheels)."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Prompt, Resources, execution
from ohr.errors import PluginError

from .local_model import MODELS, LocalModel

_TOO_LONG = re.compile(r"request \((\d+) tokens\) exceeds the available context size")


class LlamaCpp(LocalModel, kind="llama_cpp"):
    """Answers with llama.cpp, greedily by default; a model is one GGUF file, which may be quantised."""

    extra: ClassVar[str | None] = "llama_cpp"
    packages: ClassVar[tuple[str, ...]] = ("xllamacpp",)
    libraries: ClassVar[tuple[str, ...]] = ("xllamacpp",)
    loaded_by: ClassVar[tuple[str, ...]] = ("model", "context", "threads", "gpu_layers")
    model: Annotated[str, Field(description="A .gguf file, or smollm2-135m-instruct.")] = "smollm2-135m-instruct"
    context: Annotated[int, Field(gt=0, description="Tokens of prompt and reply together.")] = 8192
    threads: Annotated[int | None, execution("By default llama.cpp's own choice.", gt=0)] = None
    gpu_layers: Annotated[int, execution("Layers on the GPU; 0 runs on the CPU, -1 all.", ge=-1)] = 0

    def check(self) -> None:
        """Raise when xllamacpp or the model is missing, or when the window has no room for a prompt."""
        super().check()
        if not MODELS.location(self.model).endswith(".gguf"):
            raise PluginError(f"{self.owner}: {self.model} is not a .gguf file")

    def resources(self) -> Resources:
        """Return the engine's resources; one that chooses its threads itself takes every core."""
        return Resources(cpus=self.threads or os.cpu_count() or 1, gpus=float(self.gpu_layers != 0), alone=True)

    def load(self) -> Any:
        """Start the engine."""
        library = extras.load("xllamacpp", "llama_cpp")
        settings, place = library.CommonParams(), MODELS.location(self.model)
        settings.model.path = str(Path(place).resolve())
        settings.n_ctx, settings.n_parallel = self.context, 1
        settings.n_gpu_layers, settings.verbosity = self.gpu_layers, -1
        settings.hostnames, settings.port = ["127.0.0.1"], 0  # it listens, though nobody asks it from outside
        if self.threads:
            settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = self.threads
        try:
            return library.Server(settings)
        except RuntimeError as error:
            raise PluginError(f"{self.owner}: cannot load {place!r}: {error}") from error

    def replies(self, engine: Any, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer one prompt after the other; the threads share each."""
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
            fault = _fault(found)
            length = _length(found, fault)
            if length <= room or not "".join(asked.passages):
                break
            asked = _shortened(asked, min(room / length, 0.95))  # tokens are of different lengths: perhaps not enough
        seconds = round(perf_counter() - began, 4)
        if fault is not None:
            return Completion("", seconds=seconds, finish="error", error=fault)
        choice, usage = found["choices"][0], found["usage"]
        finish: Literal["stop", "length"] = "length" if choice["finish_reason"] == "length" else "stop"
        text = (choice["message"]["content"] or "").removeprefix(prompt.opening)
        cut = asked is not prompt
        return Completion(text, usage["prompt_tokens"], usage["completion_tokens"], seconds, finish, truncated=cut)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        if prompt.opening:  # llama.cpp continues a last message that is the assistant's
            messages.append({"role": "assistant", "content": prompt.opening})
        return {
            "messages": messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stop": list(self.stop),
            "seed": prompt.attempt,
            "cache_prompt": False,  # else a reply may depend on the prompt before
        }


def _length(found: Any, fault: str | None) -> int:
    """Read how many tokens a prompt has, from its reply or from the fault; 0 if neither says."""
    if fault is None:
        return int(found["usage"]["prompt_tokens"])
    excess = _TOO_LONG.search(fault)
    return int(excess[1]) if excess else 0


def _fault(found: Any) -> str | None:
    """Return what llama.cpp says about a request that it could not answer; None if it could."""
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
