"""Pages: distort and read one, or render its image for a stage that looks at images."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

from ohr.contracts import Image, OcrBackend, Recognition, Stage
from ohr.errors import StageError
from ohr.messages.wording import counted
from ohr.steps.images import PageImage
from ohr.steps.step import Context, Ready, Report, Work
from ohr.store import Store


@dataclass(frozen=True, slots=True)
class ReadPage(Work):
    """Distort and read one page. Writes {text, seconds}."""

    kind: ClassVar[str] = "reading pages"
    role: ClassVar[str] = "ocr"
    page: PageImage
    ocr: OcrBackend
    base: str

    @property
    def stage(self) -> Stage:
        """The OCR engine."""
        return self.ocr

    @property
    def item(self) -> str:
        """Name of the page."""
        return f"{self.base}: {self.page.document.name} page {self.page.index}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Read the page.

        Raises:
            StageError: the page has no image, or the engine failed on it.
        """
        began = perf_counter()
        image = self.page.make()
        (read,) = recognise(self.ocr, [image])
        if read.error is not None:
            raise StageError(f"ocr {self.ocr.kind}", f"{self.page.document.name} page {self.page.index}", read.error)
        seconds = perf_counter() - began
        context.store.put(ready.outputs[0], {"text": storable(read.text), "seconds": round(seconds, 4)})
        report = Report(seconds=seconds)
        report.calls["pages"] = 1
        return report


@dataclass(frozen=True, slots=True)
class RenderPage(Work):
    """Distort one page's image and keep it for the stages that look at it. Writes {png}, base64."""

    kind: ClassVar[str] = "rendering pages"
    role: ClassVar[str] = "page image"
    page: PageImage
    base: str

    @property
    def item(self) -> str:
        """Name of the page."""
        return f"{self.base}: {self.page.document.name} page {self.page.index}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Render the page."""
        import cv2

        written, png = cv2.imencode(".png", self.page.make()[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
        if not written:
            raise StageError("page image", self.item, "its image cannot be written as PNG")
        context.store.put(ready.outputs[0], {"png": base64.b64encode(png.tobytes()).decode("ascii")})
        report = Report()
        report.calls["page images"] = 1
        return report


def rendered(store: Store, key: str) -> Image | None:
    """Read a rendered image; None when the store does not have it."""
    import cv2
    import numpy as np

    found = store.get(key)
    if found is None:
        return None
    image: Any = cv2.imdecode(np.frombuffer(base64.b64decode(found["png"]), np.uint8), cv2.IMREAD_COLOR_RGB)
    return np.ascontiguousarray(image, dtype=np.uint8)


def storable(text: str) -> str:
    """Replace lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def recognise(ocr: OcrBackend, images: Sequence[Image]) -> list[Recognition]:
    """Read images; where the engine returns another number of results, nobody knows which page each is of."""
    found = list(ocr.recognise(images))
    if len(found) == len(images):
        return found
    reason = f"the engine returned {len(found) or 'no'} {'result' if len(found) < 2 else 'results'}"
    return [Recognition("", f"{reason} for {counted(len(images), 'image')}")] * len(images)
