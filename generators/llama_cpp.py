"""Local GGUF models through llama.cpp in this process (xllamacpp's prebuilt wheels)."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Conversation, Prompt, Resources, execution
from ohr.errors import PluginError

from .local_model import MODELS, LocalModel
from .turns import spoken

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
        if hasattr(settings, "cache_ram_mib"):
            settings.cache_ram_mib = 0  # else up to 8 GiB of earlier prompts, which `cache_prompt` leaves unused
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

    def chat(self, conversations: Sequence[Conversation]) -> Iterator[Completion]:
        """Continue each conversation, in order; one that is too long for the window is a completion with an error."""
        if conversations:
            engine = self.loaded()
            for conversation in conversations:
                yield self._continued(engine, conversation)

    def _reply(self, engine: Any, prompt: Prompt) -> Completion:
        """Ask; documents that are too long lose their end until the prompt fits."""
        began, asked = perf_counter(), prompt
        room = max(self.context - self.max_tokens, 1)
        while True:
            reply, fault = _sent(engine, self._body(_messages(asked), asked.attempt))
            length = _length(reply, fault)
            if length <= room or not "".join(asked.passages):
                break
            asked = _shortened(asked, min(room / length, 0.95))  # tokens are of different lengths: perhaps not enough
        seconds = round(perf_counter() - began, 4)
        return replace(_completion(reply, fault, seconds, prompt.opening), truncated=asked is not prompt)

    def _continued(self, engine: Any, conversation: Conversation) -> Completion:
        if conversation.has_pictures:
            return _completion(None, f"{self.owner} reads text, and got an image", 0.0)
        began, room = perf_counter(), max(self.context - self.max_tokens, 1)
        messages = [{"role": role, "content": text} for role, text in spoken(conversation)]
        reply, fault = _sent(engine, self._body(messages, conversation.attempt))
        if (length := _length(reply, fault)) > room:
            fault = f"a conversation of {length} tokens is too long: {room} fit beside a reply of {self.max_tokens}"
        return _completion(reply, fault, round(perf_counter() - began, 4))

    def _body(self, messages: Sequence[Mapping[str, object]], attempt: int) -> dict[str, Any]:
        return {
            "messages": messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stop": list(self.stop),
            "seed": attempt,
            "cache_prompt": False,  # else a reply may depend on the prompt before
        }


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    # llama.cpp continues a last message that is the assistant's
    return [*messages, {"role": "assistant", "content": prompt.opening}] if prompt.opening else messages


def _sent(engine: Any, body: Mapping[str, object]) -> tuple[Any, str | None]:
    """Ask the engine; returns its reply, and its fault if it has one."""
    try:
        reply = engine.handle_chat_completions(body)
    except RuntimeError as error:
        reply = {"error": {"message": str(error)}}
    return reply, _fault(reply)


def _completion(reply: Any, fault: str | None, seconds: float, opening: str = "") -> Completion:
    if fault is not None:
        return Completion("", seconds=seconds, finish="error", error=fault)
    choice, usage = reply["choices"][0], reply["usage"]
    finish: Literal["stop", "length"] = "length" if choice["finish_reason"] == "length" else "stop"
    text = (choice["message"]["content"] or "").removeprefix(opening)
    return Completion(text, usage["prompt_tokens"], usage["completion_tokens"], seconds, finish)


def _length(reply: Any, fault: str | None) -> int:
    """Read how many tokens a prompt has, from its reply or from the fault; 0 if neither says."""
    if fault is None:
        return int(reply["usage"]["prompt_tokens"])
    excess = _TOO_LONG.search(fault)
    return int(excess[1]) if excess else 0


def _fault(reply: Any) -> str | None:
    """Return what llama.cpp says about a request that it could not answer; None if it could."""
    if not isinstance(reply, dict) or not ("choices" in reply or "error" in reply or "message" in reply):
        return f"not a chat completion: {str(reply)[:200]}"
    if "choices" in reply:
        return None
    fault = reply.get("error", reply)
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
