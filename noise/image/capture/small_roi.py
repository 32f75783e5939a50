"""A page that fills little of the picture (FCMBench, Table 2: small regions of interest)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..light import exposed
from ..picture import split
from .camera import Capture
from .scene import ground, level, placed, turned


class SmallRoi(Capture, kind="small_roi"):
    """Places the page far away on a table: it fills 20%, 12% and 6% of the frame (severity 1/3, 2/3, 1).

    The frame has the size of the input, so only that share of the page's pixels remains.
    """

    version: ClassVar[int] = 5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        height, width = image.shape[:2]
        area = level(self.severity, 1, (0.20, 0.12, 0.06))
        turn = self.near * rng.uniform(-0.12, 0.12)
        side = np.sqrt(area) * (1 + abs(turn))
        room = max(0.0, 1 - side) * np.array([width, height])
        middle = np.array([width, height]) / 2 + rng.uniform(-0.5, 0.5, 2) * room
        scene = split(ground(rng), whole=self.camera == 0).enlarged(height, width)
        homography = placed(image, turned(image, area, turn, middle.tolist()), scene, self.printed)
        seen = exposed(scene, rng, min(1.0, 1.5 * self.severity))
        return NoisyImage(self.photographed(seen, rng), homography)
