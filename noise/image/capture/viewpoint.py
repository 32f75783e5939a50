"""Places of the camera: off-axis, far away, and with the page cut off (FCMBench, Table 2)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..light import exposed
from ..picture import split
from .camera import Capture
from .scene import Quad, fitted, frame, ground, level, placed, turned

_FOCAL = 1.3  # distance of the camera, in sides of the page


class OffAxis(Capture, kind="off_axis"):
    """Tilts the camera by up to 20, 32 and 45 degrees and turns it by up to 5, 12 and 20 (severity 1/3, 2/3, 1).

    The whole page, on a table, remains in the frame, which has the size of the input.
    """

    version: ClassVar[int] = 5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        height, width = image.shape[:2]
        around, tilt, roll = rng.uniform(0, 2 * np.pi), rng.uniform(0.7, 1.0), rng.uniform(0.6, 1.0)
        tilt *= np.radians(level(self.severity, 0, (20, 32, 45)))
        roll *= np.radians(level(self.severity, 0, (5, 12, 20))) * rng.choice([-1, 1])
        quad = fitted(_seen(image, around, tilt, roll), height, width, 0.02 * self.near)
        scene = split(ground(rng), whole=self.camera == 0).enlarged(height, width)
        homography = placed(image, quad, scene, self.printed)
        seen = exposed(scene, rng, min(1.0, 1.5 * self.severity))
        return NoisyImage(self.photographed(seen, rng), homography)


def _seen(image: Image, around: float, tilt: float, roll: float) -> Quad:
    """Project a page's corners: the page leans back by `tilt` about an axis at `around`, the camera turns by `roll`."""
    corners = frame(image) - np.asarray(image.shape[1::-1]) / 2
    axis = np.array([np.cos(around), np.sin(around)])
    along, across = corners @ axis, corners @ np.array([-axis[1], axis[0]])
    far = _FOCAL * max(image.shape[:2])
    depth = far / (far + across * np.sin(tilt))
    flat = np.outer(along * depth, axis) + np.outer(across * np.cos(tilt) * depth, [-axis[1], axis[0]])
    spin = np.array([[np.cos(roll), np.sin(roll)], [-np.sin(roll), np.cos(roll)]])
    return np.asarray(flat @ spin)


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
