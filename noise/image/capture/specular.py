"""Lamps mirrored by a glossy page (FCMBench, Table 2: specular reflections)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..distortion import lighten
from ..light import exposed, glare
from .camera import Capture
from .scene import level


class Specular(Capture, kind="specular"):
    """Burns out 3%, 8% and 15% of the page (severity 1/3, 2/3, 1), with haze around it.

    Text there cannot be read: `label_effect` is `occluded`.
    """

    version: ClassVar[int] = 6

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        light = glare(image, rng, level(self.severity, 0, (0.03, 0.08, 0.15)))
        seen = exposed(self.printed(image), rng, self.near)
        lit = seen.each(lambda plane: lighten(plane, light * np.float32(self.near)))
        return NoisyImage(self.photographed(lit, rng), label_effect="occluded")
