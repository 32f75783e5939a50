"""Salt-and-pepper noise (OHRBench, III.2): pixels replaced by white or black."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, ImageNoise, NoisyImage

_MOST = 0.10  # share of pixels at severity 1


class SaltAndPepper(ImageNoise, kind="salt_and_pepper"):
    """Replaces a share of the pixels by white or black, half each.

    The share is 10% x severity; the paper's 1% is severity 0.1 (`published`). One draw per pixel is thresholded, so
    the pixels of a lower severity are a subset of those of a higher one.
    """

    published: ClassVar[float] = 0.1

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image."""
        draws = rng.integers(0, 1 << 16, size=image.shape[:2], dtype=np.uint16)
        hit = draws < round(_MOST * self.severity * (1 << 16))
        noisy = image.copy()
        noisy[hit] = np.where(draws[hit] & 1, np.uint8(255), np.uint8(0))[:, None]
        return NoisyImage(noisy)
