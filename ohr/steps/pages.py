"""Page images for the stages that look at them: distort one, and keep it."""

import base64
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Image
from ohr.errors import StageError
from ohr.steps.images import PageImage
from ohr.steps.step import Context, Ready, Report, Work
from ohr.store import Store


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
