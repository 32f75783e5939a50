"""A page among other papers: cluttered backgrounds and multi-document images (FCMBench, Table 2)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..light import exposed
from ..picture import split
from .camera import Capture
from .scene import companions, fitted, ground, level, placed, turned

_SHEETS = 3


class ClutteredBackground(Capture, kind="cluttered_background"):
    """Places the page on other pages of its document and on sheets of unrelated words, which look much like it.

    They cover 0%, 5% and 10% of the page from one side (severity 1/3, 2/3, 1; `label_effect` is then `occluded`); the
    page shrinks to 80%, 75% and 70% of the frame's height and width.
    """

    version: ClassVar[int] = 6

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image at a severity above 0."""
        height, width = image.shape[:2]
        size = np.array([width, height])
        high, wide = max(1, height // 2), max(1, width // 2)  # behind the page, where the lens is less sharp
        far = split(ground(rng), whole=self.camera == 0).enlarged(high, wide)
        heap = companions(others, _SHEETS)
        corners = np.array([[0.1, 0.12], [0.92, 0.2], [0.15, 0.9], [0.88, 0.85]])[rng.permutation(4)[:_SHEETS]]
        turns = rng.uniform(-0.9, 0.9, _SHEETS)
        for sheet, corner, turn in zip(heap, corners, turns, strict=True):
            spot = turned(sheet, _area(sheet, image, 0.45), float(turn), (corner * size).tolist())
            placed(sheet, spot / 2, far, self.printed)
        scene = far.enlarged(height, width)
        side = level(self.severity, 1, (0.8, 0.75, 0.7))
        page = turned(image, side * side, self.near * float(rng.uniform(-0.1, 0.1)), (size / 2).tolist())
        homography = placed(image, page, scene, self.printed)
        cover = level(self.severity, 0, (0, 0.05, 0.10))
        top, turn = bool(rng.random() < 0.5), float(rng.uniform(-0.08, 0.08))
        if cover:
            sheet = heap[0]
            over = turned(sheet, _area(sheet, image, side * side), turn, (size / 2).tolist())
            placed(sheet, over + np.array([0, (cover - 1) * side * height * (1 if top else -1)]), scene, self.printed)
        effect = "occluded" if cover else "none"
        seen = exposed(scene, rng, 0.8 * self.near)
        return NoisyImage(self.photographed(seen, rng), homography, effect)


def _area(sheet: Image, image: Image, share: float) -> float:
    """Return the factor that scales a sheet's area to `share` of the page's."""
    return share * float(np.prod(image.shape[:2])) / float(np.prod(sheet.shape[:2]))


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
