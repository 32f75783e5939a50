"""Blur by a generated point-spread function (OHRBench, III.2)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .distortion import OnOpenCV, opencv

_KERNELS = 100  # as many as the paper generated
_STEPS = 64  # points of a camera's path
_WIDE = 3.0  # pixels: from this radius of the path on, half the resolution is enough
_NOTHING = 1e-3  # of the light: rows and columns of the kernel with less are left out
_REACH = 0.0035  # of the page's longer side: radius of the path at severity 1 (8 pixels on A4 at 200 dpi); set by eye


class PsfBlur(OnOpenCV, kind="psf_blur"):
    """Blurs with one of 100 kernels: a hand's shaky path during exposure, softened by the lens.

    A path is a random walk with inertia (in the manner of Boracchi & Foi, IEEE TIP 2012); the severity scales its size,
    so that levels of one page share their path. Severity 0.3 (`published`) preserves clarity, as the paper's weak
    distortions do.
    """

    version: ClassVar[int] = 2
    published: ClassVar[float] = 0.3

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image."""
        path = _path(int(rng.integers(_KERNELS)))
        radius = self.severity * _REACH * max(image.shape[:2])
        if radius < 0.05:
            return NoisyImage(image.copy())
        return NoisyImage(_blurred(image, path, radius))


def _blurred(image: Image, path: NDArray[np.float64], radius: float) -> Image:
    """Convolve; a wide path leaves no fine detail, so half the resolution is enough, in a quarter of the time."""
    cv2 = opencv()
    height, width = image.shape[:2]
    if radius < _WIDE or min(height, width) < 2:
        return np.asarray(cv2.filter2D(image, -1, _kernel(path, radius), borderType=cv2.BORDER_REPLICATE))
    half = cv2.resize(image, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    blurred = cv2.filter2D(half, -1, _kernel(path, radius / 2), borderType=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.resize(blurred, (width, height), interpolation=cv2.INTER_LINEAR))


@lru_cache(maxsize=_KERNELS)
def _path(number: int) -> NDArray[np.float64]:
    """Draw path `number`: (steps, 2), centered, reaching 1 from its middle."""
    rng = np.random.Generator(np.random.PCG64(number))
    inertia = rng.uniform(0.7, 0.95)
    speeds = np.zeros((_STEPS, 2))
    kicks = rng.normal(size=(_STEPS, 2))
    for step in range(1, _STEPS):
        speeds[step] = inertia * speeds[step - 1] + (1 - inertia) * kicks[step]
    path = np.cumsum(speeds, axis=0)
    path -= path.mean(axis=0)
    return np.asarray(path / np.abs(path).max())


def _kernel(path: NDArray[np.float64], radius: float) -> NDArray[np.float32]:
    """Draw a path into a kernel that sums to 1: each point spreads over its four nearest cells."""
    cv2 = opencv()
    half = int(np.ceil(radius * 1.5)) + 1
    kernel = np.zeros((2 * half + 1, 2 * half + 1), dtype=np.float32)
    for x, y in path * radius + half:
        left, top = int(x), int(y)
        dx, dy = x - left, y - top
        kernel[top : top + 2, left : left + 2] += np.outer([1 - dy, dy], [1 - dx, dx])
    kernel = cv2.GaussianBlur(kernel, (0, 0), max(0.25 * radius, 0.1))
    kernel = _trimmed(kernel / kernel.sum())
    return np.asarray(kernel / kernel.sum(), dtype=np.float32)


def _trimmed(kernel: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cut off equally many nearly empty rows (columns) on both sides, since the time grows with the area."""
    half = kernel.shape[0] // 2
    cuts = []
    for sums in (kernel.sum(axis=1), kernel.sum(axis=0)):
        there = np.flatnonzero(sums > _NOTHING)
        cuts.append(min(int(there[0]), 2 * half - int(there[-1])) if len(there) else 0)
    down, across = cuts
    return kernel[down : 2 * half + 1 - down, across : 2 * half + 1 - across]
