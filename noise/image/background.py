"""A paper texture behind the print (OHRBench, III.2)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, opencv
from .textures import PAPERS, paper

_MOST = 0.4  # share of the texture at severity 1


class Background(Distortion, kind="background"):
    """Blends the page with one of 15 paper textures, (1 - w) : w with w = 0.4 x severity.

    The paper's 80:20 is severity 0.5 (`published`). Its 15 photographs of paper are not public; ours are made by code
    (`ohr.noise.image.textures`). All levels share one texture and its position.
    """

    version: ClassVar[int] = 2

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2 = opencv()
        sheet = _cut(paper(int(rng.integers(len(PAPERS)))), rng)
        height, width = image.shape[:2]
        texture = cv2.resize(sheet, (width, height), interpolation=cv2.INTER_LINEAR)
        share = _MOST * self.severity
        return NoisyImage(np.asarray(cv2.addWeighted(image, 1 - share, texture, share, 0)))


def _cut(sheet: Image, rng: np.random.Generator) -> Image:
    """Cut a large part out of a sheet, flipped at random."""
    size = np.asarray(sheet.shape[:2])
    part = (size * rng.uniform(0.75, 1.0)).astype(int)
    top, left = (rng.random(2) * (size - part + 1)).astype(int)
    across, down = rng.choice([-1, 1], size=2)
    return sheet[top : top + part[0], left : left + part[1]][::down, ::across]
