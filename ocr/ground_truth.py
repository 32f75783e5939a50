"""No OCR: the benchmark's own text."""

from collections.abc import Sequence
from typing import ClassVar

from ohr.contracts import Image, OcrBackend, Recognition


class GroundTruth(OcrBackend, kind="ground_truth"):
    """Takes each page's ground truth; the engine reads it from the benchmark."""

    reads_images: ClassVar[bool] = False

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Refuse every image: this backend reads none."""
        return [Recognition("", "ground_truth reads no images") for _ in images]
