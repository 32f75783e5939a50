"""Page images of a size that a model takes."""

from math import sqrt
from typing import Any

from ohr.contracts import Image


def scaled(image: Image, most: int) -> Any:
    """Give a page as a Pillow image of at most `most` pixels."""
    from PIL import Image as Pillow

    page = Pillow.fromarray(image)
    factor = sqrt(most / (page.width * page.height))
    size = (max(int(page.width * factor), 28), max(int(page.height * factor), 28))  # a model's patch, at least
    return page.resize(size, Pillow.Resampling.LANCZOS) if factor < 1 or min(page.size) < 28 else page
