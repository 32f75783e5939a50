"""Local language models through vLLM's offline engine, which answers many prompts at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Prompt, Resources, execution
from ohr.errors import PluginError

from .local_model import CHAT, LocalModel, chat, ended, fitted, loadable, thought_aloud


@dataclass(frozen=True)
class Engine:
    """A running engine and its model's tokenizer."""

    llm: Any
    tokenizer: Any


class VLLM(LocalModel, kind="vllm"):
    """Answers with vLLM (Kwon et al., SOSP 2023), greedily by default; runs on its CUDA and CPU builds."""

    version: ClassVar[int] = 2
    extra: ClassVar[str | None] = "vllm"
    libraries: ClassVar[tuple[str, ...]] = ("vllm",)
    packages: ClassVar[tuple[str, ...]] = ("vllm", "transformers", "torch")
    loaded_by: ClassVar[tuple[str, ...]] = ("model", "revision", "dtype", "context", "tensor_parallel", "memory")
    model: Annotated[str, Field(description=f"{CHAT}, a folder, a .gguf file, or a name on the hub.")] = "qwen2-7b"
    dtype: Annotated[Literal["auto", "float32", "bfloat16", "float16"], Field(description="Weights' type.")] = "auto"
    # vLLM runs up to 1,024 sequences at once; each portion ends with a wait for its longest reply
    kept_every: Annotated[int, execution("Prompts given to the engine at once; replies are kept after each.", gt=0)] = (
        2048
    )
    tensor_parallel: Annotated[int, execution("GPUs that share the model.", gt=0)] = 1
    memory: Annotated[float, execution("Share of the GPU's memory (or the machine's) to take.", gt=0, le=1)] = 0.9

    def resources(self) -> Resources:
        """Return the engine's resources: its GPUs, or the machine where torch sees none."""
        has_gpu = extras.load("torch", "vllm").cuda.is_available()
        return Resources(gpus=self.tensor_parallel if has_gpu else 0, alone=True)

    def load(self) -> Engine:
        """Start the engine."""
        library = extras.load("vllm", "vllm")
        place = loadable(self.model)
        with extras.loading(self.owner, place):
            llm = library.LLM(
                model=place,
                revision=self.revision,
                dtype=self.dtype,
                max_model_len=self.context,
                tensor_parallel_size=self.tensor_parallel,
                gpu_memory_utilization=self.memory,
                seed=0,
                disable_log_stats=True,
            )
        tokenizer = llm.get_tokenizer()
        if getattr(tokenizer, "chat_template", None) is None:
            raise PluginError(f"{self.owner}: {place!r} has no chat template: use an instruction-tuned model")
        return Engine(llm, tokenizer)

    def close(self, engine: Engine) -> None:
        """Stop the engine's process, which holds the GPU's memory."""
        engine.llm.llm_engine.engine_core.shutdown()

    def replies(self, engine: Engine, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer in large portions, whose order of work is the engine's own."""
        for start in range(0, len(prompts), self.kept_every):
            yield from self._portion(engine, prompts[start : start + self.kept_every])

    def _portion(self, engine: Engine, prompts: Sequence[Prompt]) -> list[Completion]:
        library = extras.load("vllm", "vllm")
        began = perf_counter()
        room = max(engine.llm.llm_engine.model_config.max_model_len - self.max_tokens, 1)
        made = [fitted(prompt, room, engine.tokenizer, partial(chat, engine.tokenizer, prompt)) for prompt in prompts]
        limits = {"temperature": self.temperature, "max_tokens": self.max_tokens, "stop": list(self.stop) or None}
        sampling = [library.SamplingParams(**limits, seed=prompt.attempt) for prompt in prompts]
        outputs = engine.llm.generate([{"prompt_token_ids": ids} for ids, _ in made], sampling, use_tqdm=False)
        seconds = round((perf_counter() - began) / len(prompts), 4)
        answers = zip(outputs, made, strict=True)
        return [self._completion(output, engine.tokenizer, seconds, ids, cut=cut) for output, (ids, cut) in answers]

    def _completion(self, output: Any, tokenizer: Any, seconds: float, prompt: list[int], *, cut: bool) -> Completion:
        reply = output.outputs[0]
        finish: Literal["stop", "length"] = "length" if reply.finish_reason == "length" else "stop"
        counts = len(output.prompt_token_ids), len(reply.token_ids)
        text, _ = ended(thought_aloud(reply.token_ids, prompt, tokenizer), self.stop)
        return Completion(text, *counts, seconds, finish, truncated=cut)
