"""Several pages in one picture (FCMBench, Table 2: multi-document images)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..light import exposed
from ..picture import split
from .camera import Capture
from .scene import companions, fitted, ground, placed, turned

_GRIDS = {2: (1, 2), 3: (1, 3), 5: (2, 3)}  # sheets: rows, columns of places


class MultiDoc(Capture, kind="multi_doc"):
    """Places the page among others of its document: 2, 3 and 5 sheets (severity up to 1/3, up to 2/3, above).

    The picture has as many pixels as the input, so each sheet loses resolution. Where the document has too few pages,
    sheets of unrelated words are added. `label_effect` is `joined`: the picture shows the text of other pages, too.
    """

    version: ClassVar[int] = 5

    @property
    def joined(self) -> int:
        """Number of further sheets."""
        if not self.severity:
            return 0
        return 1 if self.severity <= 0.34 else 2 if self.severity <= 0.67 else 4

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image at a severity above 0."""
        height, width = image.shape[:2]
        number = 1 + self.joined
        rows, columns = _GRIDS[number]
        scale = 1 / np.sqrt(rows * columns)
        cell = np.array([width * scale, height * scale])
        # the page keeps its rank among the places at each severity, so that levels are coupled
        ranks, turns = rng.random(6), rng.uniform(-0.03, 0.03, 6)
        places = np.argsort(ranks[: rows * columns])[:number]
        high, wide = max(1, round(rows * cell[1])), max(1, round(columns * cell[0]))
        scene = split(ground(rng), whole=self.camera == 0).enlarged(high, wide)
        homography = np.eye(3)
        for order, (sheet, place) in enumerate(zip([image, *companions(others, number - 1)], places, strict=True)):
            spot = fitted(turned(sheet, 1e6, turns[order], (0, 0)), round(cell[1]), round(cell[0]), 0.025)
            quad = spot + np.array([place % columns, place // columns]) * cell
            matrix = placed(sheet, quad, scene, self.printed)
            homography = matrix if order == 0 else homography
        return NoisyImage(self.photographed(exposed(scene, rng, 0.8), rng), homography, "joined")
