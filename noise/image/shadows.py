"""A gradient of light and a cast shadow (OHRBench, III.2, there with augraphy: lighting gradient and shadow cast)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, shade
from .light import cast, gradient, tinted


class Shadows(Distortion, kind="shadows"):
    """Darkens the page by a gradient of light and by the shadow of the person who takes the picture.

    At severity 1 the gradient takes up to 70% of the light and the shadow up to 70% of the rest; at 0.5 (`published`)
    half as much each. All levels share one gradient and one shadow.
    """

    version: ClassVar[int] = 2

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        depth = np.float32(0.7 * self.severity)
        fall, dark = gradient(image, rng), cast(image, rng)
        gain = (1 - depth * fall) * (1 - depth * dark)
        return NoisyImage(shade(image, tinted(gain, rng, self.severity, cool=0.07)))
