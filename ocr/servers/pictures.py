"""Page images as servers get them."""

from base64 import b64encode
from io import BytesIO

import numpy as np

from ohr.contracts import Image

_QUALITY = 95


def encoded(image: Image, encoding: str = "png") -> bytes:
    """Return an image as a file."""
    from PIL import Image as Pillow

    file = BytesIO()
    Pillow.fromarray(image).save(file, encoding.upper(), **({"quality": _QUALITY} if encoding == "jpeg" else {}))
    return file.getvalue()


def as_url(image: Image, encoding: str = "png") -> str:
    """Return an image as a data URL."""
    return f"data:image/{encoding};base64,{b64encode(encoded(image, encoding)).decode()}"


def fitted(image: Image, longest: int | None, most: int | None, multiple: int) -> Image:
    """Return an image with at most `longest` pixels a side and `most` in all, its sides multiples of `multiple`."""
    from PIL import Image as Pillow

    height, width = image.shape[:2]
    scale = min(1.0, (longest or 1 << 30) / max(height, width), ((most or 1 << 40) / (height * width)) ** 0.5)
    sides = [max(int(side * scale + 1e-6) // multiple, 1) * multiple for side in (width, height)]
    if (width, height) == tuple(sides):
        return image
    return np.asarray(Pillow.fromarray(image).resize((sides[0], sides[1]), Pillow.Resampling.BICUBIC))


def turned(image: Image, degrees: int) -> Image:
    """Return an image turned clockwise by a multiple of 90 degrees."""
    return np.ascontiguousarray(np.rot90(image, -degrees // 90)) if degrees else image
