"""OHRBench's levels of image noise (section III.2): which distortions are applied to a page."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Image, NoisyImage

from .copier import Binarization, Rollers, SaltAndPepper
from .distortion import OnOpenCV
from .light import Shadows
from .psf_blur import PsfBlur
from .textures import Background
from .warping import Rotation, Warping

WEAK: tuple[Any, ...] = (Background, Binarization, Rotation, PsfBlur)
STRONG: tuple[Any, ...] = (SaltAndPepper, Rollers, Warping, Shadows)


class OhrBenchNoise(OnOpenCV, kind="ohrbench"):
    """Distorts each page as OHRBench did: one weak distortion, one strong, or two of the eight.

    Weak, text stays clear: background, binarization, rotation, psf_blur. Strong: salt_and_pepper, rollers, warping,
    shadows. All are equally likely; two are different, and applied in the order drawn. At severity 1 (the default) each
    has its `published` severity; a lower severity scales all of them.
    """

    version: ClassVar[int] = 3
    published: ClassVar[float] = 1.0
    level: Annotated[
        Literal["mild", "moderate", "severe"],
        Field(description="Per page: `mild` one weak distortion, `moderate` one strong, `severe` two of all eight."),
    ] = "moderate"
    severity: Annotated[
        float, Field(ge=0, le=1, description="Share of the published strengths; 1 is as published.")
    ] = 1.0

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image."""
        chosen = self.chosen(rng)
        noisy = NoisyImage(image.copy())
        for distortion in chosen:
            step = distortion(severity=distortion.published * self.severity)
            noisy = _after(noisy, step.perturb(noisy.image, others, rng))
        return noisy

    def chosen(self, rng: np.random.Generator) -> list[Any]:
        """Draw the distortions of one page."""
        match self.level:
            case "mild":
                return [WEAK[int(rng.integers(len(WEAK)))]]
            case "moderate":
                return [STRONG[int(rng.integers(len(STRONG)))]]
        first, second = rng.choice(len(WEAK + STRONG), size=2, replace=False)
        return [(WEAK + STRONG)[first], (WEAK + STRONG)[second]]


def _after(first: NoisyImage, second: NoisyImage) -> NoisyImage:
    """Combine the effects of two distortions."""
    effect = second.label_effect if first.label_effect == "none" else first.label_effect
    return NoisyImage(second.image, _joined(first.homography, second.homography), effect)


def _joined(first: NDArray[np.float64] | None, second: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    if first is None or second is None:
        return second if first is None else first
    return np.asarray(second @ first)
