"""Rollers, copies in black and white, and salt-and-pepper noise (OHRBench, III.2).

Rollers are the scanner's or printer's, after augraphy's effect of that name; binarization is there augraphy's dilation,
erosion and letterpress.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, ImageNoise, NoisyImage

from .distortion import Distortion, Field, opencv, unit

_MOST_LINES = 0.1  # probability of a line in a column (or row) of pixels at severity 1: the paper's 0.05 is at 0.5
_KNOTS = 24  # points along a line at which its strength is drawn


class Rollers(Distortion, kind="rollers"):
    """Draws lines of 1 to 3 pixels along the page or across it, with probability 0.1 x severity per column (or row).

    The paper's 0.05 is severity 0.5 (`published`). A page goes through its rollers one way, so one page has lines in
    one direction. Most lines are dirt, the others lost ink; each fades in and out. The lines of a lower severity are a
    subset of those of a higher one.
    """

    published: ClassVar[float] = 0.5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2 = opencv()
        down = bool(rng.random() < 0.6)
        page = image if down else image.transpose(1, 0, 2)
        width = int(page.shape[1])
        picked = rng.random(width) < _MOST_LINES * self.severity
        thickness = rng.integers(1, 4, width)
        dirty = rng.random(width) < 0.7
        strength = rng.uniform(0.25, 0.9, width) * np.clip(rng.normal(0.55, 0.4, (_KNOTS, width)), 0, 1)
        dark, pale = (_lines(strength, thickness, np.asarray(picked & kind)) for kind in (dirty, ~dirty))
        passed = _drawn(np.maximum(dark, pale), image, down)
        noisy = cv2.multiply(image, cv2.bitwise_not(passed), scale=1 / 255)
        return NoisyImage(np.asarray(cv2.add(noisy, _drawn(pale, image, down))))


def _lines(strength: Field, thickness: NDArray[np.int64], picked: NDArray[np.bool_]) -> Field:
    """Return the strength of the line that covers each column of pixels: (knots, width)."""
    made = np.zeros_like(strength)
    for offset in range(3):
        wide = picked & (thickness > offset)
        shifted = np.where(wide, strength, 0)[:, : max(0, strength.shape[1] - offset)]
        made[:, offset:] = np.maximum(made[:, offset:], shifted)
    return made


def _drawn(lines: Field, image: Image, down: bool) -> Image:
    """Draw lines on an empty page: (H, W, 3) bytes."""
    cv2 = opencv()
    height, width = image.shape[:2]
    small = np.rint((lines if down else lines.T) * 255).astype(np.uint8)
    whole = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.merge([whole] * 3))


_WAYS = ("dilation", "erosion", "letterpress")


class Binarization(Distortion, kind="binarization"):
    """Thresholds the page as a copier does: ink that ran (dilation), missing ink (erosion), or uneven (letterpress).

    One of the three is drawn for each page. The severity moves the threshold, blurs the page before it, and for
    letterpress makes the ink more uneven; below 0.5 grey and color shine through. Severity 0.5 (`published`) preserves
    clarity, as the paper's weak distortions do.
    """

    published: ClassVar[float] = 0.5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2, severity = opencv(), self.severity
        way = _WAYS[int(rng.integers(len(_WAYS)))]
        soft = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (0, 0), (0.5 + severity) * unit(image) + 0.1)
        threshold = 128.0
        if way == "letterpress":
            soft = cv2.add(soft, _mottle(image, rng, 75 * severity), dtype=cv2.CV_8U)
            threshold += 20 * severity
        elif way == "dilation":
            threshold += 95 * severity
        else:
            threshold -= 75 * severity
        steps = np.arange(256) - threshold
        ink = cv2.LUT(soft, np.rint(255 / (1 + np.exp(-steps / 9))).astype(np.uint8))
        share = min(1.0, 2 * severity)
        return NoisyImage(np.asarray(cv2.addWeighted(image, 1 - share, cv2.merge([ink] * 3), share, 0)))


def _mottle(image: Image, rng: np.random.Generator, depth: float) -> Image:
    """Draw the unevenness of the ink: blots of about three pixels, signed, (H, W)."""
    cv2 = opencv()
    height, width = image.shape[:2]
    cell = max(1.0, 2.2 * unit(image))
    noise = rng.standard_normal((max(1, round(height / cell)), max(1, round(width / cell))), dtype=np.float32)
    # clipped below, or blots would also appear on paper without ink
    levels = np.clip(noise * np.float32(depth), -70, 127).astype(np.int16)
    return np.asarray(cv2.resize(levels, (width, height), interpolation=cv2.INTER_LINEAR))


_MOST_PIXELS = 0.10  # share of pixels at severity 1


class SaltAndPepper(ImageNoise, kind="salt_and_pepper"):
    """Replaces a share of the pixels by white or black, half each.

    The share is 10% x severity; the paper's 1% is severity 0.1 (`published`). One draw per pixel is thresholded, so
    the pixels of a lower severity are a subset of those of a higher one.
    """

    published: ClassVar[float] = 0.1

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image."""
        draws = rng.integers(0, 1 << 16, size=image.shape[:2], dtype=np.uint16)
        hit = draws < round(_MOST_PIXELS * self.severity * (1 << 16))
        noisy = image.copy()
        noisy[hit] = np.where(draws[hit] & 1, np.uint8(255), np.uint8(0))[:, None]
        return NoisyImage(noisy)
