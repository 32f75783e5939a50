"""A page photographed from a screen (FCMBench, Table 2: secondary captures)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, Field, clouds, grid, opencv, shade
from .scene import fitted, frame, laid, level


class SecondaryCapture(Distortion):
    """Shows the page on a screen and photographs that: pixel grid, coloured moire, bezel, a darker tone curve.

    The moire's amplitude is .05, .10 and .18 of the light (severity 1/3, 2/3, 1); its fringes come from the beat of
    the screen's grid with the camera's, so that they bend with the lens.
    """

    kind: Literal["secondary_capture"] = "secondary_capture"
    published: ClassVar[float] = 2 / 3

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2 = opencv()
        height, width = image.shape[:2]
        near, amplitude = min(1.0, 3 * self.severity), level(self.severity, 0, (0.05, 0.10, 0.18))
        lean = rng.uniform(-0.025, 0.025, (4, 2)) * self.severity * max(height, width)
        quad = fitted(frame(image) + lean, height, width, 0.02 * near)
        scene = np.full_like(image, 22)  # the bezel
        homography = laid(image, quad, scene, shadow=False)
        tone = np.rint(255 * (np.arange(256) / 255) ** (1 + 0.1 * near)).astype(np.uint8)
        scene = _gridded(cv2.LUT(scene, tone), amplitude)
        cool = np.asarray((1 - 0.05 * near, 1 - 0.01 * near, 1.0), dtype=np.float32)
        return NoisyImage(shade(scene, (1 - amplitude * _moire(image, rng)) * cool), homography)


def _moire(image: Image, rng: np.random.Generator) -> Field:
    """Draw fringes in [0, 1]: two gratings' beats, shifted from colour to colour, (rows, columns, 3)."""
    x, y = grid(image, cell=4)
    size = np.float32(max(image.shape[:2]))
    bend = np.float32(rng.uniform(0.5, 2.5)) * clouds(rng, x.shape, 3) + np.float32(rng.uniform(1, 6)) * (
        ((x - x.mean()) / size) ** 2 + ((y - y.mean()) / size) ** 2
    )
    fringes = np.zeros((*x.shape, 3), dtype=np.float32)
    for _ in range(2):
        turn, number, start = rng.uniform(0, np.pi), rng.uniform(18, 70), rng.uniform(0, 2 * np.pi)
        along = (x * np.float32(np.cos(turn)) + y * np.float32(np.sin(turn))) / size
        wave = np.float32(2 * np.pi * number) * along + 4 * bend + np.float32(start)
        for colour in range(3):
            fringes[..., colour] += 0.25 + 0.25 * np.sin(wave + np.float32(colour * 0.9))
    return fringes


def _gridded(image: Image, amplitude: float) -> Image:
    """Darken the gaps between a screen's pixels, every third row, and let red, green and blue columns take turns."""
    cv2 = opencv()
    height, width = image.shape[:2]
    tile = np.full((3, 3, 3), 255, dtype=np.uint8)
    dim = round(255 * (1 - amplitude))
    for column in range(3):
        tile[:, column, [colour for colour in range(3) if colour != column]] = dim
    tile[2] = np.minimum(tile[2], dim)
    whole = np.tile(tile, (height // 3 + 1, width // 3 + 1, 1))[:height, :width]
    return np.asarray(cv2.multiply(image, np.ascontiguousarray(whole), scale=1 / 255))
