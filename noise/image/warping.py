"""A sheet that is turned, or not flat (OHRBench, III.2, there with augraphy: geometric transformations and folding)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, Field, OnOpenCV, clouds, grid, opencv, remapped, shade, smooth, spread, unit

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
    published: ClassVar[float] = 0.5

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
    turn, place = _crease(drawn)
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    off = (x - np.float32(place * width)) * cos + (y - np.float32(place * height)) * sin  # pixels from the fold
    near = np.exp(-np.abs(off) / (np.float32(0.05) * size))
    squeeze = np.float32(severity * 8 * _SLIP) * off * near
    slip = np.float32(severity * _SLIP * (2 * drawn[3] - 1)) * np.abs(off)
    dx += squeeze * cos - slip * sin
    dy += squeeze * sin + slip * cos
    side = np.float32(0.25) + np.float32(0.75) * smooth(off / (np.float32(0.012) * size) + np.float32(0.5))
    depth = np.float32(severity * (0.25 + 0.35 * drawn[4]))
    return np.asarray(1 - depth * side * np.exp(-np.abs(off) / (np.float32(0.022) * size)), dtype=np.float32)


def _crease(drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Return the direction across a fold, in radians from the page's width, and its place, a share of the page."""
    return (np.pi / 2 if drawn[0] < 0.5 else 0) + 0.14 * (drawn[2] - 0.5), 0.15 + 0.7 * drawn[1]


_LETTERS = (  # direction (0 across the page, 1 along it) and place of each fold: in half, three, four, as a leaflet
    ((0, 1 / 2),),
    ((0, 1 / 3), (0, 2 / 3)),
    ((0, 1 / 2), (1, 1 / 2)),
    ((1, 1 / 3), (1, 2 / 3)),
)


class Folds(Distortion, kind="folds"):
    """Folds the page as a letter or a leaflet, once or twice, and opens it again.

    Along a fold the ink is worn off, and the parts of the sheet lean towards each other, with the shading of that. The
    homography is the affine map that fits best; `record` has the number of folds, and how many pixels a point may be
    away from where it says.
    """

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        x, y = grid(image)
        dx, dy, gain, worn = np.zeros_like(x), np.zeros_like(x), np.ones_like(x), image
        letter = _LETTERS[int(rng.integers(len(_LETTERS)))]
        for along, place in letter:
            slant, off, slip, light = rng.random(4)
            drawn = np.array([along, (place - 0.15) / 0.7 + 0.03 * (off - 0.5), 0.5 + 0.1 * (slant - 0.5), slip, light])
            worn = _worn(worn, drawn, self.severity, rng)
            gain *= _fold(image, drawn, self.severity, dx, dy)
        source = np.stack([x + dx, y + dy, np.ones_like(x)], axis=-1).reshape(-1, 3).astype(np.float64)
        target = np.column_stack([x.ravel(), y.ravel()])
        fitted = np.linalg.lstsq(source, target, rcond=None)[0].T
        away = float(np.hypot(*(source @ fitted.T - target).T).max())
        record = {"folds": len(letter), "pixels": round(away, 1)}
        return NoisyImage(shade(remapped(worn, dx, dy), gain), np.vstack([fitted, [0.0, 0.0, 1.0]]), record=record)


def _worn(image: Image, drawn: NDArray[np.float64], severity: float, rng: np.random.Generator) -> Image:
    """Wear the ink off along a fold, in a ragged line of up to about 2 mm."""
    cv2, size = opencv(), max(image.shape[:2])
    turn, place = _crease(drawn)
    across, along = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    points = place * np.array(image.shape[1::-1]) + np.linspace(-size, size, 160)[:, None] * along
    points += rng.normal(0, 2 * unit(image), (160, 1)) * across
    mask, wide = np.zeros(image.shape[:2], dtype=np.uint8), max(1, round((2 + 9 * severity) * unit(image)))
    cv2.polylines(
        mask, [np.rint(points).astype(np.int32)], False, round(255 * min(1.0, 2 * severity)), wide, cv2.LINE_AA
    )
    ragged = spread(np.clip(0.75 + 0.4 * clouds(rng, grid(image)[0].shape, 150), 0, 1), mask)
    soft = cv2.multiply(cv2.blur(mask, (3, 3)), ragged, scale=1 / 255)
    return np.asarray(cv2.add(image, cv2.merge([soft] * 3)))


_MOST_DEGREES = 6.0  # degrees at severity 1


class Rotation(OnOpenCV, kind="rotation"):
    """Turns the page about its center by an angle drawn from [-6, 6] degrees x severity.

    The paper's [-3, 3] is severity 0.5 (`published`). The corners are filled with white, like a scanner's lid.
    """

    published: ClassVar[float] = 0.5

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
