"""Local vision-language models that read page images, through Hugging Face transformers (VisRAG's row of Table S4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt, execution
from ohr.files.images import bounded

from . import checkpoints
from .replies import in_batches
from .transformers import completion


class TransformersVision(Generator):
    """Answers from page images with a vision-language model, such as Qwen2-VL; the passages' text is not read."""

    kind: Literal["transformers_vision"] = "transformers_vision"
    reads_images: ClassVar[bool] = True
    extra: ClassVar[str | None] = "llm"
    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch")
    model: Annotated[str, Field(description="qwen2-vl-7b, a model's folder, or a hub name.")] = "qwen2-vl-7b"
    revision: Annotated[str | None, Field(description="Of a hub model: branch, tag or commit.")] = None
    max_new_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    max_pixels: Annotated[int, Field(gt=783, description="Larger pages are made smaller.")] = 1_003_520
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    batch_size: Annotated[int, execution("Prompts answered at once; halved where memory is too small.", gt=0)] = 1
    dtype: Annotated[Literal["float32", "bfloat16", "float16", "auto"], Field(description="Weights' type.")] = "auto"
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library, the device or the model is missing."""
        extras.require("torch", "llm")
        extras.require("transformers", "llm")
        checkpoints.check("generator transformers_vision", self.model, self.revision)
        checkpoints.check_device("generator transformers_vision", self.device)

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name and revision."""
        return {**super().identity(), "model": checkpoints.identity(self.model, self.revision)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer in batches; a page that has no image fails its prompt alone."""
        if not prompts:
            return
        engine = _load(checkpoints.location(self.model), self.revision, self.dtype, self.device)
        yield from in_batches(prompts, self.batch_size, partial(engine.reply, how=self))


@dataclass(frozen=True)
class _Engine:
    """A loaded model and its processor."""

    model: Any
    processor: Any

    def reply(self, prompts: Sequence[Prompt], how: TransformersVision) -> list[Completion]:
        pages = []
        for prompt in prompts:
            try:
                pages.append([bounded(image, how.max_pixels) for image in prompt.images])
            except Exception as error:  # a benchmark or a noise may raise anything when it makes an image
                if len(prompts) > 1:
                    return [done for one in prompts for done in self.reply([one], how)]
                return [Completion("", finish="error", error=f"no page image: {type(error).__name__}: {error}")]
        began = perf_counter()
        window = self.model.config.get_text_config().max_position_embeddings
        laid = [self._fitted(*asked, room=window - how.max_new_tokens) for asked in zip(prompts, pages, strict=True)]
        texts, shown = [text for text, _ in laid], [image for _, images in laid for image in images]
        inputs = self._inputs(texts, shown)
        output = self._generate(inputs, how)
        replies = output[:, inputs["input_ids"].shape[1] :].tolist()  # (batch, new tokens)
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        seconds = round((perf_counter() - began) / len(prompts), 4)
        ends, tokenizer = self.model.generation_config.eos_token_id, self.processor.tokenizer
        asked = [
            Completion("", length, seconds=seconds, truncated=len(kept) < len(given))
            for length, (_, kept), given in zip(lengths, laid, pages, strict=True)
        ]
        return [completion(reply, one, how.stop, ends, tokenizer) for reply, one in zip(replies, asked, strict=True)]

    def _generate(self, inputs: Any, how: TransformersVision) -> Any:
        torch = extras.load("torch", "llm")
        stops = {"stop_strings": list(how.stop), "tokenizer": self.processor.tokenizer} if how.stop else {}
        with torch.inference_mode():
            return self.model.generate(
                **inputs.to(self.model.device),
                max_new_tokens=how.max_new_tokens,
                do_sample=False,
                pad_token_id=self.processor.tokenizer.pad_token_id,
                **stops,
            )

    def _fitted(self, prompt: Prompt, images: Sequence[Any], room: int) -> tuple[str, Sequence[Any]]:
        """Lay out a chat; pages that do not fit into the model's window are left out, the worst-ranked first."""
        for count in range(len(images), 0, -1):
            text = self._chat(prompt, count)
            if self._inputs([text], images[:count])["input_ids"].shape[1] <= room:
                return text, images[:count]
        return self._chat(prompt, 0), ()

    def _inputs(self, texts: list[str], images: Sequence[Any]) -> Any:
        return self.processor(text=texts, images=list(images) or None, padding=True, return_tensors="pt")

    def _chat(self, prompt: Prompt, images: int) -> str:
        content = [*({"type": "image"} for _ in range(images)), {"type": "text", "text": prompt.user}]
        messages = [{"role": "user", "content": content}]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": [{"type": "text", "text": prompt.system}]})
        begun = self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return str(begun) + prompt.opening


@lru_cache(maxsize=1)
def _load(model: str, revision: str | None, dtype: str, device: str) -> _Engine:
    library = extras.load("transformers", "llm")
    library.utils.logging.disable_progress_bar()
    with extras.loading("generator transformers_vision", model):
        processor = library.AutoProcessor.from_pretrained(model, revision=revision)
        kind = library.AutoModelForImageTextToText
        loaded = kind.from_pretrained(model, revision=revision, dtype=dtype).to(device).eval()
    processor.tokenizer.padding_side = "left"
    return _Engine(loaded, processor)
