"""A picture in the making: luminance at full resolution and color at half of it, as phones store them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ohr.contracts import Image

from .distortion import opencv

CELLS = (1, 2)
"""Width of a pixel of each plane, in pixels of the picture."""
_BAND = 128  # rows, an even number


@dataclass(frozen=True, slots=True)
class Picture:
    """The planes of one picture, which every step processes in the same way.

    Args:
        planes: luminance, (H, W), and red, green and blue, (ceil(H / 2), ceil(W / 2), 3). One plane, (H, W, 3), where
            no camera reduces the color.
    """

    planes: tuple[Image, ...]

    @property
    def frame(self) -> Image:
        """Its first plane, which has its height and width."""
        return self.planes[0]

    def each(self, work: Callable[[Image], Image]) -> "Picture":
        """Apply `work` to all planes."""
        return Picture(tuple(work(plane) for plane in self.planes))

    def enlarged(self, height: int, width: int) -> "Picture":
        """Scale the planes up to those of a picture of this size."""
        sizes = [(-(-width // cell), -(-height // cell)) for cell in CELLS]
        pairs = zip(self.planes, sizes, strict=False)
        return Picture(tuple(np.asarray(opencv().resize(plane, size)) for plane, size in pairs))


def split(image: Image, *, whole: bool) -> Picture:
    """Separate luminance from color, or leave them together if `whole`."""
    if whole:
        return Picture((image,))
    return Picture((np.asarray(opencv().cvtColor(image, opencv().COLOR_RGB2GRAY)), _halved(image)))


def _halved(image: Image) -> Image:
    """Average two by two pixels, from the upper left: (ceil(H / 2), ceil(W / 2), 3)."""
    cv2 = opencv()
    height, width = (side // 2 for side in image.shape[:2])
    half = np.empty((-(-image.shape[0] // 2), -(-image.shape[1] // 2), 3), dtype=np.uint8)
    if height and width:
        even, part = image[: 2 * height, : 2 * width], half[:height, :width]
        cv2.resize(even, (width, height), dst=part, interpolation=cv2.INTER_AREA)
    half[height:], half[:, width:] = image[2 * height :, ::2], image[::2, 2 * width :]
    return half


def joined(light: Image, chroma: tuple[Image, Image]) -> Image:
    """Combine luminance, (H, W), and the differences of red and of blue, as JPEG has them, into a picture, (H, W, 3).

    Works in bands, which fit into a processor's cache.
    """
    cv2 = opencv()
    made = np.empty((*light.shape, 3), dtype=np.uint8)
    for top in range(0, len(light), _BAND):
        part = light[top : top + _BAND]
        parts = cv2.merge([part, *(_doubled(plane, top, *part.shape) for plane in chroma)])
        cv2.cvtColor(parts, cv2.COLOR_YCrCb2RGB, dst=made[top : top + _BAND])
    return made


def _doubled(plane: Image, top: int, height: int, width: int) -> Image:
    """Scale a plane to twice its size; return `height` rows of it from `top` on, `width` pixels long."""
    cv2 = opencv()
    above = min(1, top)  # one more row on each side, to interpolate between
    rows = plane[top // 2 - above : (top + height + 1) // 2 + 1]
    large = cv2.resize(rows, (2 * rows.shape[1], 2 * rows.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(large[2 * above : 2 * above + height, :width])
