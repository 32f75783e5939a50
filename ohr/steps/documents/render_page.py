"""Page images for the stages that look at them: distort one, and keep it."""

import base64
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Image
from ohr.errors import StageError
from ohr.keys import key as key_of
from ohr.steps.documents.page_images import PageImage
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class RenderPage(Work):
    """Distort one page's image and keep it for the stages that look at it. Writes {png}, base64."""

    kind: ClassVar[str] = "rendering pages"
    shape: ClassVar[str] = "image"
    role: ClassVar[str] = "page image"
    page: PageImage
    base: str

    @property
    def item(self) -> str:
        """Name of the page."""
        return f"{self.base}: {self.page.document.name} page {self.page.index + 1}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Render the page."""
        keep(context.store, ready.outputs[0], self.page.make())
        report = Report()
        report.calls["page images"] = 1
        return report


def keep(store: Store, key: str, image: Image) -> None:
    """Keep an image, and its size, which outlives it."""
    import cv2

    written, png = cv2.imencode(".png", image[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
    if not written:
        raise StageError("page image", key, "an image cannot be written as PNG")
    size = [image.shape[1], image.shape[0]]
    store.put_many({key: {"png": base64.b64encode(png.tobytes()).decode("ascii")}, size_key(key): size})


def size_key(image: str) -> str:
    """Key of the size of a page image, [width, height] in pixels."""
    return key_of("image size", image)


def rendered(store: Store, key: str) -> Image | None:
    """Read a rendered image; None when the store does not have it."""
    import cv2
    import numpy as np

    found = read_sound(store, [key], "image").get(key)
    if found is None:
        return None
    image: Any = cv2.imdecode(np.frombuffer(base64.b64decode(found["png"]), np.uint8), cv2.IMREAD_COLOR_RGB)
    return np.ascontiguousarray(image, dtype=np.uint8)
