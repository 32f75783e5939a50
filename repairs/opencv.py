"""Base of the repairs that need OpenCV."""

from typing import Any, ClassVar

from ohr import extras
from ohr.contracts import ImageTreatment


class OnOpenCV(ImageTreatment):
    """A repair of images with OpenCV."""

    extra: ClassVar[str | None] = "image"
    packages: ClassVar[tuple[str, ...]] = ("opencv-python", "opencv-python-headless")

    def check(self) -> None:
        """Raise when OpenCV is missing."""
        extras.require("cv2", "image")


def opencv() -> Any:
    """Import OpenCV; the error names the extra that installs it."""
    return extras.load("cv2", "image")
