"""Merged pictures for generators that read images: fewer, larger images of the same pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from ohr.contracts import Completion, Generator, Image, Prompt, Resources
from ohr.files.lazy import Lazy
from ohr.keys import identity
from ohr.parts import GeneratorPart
from ohr.text.chinese import HAS_HAN

from .merging import Layout, layout, merged
from .metrics import Rules
from .records import Protocol


class MergedPages(Generator, kind="merged_pages"):
    """Lets another generator see several pages in one picture where there are many (arXiv:2512.24903, appendix D.1).

    More than `threshold` pages are merged, k = ceil(pages / threshold) in each picture: in one column where the
    question is in English, else in a row of k.
    """

    reads_images: ClassVar[bool] = True
    generator: Annotated[GeneratorPart, Field(description="The generator that sees the pictures.")]
    threshold: Annotated[
        int | None,
        Field(gt=0, description="Most pages that are not merged; published: 15, 50, 300 and null, for none."),
    ] = 50
    long_side: Annotated[
        int | None,
        Field(gt=0, description="Pixels of a picture's longer side; published: 3840, 1920 and null, for all."),
    ] = None
    protocol: Rules = "clean"

    @model_validator(mode="after")
    def _sees(self) -> Self:
        if not self.generator.reads_images:
            raise ValueError(f"{self.generator.kind} reads no page images")
        return self

    def check(self) -> None:
        """Check the generator."""
        self.generator.check()

    def resources(self) -> Resources:
        """Return the generator's resources."""
        return self.generator.resources()

    def identity(self) -> Mapping[str, object]:
        """Identify the generator as it identifies itself."""
        made: list[Any] = identity(self.generator)
        return {**super().identity(), "generator": made}

    def answer(self, prompts: Sequence[Prompt]) -> Iterable[Completion]:
        """Answer each prompt, with merged pictures in the place of its images."""
        return self.generator.answer([replace(prompt, images=self._merged(prompt)) for prompt in prompts])

    def _merged(self, prompt: Prompt) -> Sequence[Image]:
        english = "" if HAS_HAN.search(prompt.question) else "complong"  # part of the id of English documents
        how = layout(len(prompt.images), english, self.threshold, self.protocol)
        return MergedImages(prompt.images, how, self.long_side, self.protocol)


class MergedImages(Lazy):
    """Pictures of several images each, made when they are looked at."""

    def __init__(self, images: Sequence[Image], how: Layout, long_side: int | None, protocol: Protocol) -> None:
        self._images, self._how, self._long_side, self._protocol = images, how, long_side, protocol

    def __len__(self) -> int:
        return -(-len(self._images) // self._how.pages)

    def image(self, place: int) -> Image:
        """Make one picture."""
        start = place * self._how.pages
        pages = (self._images[index] for index in range(len(self._images))[start : start + self._how.pages])
        return next(merged(pages, self._how, self._long_side, self._protocol))
