"""Local vision-language models that read page images, through Hugging Face transformers (VisRAG's row of Table S4)."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Prompt, execution
from ohr.files.images import bounded

from .local_model import MODELS
from .transformers import Engine, Transformers


class _NoImage(Exception):
    """A page of a prompt has no image."""


class TransformersVision(Transformers):
    """Answers from page images with a vision-language model, such as Qwen2-VL; the chunks' text is not read."""

    kind: Literal["transformers_vision"] = "transformers_vision"  # type: ignore[assignment] # a plugin of its own
    reads_images: ClassVar[bool] = True
    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch")
    version: ClassVar[int] = 1
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

    def _batch(self, engine: Engine, prompts: Sequence[Prompt]) -> list[Completion]:
        try:
            return super()._batch(engine, prompts)
        except _NoImage as error:  # it fails its own prompt only
            if len(prompts) > 1:
                return [done for one in prompts for done in self._batch(engine, [one])]
            return [Completion("", finish="error", error=str(error))]

    def _inputs(self, engine: Engine, prompts: Sequence[Prompt]) -> tuple[Any, Sequence[bool]]:
        pages = [self._pages(prompt) for prompt in prompts]
        fitted = [self._fitted(engine, *both) for both in zip(prompts, pages, strict=True)]
        texts, shown = [text for text, _ in fitted], [image for _, images in fitted for image in images]
        cut = [len(kept) < len(given) for (_, kept), given in zip(fitted, pages, strict=True)]
        return _read(engine, texts, shown), cut

    def _pages(self, prompt: Prompt) -> list[Any]:
        try:
            return [bounded(image, self.max_pixels) for image in prompt.images]
        except Exception as error:  # a benchmark or a noise may raise anything while it makes an image
            raise _NoImage(f"no page image: {type(error).__name__}: {error}") from error

    def _fitted(self, engine: Engine, prompt: Prompt, images: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """Return a chat and its pages; pages that do not fit into the window are left out, the lowest-ranked first."""
        room = (self.context or engine.window) - self.max_tokens
        for count in range(len(images), 0, -1):
            text = _chat(engine, prompt, count)
            if _read(engine, [text], images[:count])["input_ids"].shape[1] <= room:
                return text, images[:count]
        return _chat(engine, prompt, 0), ()


def _read(engine: Engine, texts: list[str], images: Sequence[Any]) -> Any:
    return engine.processor(text=texts, images=list(images) or None, padding=True, return_tensors="pt")


def _chat(engine: Engine, prompt: Prompt, images: int) -> str:
    content = [*({"type": "image"} for _ in range(images)), {"type": "text", "text": prompt.user}]
    messages = [{"role": "user", "content": content}]
    if prompt.system:
        messages.insert(0, {"role": "system", "content": [{"type": "text", "text": prompt.system}]})
    begun = engine.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return str(begun) + prompt.opening
