"""A page out of focus (FCMBench, Table 2)."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .camera import Capture
from .distortion import opencv
from .light import exposed
from .scene import level


class Defocus(Capture):
    """Spreads each point over a disc of radius 1, 2 and 4 pixels at 1,000 pixels of height (severity 1/3, 2/3, 1).

    The radius is drawn within 15% of that for each page.
    """

    kind: Literal["defocus"] = "defocus"
    version: ClassVar[int] = 4
    published: ClassVar[float] = 2 / 3

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2 = opencv()
        height, width = image.shape[:2]
        radius = level(self.severity, 0, (1, 2, 4)) * rng.uniform(0.85, 1.15) * max(height, width) / 1000
        coarser = max(1, min(int(radius / 2.5), height, width))  # what a disc leaves of detail needs no more pixels
        small = cv2.resize(self.printed(image), (width // coarser, height // coarser), interpolation=cv2.INTER_AREA)
        blurred = cv2.filter2D(small, -1, _disc(radius / coarser), borderType=cv2.BORDER_REPLICATE)
        whole = np.asarray(cv2.resize(blurred, (width, height), interpolation=cv2.INTER_CUBIC))
        seen = exposed(whole, rng, 0.8 * min(1.0, 1.5 * self.severity))
        return NoisyImage(self.photographed(seen, rng))


def _disc(radius: float) -> NDArray[np.floating[Any]]:
    """Draw a disc that sums to 1, its rim by the share of each pixel inside."""
    half = int(np.ceil(radius + 0.5))
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    inside = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1).astype(np.float32)
    return np.asarray(inside / inside.sum())
