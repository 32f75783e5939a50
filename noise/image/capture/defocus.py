"""A page out of focus (FCMBench, Table 2)."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from ..distortion import opencv
from ..light import exposed
from ..picture import CELLS, Picture
from .camera import Capture
from .scene import level


class Defocus(Capture, kind="defocus"):
    """Spreads each point over a disc of radius 1, 2 and 4 pixels at 1,000 pixels of height (severity 1/3, 2/3, 1).

    The radius of each page is drawn within 15% of that.
    """

    version: ClassVar[int] = 5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        radius = level(self.severity, 0, (1, 2, 4)) * rng.uniform(0.85, 1.15) * max(image.shape[:2]) / 1000
        planes = zip(CELLS, self.printed(image).planes, strict=False)
        blurred = Picture(tuple(_blurred(plane, radius / cell) for cell, plane in planes))
        seen = exposed(blurred, rng, 0.8 * min(1.0, 1.5 * self.severity))
        return NoisyImage(self.photographed(seen, rng))


def _blurred(plane: Image, radius: float) -> Image:
    """Spread each point over a disc."""
    cv2 = opencv()
    height, width = plane.shape[:2]
    coarser = max(1, min(int(radius / 2), height, width))  # a disc leaves no detail finer than half its radius
    if coarser == 1:
        return np.asarray(cv2.filter2D(plane, -1, _disc(radius), borderType=cv2.BORDER_REPLICATE))
    even = cv2.blur(plane, (coarser, coarser), borderType=cv2.BORDER_REPLICATE)
    small = cv2.resize(even, (width // coarser, height // coarser), interpolation=cv2.INTER_LINEAR)
    spread = cv2.filter2D(small, -1, _disc(radius / coarser), borderType=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.resize(spread, (width, height), interpolation=cv2.INTER_CUBIC))


def _disc(radius: float) -> NDArray[np.floating[Any]]:
    """Draw a disc that sums to 1, its rim by the share of each pixel inside."""
    half = int(np.ceil(radius + 0.5))
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    inside = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1).astype(np.float32)
    return np.asarray(inside / inside.sum())
