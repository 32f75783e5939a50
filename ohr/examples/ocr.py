"""Reads pages with an OCR engine: here Tesseract, in a few lines."""

import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from ohr import extras
from ohr.contracts import Image, OcrBackend, Recognition
from ohr.models.resident import resident


class Example(OcrBackend, kind="example"):
    """Reads each page as one block of text."""

    language: Annotated[str, Field(description="Tesseract's language pack.")] = "eng"

    def check(self) -> None:
        """Raise when the engine is missing; called before any work."""
        extras.require("tesserocr", "tesseract")

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read each image, in order; a page that fails is a value, so that the others are still read."""
        return [self._read(image) for image in images]

    def _read(self, image: Image) -> Recognition:
        from PIL import Image as Pillow

        engine = resident(("example", self.language), lambda: _loaded(self.language))
        try:
            engine.SetImage(Pillow.fromarray(image))
            return Recognition(engine.GetUTF8Text().strip())
        except RuntimeError as error:
            return Recognition("", error=str(error))


def _loaded(language: str) -> Any:
    """Load the engine; `resident` calls this once in each worker process, and frees the engine in time."""
    tesserocr = extras.load("tesserocr", "tesseract")
    packs = Path(sysconfig.get_paths()["data"]) / "share" / "tessdata"
    return tesserocr.PyTessBaseAPI(path=str(packs), lang=language, psm=tesserocr.PSM.SINGLE_BLOCK)
