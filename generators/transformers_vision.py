"""Local vision-language models that read page images, through Hugging Face transformers (VisRAG's row of Table S4)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Conversation, Image, Prompt, execution
from ohr.files.images import bounded

from .local_model import MODELS
from .replies import Asked, Unreadable, templated
from .transformers import Engine, Transformers
from .turns import spoken


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
        """Return a prompt's text and its pages; those that do not fit are left out, the lowest-ranked first."""
        with _making_images():
            images = [bounded(image, self.max_pixels) for image in prompt.images]
        for count in range(len(images), 0, -1):
            text = _chat(engine, prompt, count)
            if _length(engine, text, images[:count]) <= self._room(engine):
                return Asked((text, images[:count]), cut=count < len(images))
        return Asked((_chat(engine, prompt, 0), []), cut=bool(images))

    def _read_whole(self, engine: Engine, conversation: Conversation) -> Asked:
        """Return a conversation's text and its images, as they are."""
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
        texts, images = [one.inputs[0] for one in batch], [image for one in batch for image in one.inputs[1]]
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
