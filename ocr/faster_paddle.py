"""PP-OCRv6 (tiny and small) through faster-paddle, which runs it in Rust; the models come with the package."""

from collections.abc import Sequence
from io import BytesIO
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Image, OcrBackend, Recognition, Resources, execution
from ohr.models.resident import resident

from .rapidocr import RapidOcr, parts
from .reading_order import Line, as_read


class FasterPaddle(OcrBackend, kind="faster_paddle"):
    """Reads pages with PP-OCRv6 by faster-paddle: line boxes, then the text of each line.

    Lines are sorted into columns, and very long pages are read in parts, as `rapidocr` does.
    """

    extra: ClassVar[str | None] = "faster_paddle"
    packages: ClassVar[tuple[str, ...]] = ("faster-paddle",)
    size: Annotated[Literal["tiny", "small"], Field(description="The model: tiny takes a quarter of the time.")] = (
        "tiny"
    )
    min_confidence: Annotated[float, Field(ge=0, le=1, description="Lines below this score are dropped.")] = 0.5
    threads: Annotated[int, execution("Threads of one engine.", ge=1)] = 1

    def check(self) -> None:
        """Raise when faster-paddle is missing."""
        extras.require("faster_paddle", "faster_paddle")

    def resources(self) -> Resources:
        """Return the engine's resources."""
        return Resources(cpus=self.threads)

    def reads(self, language: str) -> bool:
        """Report whether the packaged models read `language`."""
        return RapidOcr().reads(language)

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read each image."""
        return [self._read(image) for image in images]

    def _read(self, image: Image) -> Recognition:
        engine = resident((self.kind, self.size, self.threads), self._started)
        try:
            lines = [line for part, corner in parts(image) for line in _lines(engine, part, corner)]
        except Exception as error:  # what its Rust code raises
            return Recognition("", f"{type(error).__name__}: {error}")
        return as_read([line for line in lines if line.score >= self.min_confidence], image.shape[1])

    def _started(self) -> Any:
        library = extras.load("faster_paddle", "faster_paddle")
        return library.OcrEngine(model_size=self.size, threads=self.threads)


def _lines(engine: Any, image: Image, corner: tuple[int, int]) -> list[Line]:
    from PIL import Image as Pillow

    file = BytesIO()
    Pillow.fromarray(image).save(file, "bmp")  # it takes encoded images only; a PNG takes ten times as long
    found = engine.ocr(file.getvalue())["bounds"].values()
    boxes = [np.array([line["topLeftCoord"], line["bottomRightCoord"]], dtype=float) + corner for line in found]
    return [Line.around(box, line["text"], line["confidence"]) for box, line in zip(boxes, found, strict=True)]
