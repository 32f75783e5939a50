"""Document models through Hugging Face transformers: a folder, or a name on the hub."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Image, Recognition, Resources, execution
from ohr.contracts.values import Ending
from ohr.errors import MissingExtra, PluginError
from ohr.files.images import PIXELS, bounded
from ohr.models.model_files import check_device, model_resources
from ohr.models.resident import fitting, resident
from ohr.text.loops import repeated_tail

from .document_models import (
    ARCHITECTURES,
    GOT_TASKS,
    MODELS,
    PRESETS,
    Architecture,
    Preset,
    model_type,
    prompt_of,
)
from .prompts import read_prompt_text
from .structured import StructuredOcr

_LOOP = 0.3
"""Share of a reply that did not end: with a longer repeated tail it counts as a loop, not as a long page."""


@dataclass(frozen=True)
class Engine:
    """A loaded model, its processor, and the tokens that end a reply."""

    model: Any
    processor: Any
    ends: frozenset[int]
    banned: tuple[int, ...]


class TransformersOcr(StructuredOcr, kind="transformers_ocr"):
    """Reads pages with a document model or a vision-language model, greedily.

    The folder's `model_type` decides how the model is asked. DocTags (SmolDocling, granite-docling) become blocks.
    """

    extra: ClassVar[str | None] = "llm"
    counts_tokens: ClassVar[bool] = True
    packages: ClassVar[tuple[str, ...]] = ("transformers", "torch", "torchvision", "nltk", "levenshtein")
    model: Annotated[str, Field(description="A short name such as got-ocr2, a folder, or a name on the hub.")] = (
        "got-ocr2"
    )
    revision: Annotated[str | None, Field(description="Of a model on the hub: branch, tag or commit.")] = None
    preset: Annotated[
        Literal["chat", "docling", "got", "nougat", "florence2", "kosmos2_5"] | None,
        Field(description="How the model is asked; by default, by its architecture."),
    ] = None
    prompt: Annotated[
        Path | str | None,
        Field(description="ohrbench, olmocr, a prompt file, or a task's own words; by default, the model's task."),
    ] = None
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply for a page.")] = 4096
    max_pixels: Annotated[
        int | None, Field(gt=783, description="Larger pages are made smaller; by default, by the model's processor.")
    ] = None
    dtype: Annotated[Literal["float32", "bfloat16", "float16", "auto"], Field(description="Weights' type.")] = "auto"
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"
    batch_size: Annotated[int, execution("Pages read at once; halved where memory is too small.", gt=0)] = 1

    @property
    def owner(self) -> str:
        """The beginning of messages."""
        return f"ocr {self.kind}"

    def check(self) -> None:
        """Raise when a library, the device, the model or the prompt is missing, or the model is none of these."""
        for library in ("torch", "transformers"):
            extras.require(library, "llm")
        MODELS.check(self.owner, self.model, self.revision)
        check_device(self.owner, self.device, "llm")
        found = model_type(self.model, self.revision)
        known = extras.load("transformers.models.auto.configuration_auto", "llm").CONFIG_MAPPING_NAMES
        if found and found not in known:
            raise PluginError(
                f"{self.owner}: {self.model}: transformers has no architecture {found!r}, and code that comes with a "
                "model is not run. Read the pages through a server, with ocr vlm"
            )
        self._check_parts(found)
        self.asked()

    def _check_parts(self, found: str) -> None:
        if ARCHITECTURES.get(found, Architecture()).videos and find_spec("torchvision") is None:
            raise MissingExtra(
                f"torchvision is not installed, and the processor of {found} needs it: pip install torchvision, of the "
                "version that fits your torch",
                name="torchvision",
            )
        for module in self._preset(found).words:
            extras.require(module, "nougat")

    def resources(self) -> Resources:
        """Return the resources of the loaded model."""
        return model_resources(self.device)

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, one on the hub by name and revision, and a prompt by its text."""
        identity = {**super().identity(), "model": MODELS.identity(self.model, self.revision)}
        return identity if self.prompt is None else {**identity, "prompt": self.asked()}

    def asked(self) -> str:
        """Return the words that the model is asked with.

        Raises:
            OhrError: there is no such prompt, or the model takes none, or only certain ones.
        """
        found = model_type(self.model, self.revision)
        task = prompt_of(self.model, ARCHITECTURES.get(found, Architecture()))
        preset = self.preset or ARCHITECTURES.get(found, Architecture()).preset
        if preset == "nougat":
            if self.prompt is not None:
                raise PluginError(f"{self.owner}: Nougat takes no prompt: delete `prompt`")
            return ""
        given = task if self.prompt is None else self.prompt
        text = _text(given) if given else ""
        if preset == "got" and text not in GOT_TASKS:
            raise PluginError(f"{self.owner}: GOT has two prompts: {' and '.join(map(repr, GOT_TASKS))}")
        return text

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Read pages in batches, which shrink until they fit into memory; a page that does not fit alone fails."""
        waiting = [bounded(image, self.max_pixels or PIXELS) for image in images]
        if not waiting:
            return
        key = (self.kind, self.model, self.revision, self.preset, self.dtype, self.device)
        engine, size = resident(key, self._load), len(waiting)
        while waiting:
            try:
                done, size = fitting(partial(self._first, engine, waiting), min(size, len(waiting)))
            except MemoryError as error:
                done, size = [Recognition("", str(error))], 1
            yield from done
            waiting = waiting[len(done) :]

    def _preset(self, found: str) -> Preset:
        return PRESETS[self.preset or ARCHITECTURES.get(found, Architecture()).preset]

    def _load(self) -> Engine:
        library = extras.load("transformers", "llm")
        library.utils.logging.disable_progress_bar()
        place, revision = MODELS.location(self.model), self.revision
        with extras.loading(self.owner, place):
            library.AutoConfig.from_pretrained(place, revision=revision)  # now `model_type` finds it on any machine
            preset = self._preset(model_type(self.model, revision))
            processor = library.AutoProcessor.from_pretrained(place, revision=revision)
            kind = getattr(library, preset.loader)
            model = kind.from_pretrained(place, revision=revision, dtype=self.dtype).to(self.device).eval()
        model.generation_config.forced_eos_token_id = None  # BART's would hide that a reply was cut
        tokenizer = processor.tokenizer
        own = model.generation_config.eos_token_id
        ends = {*own} if isinstance(own, list) else {tokenizer.eos_token_id if own is None else own}
        if preset.end:
            ends.add(tokenizer.convert_tokens_to_ids(preset.end))
        banned = (tokenizer.unk_token_id,) if preset.banned else ()
        return Engine(model, processor, frozenset(ends), banned)

    def _first(self, engine: Engine, waiting: Sequence[Any], count: int) -> list[Recognition]:
        """Read the first pages; where they fail together, each is read alone, so that one fails by itself."""
        try:
            return self._read(engine, waiting[:count])
        except Exception as error:
            if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "memory" in str(error).lower()):
                raise
            if count > 1:
                return [one for page in waiting[:count] for one in self._first(engine, [page], 1)]
            return [Recognition("", f"{type(error).__name__}: {error}")]  # processors raise many kinds

    def _read(self, engine: Engine, pages: Sequence[Any]) -> list[Recognition]:
        torch = extras.load("torch", "llm")
        began = perf_counter()
        preset = self._preset(model_type(self.model, self.revision))
        inputs = preset.ask(engine.processor, pages, self.asked()).to(engine.model.device, engine.model.dtype)
        with torch.inference_mode():
            output = engine.model.generate(
                **inputs,
                max_new_tokens=self.max_tokens,
                do_sample=False,
                num_beams=1,
                eos_token_id=sorted(engine.ends),
                pad_token_id=engine.processor.tokenizer.pad_token_id,
                **({"bad_words_ids": [[token] for token in engine.banned]} if engine.banned else {}),
            )
        ids = inputs.get("input_ids")  # (batch, tokens)
        begun = 1 if engine.model.config.is_encoder_decoder or ids is None else ids.shape[1]
        asked = inputs["attention_mask"].sum(1).tolist() if ids is not None else [0] * len(pages)
        seconds = round((perf_counter() - began) / len(pages), 4)
        return [
            replace(self._reply(engine, preset, reply), tokens_in=count, seconds=seconds)
            for reply, count in zip(output[:, begun:].tolist(), asked, strict=True)
        ]

    def _reply(self, engine: Engine, preset: Preset, tokens: list[int]) -> Recognition:
        """Read a reply up to its first end."""
        end = next((place for place, token in enumerate(tokens) if token in engine.ends), None)
        tokens = tokens[:end]
        reply = engine.processor.tokenizer.decode(tokens, skip_special_tokens=not preset.tagged)
        finish: Ending = "stop" if end is not None else "repeat" if repeated_tail(reply) > _LOOP else "length"
        return replace(preset.read(engine.processor, reply), finish=finish, tokens_out=len(tokens))


def _text(prompt: str | Path) -> str:
    """Return a prompt's words: those of a file, of one of ohr's by its name, or the words themselves."""
    if isinstance(prompt, str) and not prompt.isidentifier():
        return prompt
    return read_prompt_text(prompt, "prompt for reading pages")
