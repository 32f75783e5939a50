"""Pictures: their sizes, known without making them, and their images."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from ohr.contracts import Image, PageId, Picture
from ohr.errors import DataError

Size = tuple[int, int]
"""Width and height in pixels."""

_WHITE = 255
_LARGEST = 200_000_000
"""Pixels of a picture, twice those of the largest page image: a grid of many pages may have more than memory does."""


def picture_size(picture: Picture, page_size: Callable[[PageId], Size]) -> Size:
    """Return the size of a picture, from the sizes of its pages.

    Raises:
        DataError: a step cannot be done, such as a crop that is empty.
    """
    size: Size = _after_steps([page_size(page) for page in picture.pages], picture, 0)
    return size


def make_picture(picture: Picture, page_image: Callable[[PageId], Image]) -> Image:
    """Make a picture from the images of its pages.

    Raises:
        DataError: a step cannot be done, such as a crop that is empty.
    """
    image: Image = _after_steps([page_image(page) for page in picture.pages], picture, 1)
    return image


def _after_steps(items: list[Any], picture: Picture, which: int) -> Any:
    """Apply the steps of a picture to the sizes of its pages (0), or to their images (1)."""
    for name, numbers in picture.steps:
        items = [_STEPS[name][which](items, numbers)]
    if len(items) != 1:
        raise DataError(f"a picture of {len(items)} pages needs a grid")
    return items[0]


def described(picture: Picture) -> str:
    """Describe a picture in words, for people."""
    pages = ", ".join(f"{name}:{index}" for name, index in picture.pages)
    steps = (f"{name} {' '.join(f'{number:.0f}' for number in numbers)}" for name, numbers in picture.steps)
    return f"[picture of {'; '.join((pages, *steps))}]"


def _one(items: Sequence[Any]) -> Any:
    if len(items) != 1:
        raise DataError("only a picture of one page, or a grid, can be cropped or scaled")
    return items[0]


def _box(size: Size, numbers: Sequence[float]) -> tuple[int, int, int, int]:
    """Return a box as whole numbers inside a picture."""
    left, top, right, bottom = (round(number) for number in numbers)
    box = max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
    if box[0] >= box[2] or box[1] >= box[3]:
        raise DataError(f"a crop of {left}, {top}, {right}, {bottom} has no pixel of a picture of {size[0]}x{size[1]}")
    return box


def _cropped_size(sizes: Sequence[Size], numbers: Sequence[float]) -> Size:
    left, top, right, bottom = _box(_one(sizes), numbers)
    return right - left, bottom - top


def _cropped(images: Sequence[Image], numbers: Sequence[float]) -> Image:
    image = _one(images)
    left, top, right, bottom = _box(_size(image), numbers)
    return np.ascontiguousarray(image[top:bottom, left:right])


def _fitted_size(sizes: Sequence[Size], numbers: Sequence[float]) -> Size:
    width, height = _one(sizes)
    least, most = numbers
    if not 0 < least <= most <= _LARGEST:
        raise DataError(f"a picture cannot have {least:.0f} to {most:.0f} pixels; at most {_LARGEST:,} are made")
    pixels = width * height
    scale = sqrt(min(max(pixels, least), most) / pixels)
    # rounded first: 156 x (448 / 156) must give 448
    return max(int(round(width * scale, 6)), 1), max(int(round(height * scale, 6)), 1)


def _fitted(images: Sequence[Image], numbers: Sequence[float]) -> Image:
    image = _one(images)
    return _resized(image, _fitted_size([_size(image)], numbers))


def _grid_size(sizes: Sequence[Size], numbers: Sequence[float]) -> Size:
    rows, columns, line = (int(number) for number in numbers)
    if rows < 1 or columns < 1 or line < 0:
        raise DataError(f"a grid of {rows}x{columns} with lines of {line} pixels cannot be made")
    if not 0 < len(sizes) <= rows * columns:
        raise DataError(f"a grid of {rows}x{columns} cannot hold {len(sizes)} pages")
    width, height = _commonest(sizes)
    size = columns * width + (columns - 1) * line, rows * height + (rows - 1) * line
    if size[0] * size[1] > _LARGEST:
        raise DataError(f"a grid of {size[0]}x{size[1]} pixels is too large; at most {_LARGEST:,} pixels are made")
    return size


def _grid(images: Sequence[Image], numbers: Sequence[float]) -> Image:
    rows, columns, line = (int(number) for number in numbers)
    sizes = [_size(image) for image in images]
    whole, (width, height) = _grid_size(sizes, numbers), _commonest(sizes)
    made = np.zeros((whole[1], whole[0], 3), np.uint8)  # the lines are what is left of it
    for place in range(rows * columns):
        top, left = place // columns * (height + line), place % columns * (width + line)
        cell = made[top : top + height, left : left + width]
        cell[:] = _resized(images[place], (width, height)) if place < len(images) else _WHITE
    return made


def _commonest(sizes: Sequence[Size]) -> Size:
    """Return the size that most pages have; of several, the first."""
    return Counter(sizes).most_common(1)[0][0]


def _size(image: Image) -> Size:
    return image.shape[1], image.shape[0]


def _resized(image: Image, size: Size) -> Image:
    from PIL import Image as Pillow

    if _size(image) == size:
        return image
    return np.asarray(Pillow.fromarray(image).resize(size, Pillow.Resampling.LANCZOS))


_STEPS: dict[str, tuple[Callable[[Any, Any], Size], Callable[[Any, Any], Image]]] = {
    "crop": (_cropped_size, _cropped),
    "fit": (_fitted_size, _fitted),
    "grid": (_grid_size, _grid),
}
"""The size and the image that each step gives."""
