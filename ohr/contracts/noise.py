"""Noise: image noise distorts page images, text noise edits text."""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from ohr.contracts.stage import Stage
from ohr.contracts.values import Image, NoisyImage, NoisyText, Page, Span, Where


class ImageNoise(Stage):
    """Distorts a page image."""

    family = "image_noise"
    knob: ClassVar[str] = "severity"
    severity: Annotated[float, Field(ge=0, le=1, description="Strength; 0 gives the input back bit for bit.")] = 0.5

    @property
    def joined(self) -> int:
        """Number of further pages that a distorted image shows whole: the document's first ones, in their order."""
        return 0

    @abstractmethod
    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image.

        The draws from `rng` must not depend on the severity, so that levels are coupled.

        Args:
            image: (H, W, 3) uint8; not changed.
            others: further page images of the document, for the few distortions that compose pages.
        """


class TextNoise(Stage):
    """Edits a page's text."""

    family = "text_noise"
    knob: ClassVar[str] = "rate"
    noise_type: ClassVar[Literal["semantic", "formatting"]] = "semantic"
    """Formatting noise leaves the words alone; semantic noise changes them."""
    rate: Annotated[float, Field(ge=0, le=1, description="Share of the eligible units that are touched.")] = 0.1
    where: Annotated[
        Where, Field(description="What is touched; elsewhere than everywhere, with as many edits as everywhere.")
    ] = "everywhere"
    """The engine turns it into `eligible`; a plugin has nothing to do with it."""

    def for_document(self, pages: Sequence[Page], rng: np.random.Generator) -> Self:  # noqa: ARG002 # for those with such a part
        """Return the noise of one document; only noise that shares something among the document's pages overrides this.

        Args:
            pages: the document's pages, at least one, as they are before this noise.
            rng: the document's own; draws must not depend on the rate.
        """
        return self

    @property
    def sees_document(self) -> bool:
        """Whether what it does to a page depends on the document's other pages."""
        return type(self).for_document is not TextNoise.for_document

    def parts(self) -> tuple[str, ...]:
        """Name the parts whose cost can be told apart: those of a field `rules` with a weight."""
        return tuple(name for name, weight in self._rules().items() if weight)

    def only(self, parts: Collection[str]) -> "TextNoise":
        """Return this noise with some of its parts; without any it has no strength."""
        if not parts:
            return self.model_copy(update={self.knob: 0.0})
        kept = {name: weight for name, weight in self._rules().items() if name in parts}
        return type(self).model_validate({**self.model_dump(), "rules": kept})

    def _rules(self) -> Mapping[str, float]:
        rules = self.model_dump(include={"rules"}).get("rules")
        return rules if isinstance(rules, dict) else {}

    @abstractmethod
    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Edit a text within the `eligible` spans; the edits at a lower rate are a subset of those at a higher."""
