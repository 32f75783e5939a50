"""A page in the photographer's own shadow (FCMBench, Table 2: uneven illumination)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..distortion import Field, grid, shade, smooth
from ..light import cast, exposed, tinted
from .camera import Capture
from .scene import level

_CELL = 16  # pixels per cell: these shadows are soft


class UnevenIllumination(Capture, kind="uneven_illumination"):
    """Casts soft shadows: of hand and phone, and of a window's frame on half of the pages.

    In the deepest shadow, 70%, 50% and 30% of the light are left (severity 1/3, 2/3, 1).
    """

    version: ClassVar[int] = 5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        dark = cast(image, rng, _CELL)
        bars, barred = _bars(image, rng), rng.random() < 0.5
        dark = np.maximum(dark, 0.55 * bars) if barred else dark
        dark /= max(float(dark.max()), 1e-6)
        gain = 1 - np.float32(1 - level(self.severity, 1, (0.7, 0.5, 0.3))) * dark
        colored = tinted(gain, rng, self.severity, cool=0.07)
        lit = self.printed(image).each(lambda plane: shade(plane, colored))
        return NoisyImage(self.photographed(exposed(lit, rng, 0.6 * self.severity), rng))


def _bars(image: Image, rng: np.random.Generator) -> Field:
    """Draw the shadow of a window's frame: slanted bands with soft edges."""
    x, y = grid(image, _CELL)
    turn, start = rng.uniform(-0.5, 0.5), rng.uniform(0, 1)
    along = (x * np.float32(np.cos(turn)) + y * np.float32(np.sin(turn))) / np.float32(max(image.shape[:2]))
    wave = 0.5 + 0.5 * np.sin(np.float32(2 * np.pi) * (along * np.float32(rng.uniform(1.2, 2.5)) + np.float32(start)))
    return smooth((wave - np.float32(0.35)) / np.float32(0.5))
