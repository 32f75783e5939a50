"""Pages that were fed at a slant are turned straight."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Image, TreatedImage

from .opencv import OnOpenCV, opencv

_SIDE = 1000  # pixels of the longer side of the copy in which the slant is looked for
_STEPS = ((0.5, None), (0.1, 0.5), (0.05, 0.1))
"""Degrees between angles, and how far around the best one before; on the pages of `mini` the error is at most .1."""


class Deskew(OnOpenCV, kind="deskew"):
    """Turns a page by the angle at which its lines are straight: where the ink of its rows differs most (a profile).

    It needs lines of text or rules across the page. The size of the page stays, and corners get the color of its edge.
    """

    most: Annotated[float, Field(gt=0, le=45, description="Largest angle in degrees that is looked for.")] = 10.0
    least: Annotated[float, Field(ge=0, description="Pages that are straighter, in degrees, are left alone.")] = 0.1

    def treat(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:  # noqa: ARG002
        """Turn a page straight. The record has `degrees`, clockwise, by which it was turned."""
        angle = slant(image, self.most)
        if abs(angle) < self.least or angle == 0:
            return TreatedImage(image, np.eye(3), record={"degrees": 0.0})
        cv2, (height, width) = opencv(), image.shape[:2]
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -angle, 1.0)  # (2, 3)
        edge = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
        straight = cv2.warpAffine(
            image,
            matrix,
            (width, height),
            flags=cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=tuple(np.median(edge, axis=0)),
        )
        return TreatedImage(straight, np.vstack([matrix, [0.0, 0.0, 1.0]]), record={"degrees": angle})


def slant(image: Image, most: float) -> float:
    """Return the degrees, clockwise, by which a page must be turned so that its lines are straight; 0 for none."""
    rows, columns = _ink(image)
    best = 0.0
    for step, around in _STEPS if len(rows) else ():
        reach = most if around is None else around
        near = np.clip(best + np.arange(-round(reach / step), round(reach / step) + 1) * step, -most, most)
        angles = sorted(near, key=abs)  # of equal ones, the one that turns least
        best = float(max(angles, key=lambda angle: _sharpness(rows, columns, angle)))
    return round(best, 2)


def _ink(image: Image) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows and columns of a small copy's dark pixels."""
    cv2 = opencv()
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    scale = min(1.0, _SIDE / max(grey.shape))
    size = [max(1, round(side * scale)) for side in grey.shape[::-1]]
    _, dark = cv2.threshold(
        cv2.resize(grey, size, interpolation=cv2.INTER_AREA), 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU
    )
    rows, columns = np.nonzero(dark)
    return rows, columns


def _sharpness(rows: NDArray[Any], columns: NDArray[Any], degrees: float) -> float:
    """Sum the squared steps of the profile: how much the ink changes from row to row, were the page turned so."""
    turn = np.deg2rad(degrees)
    places = np.rint(rows * np.cos(turn) + columns * np.sin(turn)).astype(np.int64)
    profile = np.bincount(places - places.min()).astype(np.float64)
    return float(np.square(np.diff(profile, prepend=0, append=0)).sum())
