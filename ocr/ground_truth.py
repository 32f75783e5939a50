"""No OCR: the benchmark's own text."""

from typing import ClassVar

from ohr.contracts import AnyOcr


class GroundTruth(AnyOcr, kind="ground_truth"):
    """Takes each page's ground truth; the engine reads it from the benchmark."""

    reads_images: ClassVar[bool] = False
