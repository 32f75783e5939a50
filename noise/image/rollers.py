"""Streaks of dirty rollers (OHRBench, III.2; the scanner's or printer's, after augraphy's effect of that name)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, Field, opencv

_MOST = 0.1  # probability of a line in a column (or row) of pixels at severity 1: the paper's 0.05 is at 0.5
_KNOTS = 24  # points along a line at which its strength is drawn


class Rollers(Distortion, kind="rollers"):
    """Draws lines of 1 to 3 pixels along the page or across it, with probability 0.1 x severity per column (or row).

    The paper's 0.05 is severity 0.5 (`published`). A page goes through its rollers one way, so one page has lines in
    one direction. Most lines are dirt, the others lost ink; each fades in and out. The lines of a lower severity are a
    subset of those of a higher one.
    """

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2 = opencv()
        down = bool(rng.random() < 0.6)
        page = image if down else image.transpose(1, 0, 2)
        width = int(page.shape[1])
        picked = rng.random(width) < _MOST * self.severity
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
