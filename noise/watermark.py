"""Words printed over the whole page (FCMBench, Table 2: overlaid watermarks)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, opencv
from .scene import level

_MARKS = (
    "CONFIDENTIAL",
    "DRAFT - NOT FOR CIRCULATION",
    "COPY",
    "FOR REVIEW ONLY",
    "SAMPLE",
    "UNCONTROLLED WHEN PRINTED",
)
_INKS = ((120, 120, 120), (190, 40, 40), (50, 80, 170), (60, 60, 60))


class Watermark(Distortion):
    """Repeats a slanted line of words over the page, in ink of opacity .15, .30 and .45 (severity 1/3, 2/3, 1)."""

    kind: Literal["watermark"] = "watermark"
    published: ClassVar[float] = 2 / 3

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2 = opencv()
        mask = _tiled(image, rng)
        ink = _INKS[int(rng.integers(len(_INKS)))]
        opacity = level(self.severity, 0, (0.15, 0.30, 0.45))
        covers = [np.rint(np.arange(256) * opacity).astype(np.uint8)] * 3
        adds = [np.rint(np.arange(256) / 255 * opacity * tone).astype(np.uint8) for tone in ink]
        spread = cv2.merge([mask] * 3)
        cover, light = (cv2.LUT(spread, np.stack(tables, axis=-1)[None]) for tables in (covers, adds))
        return NoisyImage(np.asarray(cv2.add(cv2.multiply(image, cv2.bitwise_not(cover), scale=1 / 255), light)))


def _tiled(image: Image, rng: np.random.Generator) -> Image:
    """Write the words in slanted rows: (H, W), 255 where there is ink."""
    cv2 = opencv()
    height, width = image.shape[:2]
    words = _MARKS[int(rng.integers(len(_MARKS)))]
    face, slant = cv2.FONT_HERSHEY_DUPLEX, rng.uniform(25, 50) * rng.choice([-1, 1])
    size = rng.uniform(0.9, 2.0) * max(height, width) / 1400
    weight = max(1, round(2.2 * size))
    (long, tall), _ = cv2.getTextSize(words, face, size, weight)
    across, down = max(2, round(1.35 * long)), max(2, round(rng.uniform(3.0, 5.5) * tall))
    side = int(np.hypot(height, width)) + 1
    flat = np.zeros((side, side), dtype=np.uint8)
    for row, y in enumerate(range(down // 2, side + tall, down)):
        for x in range(-(row % 2) * across // 2, side, across):
            cv2.putText(flat, words, (x, y), face, size, 255, weight, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((side / 2, side / 2), slant, 1.0)
    turn[:, 2] += ((width - side) / 2, (height - side) / 2)
    return np.asarray(cv2.warpAffine(flat, turn, (width, height), flags=cv2.INTER_LINEAR))
