"""Local language models through vLLM's offline engine, which answers many prompts at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt, execution
from ohr.errors import PluginError

from . import checkpoints
from .replies import check_room, fitted


class VLLM(Generator):
    """Answers with vLLM (Kwon et al., SOSP 2023), greedily by default; its CUDA and CPU builds serve alike."""

    kind: Literal["vllm"] = "vllm"
    extra: ClassVar[str | None] = "vllm"
    packages: ClassVar[tuple[str, ...]] = ("vllm", "transformers", "torch")
    model: Annotated[str, Field(description=f"{checkpoints.CHAT}, a folder, or a hub name.")] = "qwen2-7b"
    revision: Annotated[str | None, Field(description="Of a hub model: branch, tag or commit.")] = None
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    context: Annotated[int | None, Field(gt=0, description="Tokens of prompt and reply; the model's.")] = None
    dtype: Annotated[Literal["auto", "float32", "bfloat16", "float16"], Field(description="Weights' type.")] = "auto"
    kept_every: Annotated[int, execution("Prompts given to the engine at once, and then kept.", gt=0)] = 128
    tensor_parallel: Annotated[int, execution("GPUs that share the model.", gt=0)] = 1
    memory: Annotated[float, execution("Share of the GPU's memory (or the machine's) to take.", gt=0, le=1)] = 0.9

    def check(self) -> None:
        """Raise when vLLM or the model is missing."""
        extras.require("vllm", "vllm")
        checkpoints.check("generator vllm", self.model, self.revision)
        check_room("generator vllm", self.context, self.max_tokens)

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name and revision."""
        return {**super().identity(), "model": checkpoints.identity(self.model, self.revision)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer in large batches, which the engine schedules; results come in the order of the prompts."""
        if not prompts:
            return
        place = checkpoints.loadable(self.model)
        engine = _load(place, self.revision, self.dtype, self.context, self.tensor_parallel, self.memory)
        for start in range(0, len(prompts), self.kept_every):
            yield from engine.reply(prompts[start : start + self.kept_every], self)


@dataclass(frozen=True)
class _Engine:
    """A running engine and its model's tokenizer."""

    llm: Any
    tokenizer: Any

    def reply(self, prompts: Sequence[Prompt], how: VLLM) -> list[Completion]:
        library = extras.load("vllm", "vllm")
        began = perf_counter()
        room = max(self.llm.llm_engine.model_config.max_model_len - how.max_tokens, 1)
        laid = [fitted(prompt, room, self.tokenizer, partial(self._chat, prompt)) for prompt in prompts]
        sampling = library.SamplingParams(
            temperature=how.temperature, max_tokens=how.max_tokens, stop=list(how.stop) or None, seed=0
        )
        asked = [{"prompt_token_ids": ids} for ids, _ in laid]
        outputs = self.llm.generate(asked, sampling, use_tqdm=False)
        seconds = round((perf_counter() - began) / len(prompts), 4)
        return [_completion(output, seconds, cut=cut) for output, (_, cut) in zip(outputs, laid, strict=True)]

    def _chat(self, prompt: Prompt, user: str) -> list[int]:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}]
        begun = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return list(self.tokenizer.encode(begun + prompt.opening, add_special_tokens=False))


def _completion(output: Any, seconds: float, *, cut: bool) -> Completion:
    reply = output.outputs[0]
    finish: Literal["stop", "length"] = "length" if reply.finish_reason == "length" else "stop"
    counts = len(output.prompt_token_ids), len(reply.token_ids)
    return Completion(reply.text, *counts, seconds, finish, truncated=cut)


@lru_cache(maxsize=1)
def _load(
    model: str, revision: str | None, dtype: str, context: int | None, tensor_parallel: int, memory: float
) -> _Engine:
    library = extras.load("vllm", "vllm")
    with extras.loading("generator vllm", model):
        llm = library.LLM(
            model=model,
            revision=revision,
            dtype=dtype,
            max_model_len=context,
            tensor_parallel_size=tensor_parallel,
            gpu_memory_utilization=memory,
            seed=0,
            disable_log_stats=True,
        )
    tokenizer = llm.get_tokenizer()
    if getattr(tokenizer, "chat_template", None) is None:
        raise PluginError(f"generator vllm: {model!r} has no chat template: use an instruction-tuned model")
    return _Engine(llm, tokenizer)
