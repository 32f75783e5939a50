"""Shared parts of the image distortions: base classes, random draws, and fields of light applied to a page.

Light, shade and displacement are smooth, so they are computed on a small grid and scaled up once, as bytes.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.contracts import Image, ImageNoise, NoisyImage

Field = NDArray[np.floating[Any]]
"""A small grid of values over the page: (rows, columns), or (rows, columns, 3) by color."""

_CELL = 8  # pixels of the page per cell of a field
_LUMA = np.array((0.299, 0.587, 0.114), dtype=np.float32)  # weights of red, green and blue in luminance (BT.601)


class OnOpenCV(ImageNoise):
    """An image noise that needs OpenCV; `published` is the severity of a published setting, where there is one."""

    extra: ClassVar[str | None] = "image"
    packages: ClassVar[tuple[str, ...]] = ("opencv-python", "opencv-python-headless")

    def check(self) -> None:
        """Raise when OpenCV is missing."""
        extras.require("cv2", "image")


class Distortion(OnOpenCV):
    """A distortion with a random generator of its own.

    It takes one draw from the given generator to seed its own, so that a page's other draws do not depend on how many a
    distortion needs.
    """

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image."""
        own = np.random.Generator(np.random.PCG64(int(rng.integers(1 << 63))))
        if self.severity == 0:
            return NoisyImage(image.copy())
        return self.distort(image, others, own)

    @abstractmethod
    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image at a severity above 0; draws must not depend on the severity."""


def opencv() -> Any:
    """Import OpenCV; the error names the extra that installs it."""
    return extras.load("cv2", "image")


def unit(image: Image) -> float:
    """Return the length in pixels of one pixel of A4 at 200 dpi, so that strengths do not depend on the resolution."""
    return float(max(image.shape[:2]) / 2339)


def grid(image: Image, cell: int = _CELL) -> tuple[Field, Field]:
    """Return x and y of the centers of a small grid's cells over a page, in pixels, each (rows, columns)."""
    height, width = image.shape[:2]
    rows, columns = max(2, height // cell), max(2, width // cell)
    x = (np.arange(columns, dtype=np.float32) + 0.5) * np.float32(width / columns) - np.float32(0.5)
    y = (np.arange(rows, dtype=np.float32) + 0.5) * np.float32(height / rows) - np.float32(0.5)
    return np.broadcast_to(x, (rows, columns)), np.broadcast_to(y[:, None], (rows, columns))


def clouds(rng: np.random.Generator, shape: tuple[int, ...], lumps: int) -> Field:
    """Draw smooth noise of mean 0 and spread about 1, with `lumps` bumps along the longer side."""
    rows, columns = shape[:2]
    step = max(rows, columns) / lumps
    knots = rng.standard_normal((max(2, round(rows / step)), max(2, round(columns / step)))).astype(np.float32)
    return np.asarray(opencv().resize(knots, (columns, rows), interpolation=opencv().INTER_CUBIC), dtype=np.float32)


def smooth(edge: Field) -> Field:
    """Ease from 0 (at or below 0) to 1 (at or above 1)."""
    clipped = np.clip(edge, 0, 1)
    return np.asarray(clipped * clipped * (3 - 2 * clipped), dtype=np.float32)


def spread(field: Field, image: Image) -> Image:
    """Scale a field of [0, 1] up to a page, or to its light: bytes in the page's shape."""
    cv2 = opencv()
    height, width = image.shape[:2]
    if field.ndim > image.ndim:
        field = field @ _LUMA
    small = np.rint(np.clip(field, 0, 1) * 255).astype(np.uint8)
    whole = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.merge([whole] * 3) if whole.ndim < image.ndim else whole)


def shade(image: Image, gain: Field) -> Image:
    """Multiply each pixel's light by `gain`, in [0, 1]."""
    return np.asarray(opencv().multiply(image, spread(gain, image), scale=1 / 255))


def lighten(image: Image, glare: Field) -> Image:
    """Add light; 1 makes any pixel white."""
    return np.asarray(opencv().add(image, spread(glare, image)))


def remapped(image: Image, dx: Field, dy: Field, border: Sequence[int] = (255, 255, 255)) -> Image:
    """Move pixels: each takes the color of the place (dx, dy) pixels away from it."""
    cv2 = opencv()
    height, width = image.shape[:2]
    x = cv2.resize(dx, (width, height), interpolation=cv2.INTER_LINEAR)
    y = cv2.resize(dy, (width, height), interpolation=cv2.INTER_LINEAR)
    x += np.arange(width, dtype=np.float32)
    y += np.arange(height, dtype=np.float32)[:, None]
    return np.asarray(
        cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=tuple(border))
    )
