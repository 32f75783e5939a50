"""Focus and light: out of focus, in the photographer's shadow, and with lamps mirrored (FCMBench, Table 2)."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from ..distortion import Field, grid, lighten, opencv, shade, smooth
from ..light import cast, exposed, glare, tinted
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
