"""Light gradient and cast shadow (OHRBench, III.2, there with augraphy: lighting gradient and shadow cast)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, shade
from .light import cast, gradient, tinted


class Shadows(Distortion):
    """Lets the light fall off over the page, and casts the shadow of whoever takes the picture.

    At severity 1 the gradient takes up to 70% of the light and the shadow up to 70% of what is left; 0.5 (`published`)
    takes half of each. Levels share light and shadow.
    """

    kind: Literal["shadows"] = "shadows"
    version: ClassVar[int] = 2
    published: ClassVar[float] = 0.5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        depth = np.float32(0.7 * self.severity)
        fall, dark = gradient(image, rng), cast(image, rng)
        gain = (1 - depth * fall) * (1 - depth * dark)
        return NoisyImage(shade(image, tinted(gain, rng, self.severity, cool=0.07)))
