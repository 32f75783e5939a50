"""PP-OCR (Chinese and English) through rapidocr and onnxruntime; the models come with the package."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Image, OcrBackend, Recognition, Resources, execution
from ohr.models.resident import resident

from .reading_order import Line, in_reading_order

_LANGUAGES = ("en", "zh")
_LONGEST_STRIP = (
    4  # sides: the engine enlarges an image until its short side has 736 pixels, however long the other gets
)


class RapidOcr(OcrBackend):
    """Reads pages with PP-OCR (Du et al., arXiv:2009.09941): line boxes, then the text of each line.

    The engine returns lines without an order: they are sorted into columns, which white gaps separate, top to bottom.
    """

    kind: Literal["rapidocr"] = "rapidocr"
    extra: ClassVar[str | None] = "ocr"
    packages: ClassVar[tuple[str, ...]] = ("rapidocr", "onnxruntime", "opencv-python", "opencv-python-headless")
    min_confidence: Annotated[float, Field(ge=0, le=1, description="Lines below this score are dropped.")] = 0.5
    threads: Annotated[int, execution("Threads of one engine.", ge=1)] = 1

    def check(self) -> None:
        """Raise when rapidocr or onnxruntime is missing."""
        extras.require("rapidocr", "ocr")
        extras.require("onnxruntime", "ocr")

    def resources(self) -> Resources:
        """Return the engine's resources."""
        return Resources(cpus=self.threads)

    def reads(self, language: str) -> bool:
        """Report whether PP-OCR's packaged model reads `language`."""
        return language in _LANGUAGES

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read each image."""
        engine = resident(("rapidocr", self.threads), lambda: _started(self.threads))
        return [_read(engine, image, self.min_confidence) for image in images]


def _started(threads: int) -> Any:
    import logging

    rapidocr = extras.load("rapidocr", "ocr")
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    settings = {
        "Global.log_level": "error",
        "EngineConfig.onnxruntime.intra_op_num_threads": threads,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    return rapidocr.RapidOCR(params=settings)


def _padded(image: Image) -> Image:
    """Widen a strip with white on its right or lower side."""
    height, width = image.shape[:2]
    least = max(height, width) // _LONGEST_STRIP
    if min(height, width) >= least:
        return image
    missing = ((0, max(least - height, 0)), (0, max(least - width, 0)), (0, 0))
    return np.pad(image, missing, constant_values=255)


def _read(engine: Any, image: Image, least: float) -> Recognition:
    try:
        found = engine(_padded(image)[:, :, ::-1])  # the engine expects BGR
    except Exception as error:  # onnxruntime and the engine's own code raise many kinds
        return Recognition("", f"{type(error).__name__}: {error}")
    if found.boxes is None or found.txts is None:
        return Recognition("")
    lines = [
        Line(float(box[:, 0].min()), float(box[:, 1].min()), float(box[:, 0].max()), float(box[:, 1].max()), text)
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if score >= least
    ]
    return Recognition("\n".join(line.text for line in in_reading_order(lines, image.shape[1])))
