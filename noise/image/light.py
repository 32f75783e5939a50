"""Uneven light on a page: gradients, cast shadows (OHRBench's among them, III.2), glare, and a camera's exposure."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, Field, clouds, grid, opencv, shade, smooth
from .picture import Picture

_HAZE = np.float32(0.3)  # light that a glossy page scatters around a reflection


def gradient(image: Image, rng: np.random.Generator, cell: int = 8) -> Field:
    """Draw a gradient of light: 0 where the page is brightest, 1 where it is darkest."""
    x, y = grid(image, cell)
    height, width = image.shape[:2]
    across, down = x / np.float32(max(width, 1)), y / np.float32(max(height, 1))
    turn, lamp = rng.uniform(0, 2 * np.pi), rng.uniform(-0.2, 1.2, 2)
    slope = across * np.float32(np.cos(turn)) + down * np.float32(np.sin(turn))
    pool = np.hypot(across - np.float32(lamp[0]), down - np.float32(lamp[1]))
    fall = (1 - (mix := np.float32(rng.uniform(0.2, 0.8)))) * slope + mix * pool
    low, high = float(fall.min()), float(fall.max())
    return np.asarray((fall - low) / max(high - low, 1e-6), dtype=np.float32)


def cast(image: Image, rng: np.random.Generator, cell: int = 8) -> Field:
    """Draw the shadow of a hand, a phone or a head that leans in from one side: 0 in the light, 1 in the shadow.

    A room has several lamps: each casts the shadow at a slightly different place, softer for a wider lamp.
    """
    cv2 = opencv()
    x, _ = grid(image, cell)
    rows, columns = x.shape
    side, middle, reach = int(rng.integers(4)), rng.uniform(0.2, 0.8), rng.uniform(0.35, 0.75)
    turns = np.linspace(0, np.pi, 40)
    radii = reach * np.interp(turns, np.linspace(0, np.pi, 8), rng.uniform(0.55, 1.1, 8))
    outline = np.stack([middle + 0.6 * radii * np.cos(turns), radii * np.sin(turns)], axis=1)  # leaning in from the top
    outline = np.vstack([outline, [middle - 0.3, -0.4], [middle + 0.3, -0.4]])
    if side % 2:
        outline = outline[:, ::-1]
    if side > 1:
        outline = 1 - outline
    size = max(rows, columns)
    dark = np.zeros((rows, columns), dtype=np.float32)
    for share, wide in ((0.5, 0.02), (0.3, 0.05), (0.2, 0.09)):
        shape = np.zeros((rows, columns), dtype=np.float32)
        moved = outline * (columns, rows) + rng.normal(0, 0.7 * wide * size, 2)
        cv2.fillPoly(shape, [np.rint(moved).astype(np.int32)], share)
        dark += cv2.GaussianBlur(shape, (0, 0), max(0.3, rng.uniform(0.7, 1.6) * wide * size))
    return np.asarray(dark, dtype=np.float32)


def tinted(gain: Field, rng: np.random.Generator, strength: float, cool: float = 0) -> Field:
    """Color a gain: shade is bluer or warmer than light from a lamp; `cool` makes it mostly bluer."""
    warm = np.float32(strength * (cool + rng.uniform(-0.12, 0.12)))
    tint = np.asarray((1 + warm, 1, 1 - warm), dtype=np.float32)
    return np.asarray(gain[:, :, None] ** tint, dtype=np.float32)


def glare(image: Image, rng: np.random.Generator, share: float) -> Field:
    """Draw reflections of lamps that burn out `share` of the page: 1 there, less around."""
    x, y = grid(image, cell=16)
    size = np.float32(max(image.shape[:2]))
    height = np.full(x.shape, -np.inf, dtype=np.float32)
    for _ in range(3):
        middle, turn = rng.uniform(0.12, 0.88, 2) * image.shape[1::-1], rng.uniform(0, np.pi)
        long, narrow, bright = rng.uniform(0.5, 1.0), rng.uniform(0.2, 0.5), rng.uniform(0, 0.45)
        across = ((x - middle[0]) * np.float32(np.cos(turn)) + (y - middle[1]) * np.float32(np.sin(turn))) / size
        along = ((y - middle[1]) * np.float32(np.cos(turn)) - (x - middle[0]) * np.float32(np.sin(turn))) / size
        lamp = np.hypot(across / np.float32(long), along / np.float32(narrow)) + np.float32(bright)
        height = np.maximum(height, -lamp.astype(np.float32))
    height += np.float32(0.025) * clouds(rng, x.shape, 5)
    edge = np.quantile(height, 1 - share) + 0.055  # white paper needs less light than grey to burn out
    off = np.minimum(height - np.float32(edge), 0)
    return np.asarray(np.maximum(np.exp(off * np.float32(16)), _HAZE * np.exp(off * np.float32(4))), dtype=np.float32)


def exposed(picture: Picture, rng: np.random.Generator, strength: float) -> Picture:
    """Render a scene as a phone does indoors: paper turns light grey, corners darker, with a slight cast of color."""
    x, y = grid(picture.frame, cell=32)
    height, width = picture.frame.shape[:2]
    off = np.hypot((x / np.float32(max(width, 1)) - 0.5), (y / np.float32(max(height, 1)) - 0.5))
    paper = 1 - np.float32(strength * rng.uniform(0.06, 0.36))
    gain = paper * (1 - np.float32(strength * rng.uniform(0.1, 0.3)) * smooth(off * np.float32(1.3)))
    colored = tinted(gain, rng, 1.5 * strength, cool=-0.02)  # as in the photographs
    return picture.each(lambda plane: shade(plane, colored))


class Shadows(Distortion, kind="shadows"):
    """Darkens the page by a gradient of light and by the shadow of the person who takes the picture.

    At severity 1 the gradient takes up to 70% of the light and the shadow up to 70% of the rest; at 0.5 (`published`)
    half as much each. All levels share one gradient and one shadow.
    """

    version: ClassVar[int] = 2
    published: ClassVar[float] = 0.5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        depth = np.float32(0.7 * self.severity)
        fall, dark = gradient(image, rng), cast(image, rng)
        gain = (1 - depth * fall) * (1 - depth * dark)
        return NoisyImage(shade(image, tinted(gain, rng, self.severity, cool=0.07)))
