"""Pictures: their sizes, known without making them, and their images."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from math import sqrt
from typing import Any

import numpy as np

from ohr.contracts import Image, PageId, Picture
from ohr.errors import DataError

Size = tuple[int, int]
"""Width and height in pixels."""
Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""
Plan = tuple[Size, Sequence[tuple[Box, Box]]]
"""The size of a step's picture; for each picture that goes into it, the part that is taken, and where it goes."""

_WHITE = 255
_LARGEST = 200_000_000
"""Pixels of a picture, twice those of the largest page image: a grid of many pages may have more than memory does."""


def picture_size(picture: Picture, page_size: Callable[[PageId], Size]) -> Size:
    """Return the size of a picture, from the sizes of its pages.

    Raises:
        DataError: a step cannot be done, such as a crop that is empty.
    """
    sizes = [page_size(page) for page in picture.pages]
    for name, numbers in picture.steps:
        sizes = [_STEPS[name](sizes, numbers)[0]]
    size: Size = _one(sizes, f"a picture of {len(sizes)} pages needs a grid")
    return size


def make_picture(picture: Picture, page_image: Callable[[PageId], Image]) -> Image:
    """Make a picture from the images of its pages.

    Raises:
        DataError: a step cannot be done, such as a crop that is empty.
    """
    images = [page_image(page) for page in picture.pages]
    for name, numbers in picture.steps:
        images = [_drawn(images, *_STEPS[name]([(image.shape[1], image.shape[0]) for image in images], numbers))]
    image: Image = _one(images, f"a picture of {len(images)} pages needs a grid")
    return image


def described(picture: Picture) -> str:
    """Describe a picture in words, for people."""
    pages = ", ".join(f"{name}:{index}" for name, index in picture.pages)
    steps = (f"{name} {' '.join(f'{number:.0f}' for number in numbers)}" for name, numbers in picture.steps)
    return f"[picture of {'; '.join((pages, *steps))}]"


def _drawn(images: Sequence[Image], size: Size, places: Sequence[tuple[Box, Box]]) -> Image:
    from PIL import Image as Pillow

    drawn = np.zeros((size[1], size[0], 3), np.uint8)  # the lines of a grid are what is left of it
    for number, (taken, put) in enumerate(places):
        cell = drawn[put[1] : put[3], put[0] : put[2]]
        if number >= len(images):
            cell[:] = _WHITE
            continue
        part = images[number][taken[1] : taken[3], taken[0] : taken[2]]
        if part.shape != cell.shape:
            part = np.asarray(Pillow.fromarray(part).resize(cell.shape[1::-1], Pillow.Resampling.LANCZOS))
        cell[:] = part
    return drawn


def _one(items: Sequence[Any], fault: str = "only a picture of one page, or a grid, can be cropped or scaled") -> Any:
    if len(items) != 1:
        raise DataError(fault)
    return items[0]


def _crop(sizes: Sequence[Size], numbers: Sequence[float]) -> Plan:
    width, height = _one(sizes)
    left, top, right, bottom = (round(number) for number in numbers)
    box = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    size = box[2] - box[0], box[3] - box[1]
    if min(size) <= 0:
        raise DataError(f"a crop of {left}, {top}, {right}, {bottom} has no pixel of a picture of {width}x{height}")
    return size, [(box, (0, 0, *size))]


def _fit(sizes: Sequence[Size], numbers: Sequence[float]) -> Plan:
    width, height = _one(sizes)
    least, most = numbers
    if not 0 < least <= most <= _LARGEST:
        raise DataError(f"a picture cannot have {least:.0f} to {most:.0f} pixels; at most {_LARGEST:,} are made")
    pixels = width * height
    scale = sqrt(min(max(pixels, least), most) / pixels)
    # rounded first: 156 x (448 / 156) must give 448
    size = max(int(round(width * scale, 6)), 1), max(int(round(height * scale, 6)), 1)
    return size, [((0, 0, width, height), (0, 0, *size))]


def _grid(sizes: Sequence[Size], numbers: Sequence[float]) -> Plan:
    rows, columns, line = (int(number) for number in numbers)
    if rows < 1 or columns < 1 or line < 0:
        raise DataError(f"a grid of {rows}x{columns} with lines of {line} pixels cannot be made")
    if not 0 < len(sizes) <= rows * columns:
        raise DataError(f"a grid of {rows}x{columns} cannot hold {len(sizes)} pages")
    width, height = Counter(sizes).most_common(1)[0][0]  # the commonest; of several, the first
    size = columns * width + (columns - 1) * line, rows * height + (rows - 1) * line
    if size[0] * size[1] > _LARGEST:
        raise DataError(f"a grid of {size[0]}x{size[1]} pixels is too large; at most {_LARGEST:,} pixels are made")
    corners = ((x * (width + line), y * (height + line)) for y in range(rows) for x in range(columns))
    wholes = [(0, 0, *page) for page in sizes]
    places = zip_longest(wholes, [(left, top, left + width, top + height) for left, top in corners])
    return size, [(whole or (0, 0, 0, 0), put) for whole, put in places]


_STEPS: dict[str, Callable[[Sequence[Size], Sequence[float]], Plan]] = {"crop": _crop, "fit": _fit, "grid": _grid}
"""The plan of each step."""
