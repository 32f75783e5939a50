"""A page cut off by the picture's edge (FCMBench, Table 2: cropped captures)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..light import exposed
from .camera import Capture
from .scene import level


class Cropped(Capture, kind="cropped"):
    """Cuts off one side or two, 10%, 20% and 35% of the page in all (severity 1/3, 2/3, 1).

    The output is smaller; `label_effect` is `cropped`: the truth keeps the text that was cut off, as in the
    benchmark.
    """

    version: ClassVar[int] = 5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        height, width = image.shape[:2]
        share = level(self.severity, 0, (0.10, 0.20, 0.35))
        sides, down, right = int(rng.integers(3)), bool(rng.random() < 0.5), bool(rng.random() < 0.5)
        each = share if sides < 2 else 1 - np.sqrt(1 - share)
        rows = min(round(each * height) if sides != 1 else 0, height - 1)
        columns = min(round(each * width) if sides != 0 else 0, width - 1)
        top, left = (0 if down else rows), (0 if right else columns)
        kept = image[top : top + height - rows, left : left + width - columns]
        shift = np.array([[1, 0, -left], [0, 1, -top], [0, 0, 1]], dtype=np.float64)
        seen = exposed(self.printed(kept), rng, 0.8 * min(1.0, 1.5 * self.severity))
        return NoisyImage(self.photographed(seen, rng), shift, "cropped" if rows or columns else "none")
