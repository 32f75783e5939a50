"""A sheet that is turned, or not flat (OHRBench, III.2, there with augraphy: geometric transformations and folding)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, Field, OnOpenCV, grid, opencv, remapped, shade, smooth, unit

# set by eye: the paper gives no numbers
_TILT = 0.03  # of a side: how far a corner moves at severity 1
_WAVE = 40.0  # pixels of A4 at 200 dpi: how far the sheet bends at severity 1
_SLIP = 0.042  # shift across a fold, per pixel of distance from it, at severity 1


class Warping(Distortion, kind="warping"):
    """Tilts, bends and folds the sheet, with the shading of the folds.

    One to three folds, each with its own place, slant and light. The severity scales all displacements and shading of
    one drawn sheet; 0.5 (`published`) is an uneven sheet that was folded. The homography returned is that of the tilt;
    bends and folds move a point by up to about 100 pixels x severity more (A4 at 200 dpi).
    """

    version: ClassVar[int] = 2

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        tilt = _tilt(image, rng, self.severity)
        x, y = grid(image)
        dx, dy = _moved(np.asarray(np.linalg.inv(tilt), dtype=np.float64), x, y)
        for shift in (dx, dy):
            shift += np.float32(self.severity * _WAVE * unit(image)) * _bend(image, rng)
        gain = np.ones_like(dx)
        folds = rng.random((1 + int(rng.integers(3)), 5))
        for drawn in folds:
            gain *= _fold(image, drawn, self.severity, dx, dy)
        return NoisyImage(shade(remapped(image, dx, dy), gain), tilt)


def _tilt(image: Image, rng: np.random.Generator, severity: float) -> NDArray[np.float64]:
    height, width = image.shape[:2]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    moved = corners + (rng.uniform(-1, 1, (4, 2)) * severity * _TILT * min(height, width)).astype(np.float32)
    return np.asarray(opencv().getPerspectiveTransform(corners, moved), dtype=np.float64)


def _moved(matrix: NDArray[np.float64], x: Field, y: Field) -> tuple[Field, Field]:
    """Return how far a homography moves each point of a grid."""
    place = np.stack([x, y, np.ones_like(x)], axis=-1) @ matrix.T.astype(np.float32)
    return np.asarray(place[..., 0] / place[..., 2] - x), np.asarray(place[..., 1] / place[..., 2] - y)


def _bend(image: Image, rng: np.random.Generator) -> Field:
    """Draw a smooth bend of up to about 1: two long waves of any direction."""
    x, y = grid(image)
    size, bend = np.float32(max(image.shape[:2])), np.zeros(x.shape)
    for _ in range(2):
        turn, waves, start = rng.uniform(0, 2 * np.pi), rng.uniform(0.5, 1.6), rng.uniform(0, 2 * np.pi)
        along = (x * np.float32(np.cos(turn)) + y * np.float32(np.sin(turn))) / size
        bend = bend + np.float32(0.5) * np.sin(np.float32(2 * np.pi * waves) * along + np.float32(start))
    return np.asarray(bend, dtype=np.float32)


def _fold(image: Image, drawn: NDArray[np.float64], severity: float, dx: Field, dy: Field) -> Field:
    """Fold the sheet once: add to the displacement (dx, dy), in place, and return the share of light that is left.

    Args:
        drawn: five numbers in [0, 1]: direction, place, slant, slip and light of the fold.
    """
    x, y = grid(image)
    height, width = image.shape[:2]
    size = np.float32(max(height, width))
    turn = (np.pi / 2 if drawn[0] < 0.5 else 0) + 0.14 * (drawn[2] - 0.5)
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    place = 0.15 + 0.7 * drawn[1]
    off = (x - np.float32(place * width)) * cos + (y - np.float32(place * height)) * sin  # pixels from the fold
    near = np.exp(-np.abs(off) / (np.float32(0.05) * size))
    squeeze = np.float32(severity * 8 * _SLIP) * off * near
    slip = np.float32(severity * _SLIP * (2 * drawn[3] - 1)) * np.abs(off)
    dx += squeeze * cos - slip * sin
    dy += squeeze * sin + slip * cos
    side = np.float32(0.25) + np.float32(0.75) * smooth(off / (np.float32(0.012) * size) + np.float32(0.5))
    depth = np.float32(severity * (0.25 + 0.35 * drawn[4]))
    return np.asarray(1 - depth * side * np.exp(-np.abs(off) / (np.float32(0.022) * size)), dtype=np.float32)


_MOST_DEGREES = 6.0  # degrees at severity 1


class Rotation(OnOpenCV, kind="rotation"):
    """Turns the page about its center by an angle drawn from [-6, 6] degrees x severity.

    The paper's [-3, 3] is severity 0.5 (`published`). The corners are filled with white, like a scanner's lid.
    """

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image."""
        angle = rng.uniform(-1, 1) * _MOST_DEGREES * self.severity
        if angle == 0:
            return NoisyImage(image.copy(), np.eye(3))
        cv2 = opencv()
        height, width = image.shape[:2]
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), angle, 1.0)  # (2, 3)
        planes = cv2.split(image)
        # as most scans are: one plane takes a third of the time
        grey = all(np.array_equal(planes[0], plane) for plane in planes[1:])
        turned = cv2.warpAffine(
            planes[0] if grey else image,
            matrix,
            (width, height),
            flags=cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(255,) * 3,
        )
        turned = cv2.merge([turned] * 3) if grey else turned
        return NoisyImage(turned, np.vstack([matrix, [0.0, 0.0, 1.0]]))
